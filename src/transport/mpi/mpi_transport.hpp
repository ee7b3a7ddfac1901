// Engine `mpi`: what the transports over MPI have in common. Data and control have communicators of their
// own.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "core/role_map.hpp"
#include "transport/mpi/mpi_support.hpp"
#include "transport/transport.hpp"
#include "transport/transport_base.hpp"

namespace weir::transport {

// Control packets over two-sided MPI, on a communicator of their own.
//
// Receiving: a ring of pre-posted receives from any source. MPI matches the packets of one sender in the
// order in which they were sent to receives in the order in which those were posted, but says nothing about
// the order in which the receives complete. So the ring is emptied strictly in posting order: packets of one
// sender are delivered in order without sequence numbers, and a poll tests the oldest few receives however
// deep the ring is. The price is that a packet whose bytes are late holds back those behind it; packets are
// below every eager limit, so that is a matter of microseconds. (Rejected: testing all of them, which costs
// with the depth. And one test after the other until one finds nothing: that last one makes progress, which
// gives up the core where ranks share cores, before what was found has been looked at.)

/// Memory that receives are posted into, together with these. If any of them is still posted when this ends,
/// however that comes about (an exception out of a constructor included), the memory stays for good: MPI may
/// write into it for as long as it is called at all.
class ReceiveMemory {
  public:
    ReceiveMemory() = default;
    /// For so many receives of `bytes_each`.
    ReceiveMemory(std::size_t receives, std::size_t bytes_each)
        : requests(receives, MPI_REQUEST_NULL),
          bytes_each_(bytes_each),
          memory_(std::make_unique<std::byte[]>(receives * bytes_each)) {}
    ReceiveMemory(const ReceiveMemory&) = delete;
    ReceiveMemory& operator=(const ReceiveMemory&) = delete;
    /// Does not touch MPI.
    ~ReceiveMemory() {
        if (std::any_of(requests.begin(), requests.end(),
                        [](MPI_Request request) { return request != MPI_REQUEST_NULL; })) {
            static_cast<void>(memory_.release());
        }
    }

    [[nodiscard]] std::byte* at(std::size_t receive) const { return memory_.get() + receive * bytes_each_; }

    std::vector<MPI_Request> requests;

  private:
    std::size_t bytes_each_ = 0;
    std::unique_ptr<std::byte[]> memory_;
};

class MpiControl final : public ControlChannel {
  public:
    static constexpr int packet_tag = 0;

    /// `comm` belongs to the caller and must outlive this object. `receives` packets can arrive between two
    /// polls before MPI has to keep some itself; at most `sends` can be under way.
    MpiControl(MPI_Comm comm, std::size_t receives, std::size_t sends);
    MpiControl(const MpiControl&) = delete;
    MpiControl& operator=(const MpiControl&) = delete;
    /// Does not touch MPI: call close() first. Memory that MPI may still use is given up, not freed.
    ~MpiControl() override;

    void send(Rank to, std::span<const std::byte> packet) override;
    /// Appends at most one ring of packets.
    void poll(Polled& found) override;

    // For who has other requests to test, and tests all of them with one call: each call that finds nothing
    // makes progress, and gives up the core where ranks share cores.

    /// The receives of the next packets, for as long as this lives, in front of other requests;
    /// MPI_REQUEST_NULL once closed.
    class LentReceives {
      public:
        static constexpr std::size_t count = 2;

        /// `requests`: so many of them.
        LentReceives(MpiControl& owner, std::span<MPI_Request> requests);
        /// What the test has made of them is the owner's again, also when the test failed.
        ~LentReceives();
        LentReceives(const LentReceives&) = delete;
        LentReceives& operator=(const LentReceives&) = delete;

      private:
        MpiControl& owner_;
        std::span<MPI_Request> requests_;
    };
    /// That test completed this one of them. Before poll_after().
    void completed(std::size_t lent, const MPI_Status& status) { note(head_ + lent, status); }
    /// As poll(), after that test.
    void poll_after(Polled& found);

    [[nodiscard]] std::size_t under_way() const override { return sending_.size(); }

    /// Withdraws the receives.
    bool close(Deadline deadline) override;

