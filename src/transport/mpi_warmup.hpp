// Warm-up of the transport `send`: every pair of ranks that will talk has talked, and every chunk buffer has
// been sent from or received into, so that connections, memory pages and RDMA registrations (which are per
// buffer) exist before anything is measured. Both sides compute the same numbers of messages from the plan;
// there is nothing to agree on. (Rejected: warming up with real events, which leaves it to the policy who
// talks to whom.)
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "core/plan.hpp"
#include "core/role_map.hpp"
#include "transport/buffers.hpp"
#include "transport/mpi_greetings.hpp"
#include "transport/warmup.hpp"

namespace weir::transport {

class MpiWarmup final : public Warmup {
  public:
    /// Starts the exchange of this rank. `data_tag` is a tag of `data` that no place has, `control_tag` one
    /// of `control` that no packet has. `buffers` are this rank's (none for the scheduler), all free, and
    /// stay in use until step() has returned true.
    MpiWarmup(MPI_Comm data, int data_tag, MPI_Comm control, int control_tag, const core::RoleMap& roles,
              const core::Plan& plan, const ChunkBuffers& buffers);

    bool step() override;
    [[nodiscard]] std::int64_t messages_done() const override {
        return sent_ + received_ + greetings_.done();
    }
    [[nodiscard]] std::int64_t messages_total() const override {
        return to_send_ + to_receive_ + greetings_.total();
    }
    bool cancel(Deadline deadline) override;

  private:
    void post_data();
    void step_sending();
    void step_receiving();

    MPI_Comm data_;
    int data_tag_;
    const core::RoleMap& roles_;
    const ChunkBuffers& buffers_;
    MpiGreetings greetings_;
    std::uint64_t fill_seed_ = 0;
    std::int64_t per_pair_;

    // Producer: message i goes from buffer i mod count through request i mod window to consumer (first + i)
    // mod M.
    std::int64_t to_send_ = 0;
    std::int64_t handed_over_ = 0;
    std::int64_t sent_ = 0;
    std::uint32_t first_consumer_ = 0;
    std::vector<MPI_Request> sends_;
    std::vector<int> finished_;
    std::vector<MPI_Status> statuses_;

    // Consumer: a ring of receives in posting order; message i lands in buffer i mod count.
    std::int64_t to_receive_ = 0;
    std::int64_t posted_ = 0;
    std::int64_t received_ = 0;
    std::vector<MPI_Request> receives_;
    std::vector<std::int64_t> received_from_;  ///< by rank
};

}  // namespace weir::transport
