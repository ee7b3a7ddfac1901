// Warm-up of the one-sided transports: every producer has written into every consumer's window (`put`), or
// every consumer has read from every producer's (`get`), until every chunk buffer on either side was used; so
// connections, memory pages and registrations exist before anything is measured. Whoever operates is called
// active here, whoever owns the window, passive:
//
//   passive                       active
//   fill own buffers              fill own buffers
//   --- ready ------------------> operate so many times, on the peers in turn
//   <-- through ----------------- all of that is complete
//
// Everybody fills its own memory itself, so that pages lie near their owner.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <iterator>
#include <vector>

#include "core/plan.hpp"
#include "core/role_map.hpp"
#include "transport/buffers.hpp"
#include "transport/mpi_greetings.hpp"
#include "transport/rma_notices.hpp"
#include "transport/rma_window.hpp"
#include "transport/warmup.hpp"

namespace weir::transport {

class RmaWarmup final : public Warmup {
  public:
    struct Parts {
        MPI_Comm control;  ///< for greetings
        int control_tag;   ///< one of `control` that no packet has
        const core::RoleMap& roles;
        const core::Plan& plan;
        RmaWindow& window;
        RmaNotices& notices;
        const ChunkBuffers& buffers;  ///< this rank's (none for the scheduler), all free
    };
    /// Starts this rank's part. What `parts` refers to outlives this object.
    explicit RmaWarmup(const Parts& parts);

    bool step() override;
    [[nodiscard]] std::int64_t messages_done() const override {
        return completed_ + told_ + through_ + greetings_.done();
    }
    [[nodiscard]] std::int64_t messages_total() const override {
        return to_complete_ + std::ssize(peers_) + through_expected_ + greetings_.total();
    }
    bool cancel(Deadline deadline) override;

  private:
    struct Peer {
        int rank = -1;
        bool ready = false;
        std::int64_t begun = 0;
        std::int64_t completed = 0;
    };

    void fill();
    void receive_notices();
    void complete();
    void begin();
    [[nodiscard]] Peer* next_peer();
    void operate(Peer& peer);

    Parts parts_;
    core::NodeId self_;
    bool puts_;
    MpiGreetings greetings_;
    std::int64_t per_pair_;

    std::uint64_t fill_seed_ = 0;
    std::size_t filled_ = 0;
    bool announced_ = false;

    // Active: operation i has own buffer i mod count and request i mod the number of requests, and goes to
    // the next peer that is ready.
    std::int64_t to_complete_ = 0;
    std::int64_t begun_ = 0;
    std::int64_t completed_ = 0;
    std::size_t peer_buffers_ = 0;
    std::vector<Peer> peers_;  ///< by index of the other role; each is told once, `ready` or `through`
    std::int64_t to_tell_ = 0;
    std::int64_t told_ = 0;  ///< of to_tell_, those that have left
    std::size_t next_peer_ = 0;
    std::vector<MPI_Request> requests_;
    std::vector<std::size_t> peer_of_;  ///< parallel to requests_
    std::vector<int> finished_;
    std::vector<MPI_Status> statuses_;

    // Passive.
    std::int64_t through_expected_ = 0;
    std::int64_t through_ = 0;
};

}  // namespace weir::transport