  private:
    using PacketMemory = std::unique_ptr<std::byte[]>;
    struct Sending {
        PacketMemory packet;
        Rank to;
    };

    /// What came into a receive of the ring.
    struct Arrival {
        static constexpr int nobody = -1;
        int source = nobody;
        std::size_t bytes = 0;
    };

    void post(std::size_t index);
    void note(std::size_t index, const MPI_Status& status);
    /// Appends what has come, in posting order; returns how many packets.
    std::size_t deliver(Polled& found);
    /// Whether a send that has just begun is over already.
    [[nodiscard]] bool has_left(MPI_Request& request, std::size_t bytes, Rank to);
    void reclaim();
    void reclaim_in_time();

    MPI_Comm comm_;
    std::size_t send_bound_;

    ReceiveMemory received_;
    std::vector<MPI_Request>& receiving_ = received_.requests;  ///< the ring, oldest at head_
    std::vector<Arrival> arrivals_;                             ///< parallel to it
    std::size_t head_ = 0;
    bool closed_ = false;

    std::vector<Sending> sending_;  ///< parallel to send_requests_
    std::vector<MPI_Request> send_requests_;
    std::vector<PacketMemory> spare_;
    int early_tests_left_out_ = 0;
    int polls_since_reclaim_ = 0;
    std::vector<int> finished_;         ///< scratch
    std::vector<MPI_Status> statuses_;  ///< scratch
};

class MpiTransport : public TransportBase {
  protected:
    /// Collective over `comm`, which is duplicated and may be freed afterwards; rank r of it plays
    /// roles.node(r). MPI must be initialised. Throws TransportError, and what TransportBase throws.
    MpiTransport(MPI_Comm comm, const core::RoleMap& roles, core::Plan plan)
        : TransportBase(node_of_this_rank(comm, roles), roles, std::move(plan)),
          control_comm_(duplicate(comm)),
          data_comm_(duplicate(comm)) {
        auto control = std::make_unique<MpiControl>(control_comm_, control_receives(), control_sends());
        mpi_control_ = control.get();
        use_control(std::move(control));
    }

    /// Frees what MPI holds for data, the communicator apart; all ranks are in here. False: `deadline` came
    /// first.
    virtual bool release_data(Deadline deadline) = 0;
    bool release(Deadline deadline) final {
        if (!release_data(deadline)) {
            return false;
        }
        check_mpi(MPI_Comm_free(&data_comm_), "MPI_Comm_free");
        return true;
    }

    void begin_last_barrier() final {
        check_mpi(MPI_Ibarrier(control_comm_, &last_barrier_), "MPI_Ibarrier at the end");
    }

    [[nodiscard]] bool last_barrier_done() final {
        int done = 0;
        check_mpi(MPI_Test(&last_barrier_, &done, MPI_STATUS_IGNORE), "MPI_Ibarrier at the end");
        return done != 0;
    }

    void release_control() final { check_mpi(MPI_Comm_free(&control_comm_), "MPI_Comm_free"); }

    [[nodiscard]] bool works() const final {
        int finalized = 0;
        MPI_Finalized(&finalized);
        return finalized == 0;
    }

    /// For poll_data().
    [[nodiscard]] MpiControl& control() { return *mpi_control_; }

    MPI_Comm control_comm_ = MPI_COMM_NULL;
    MPI_Comm data_comm_ = MPI_COMM_NULL;

  private:
    MpiControl* mpi_control_ = nullptr;  ///< the base class owns it
    MPI_Request last_barrier_ = MPI_REQUEST_NULL;
};

/// What the files of these names tell. Collective, see MpiTransport. Each allocates the chunk buffers of this
/// rank's role, or finds out whether those that a window will hold can be had. Throw CapacityError and
/// TransportError, in both cases on this rank only.
std::unique_ptr<TransportBase> make_mpi_send(MPI_Comm comm, const core::RoleMap& roles,
                                             const core::Plan& plan);
std::unique_ptr<TransportBase> make_mpi_put(MPI_Comm comm, const core::RoleMap& roles,
                                            const core::Plan& plan);
std::unique_ptr<TransportBase> make_mpi_get(MPI_Comm comm, const core::RoleMap& roles,
                                            const core::Plan& plan);

}  // namespace weir::transport
