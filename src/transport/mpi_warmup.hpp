// The exchange before second 0: every pair of ranks that will talk has talked, and every chunk buffer has
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
#include "transport/mpi_support.hpp"

namespace weir::transport {

class MpiWarmup {
  public:
    /// Starts the exchange of this rank. `data_tag` is a tag of `data` that no slot has, `control_tag` one of
    /// `control` that no packet has. `buffers` are this rank's (none for the scheduler), all free, and stay
    /// in use until step() has returned true.
    MpiWarmup(MPI_Comm data, int data_tag, MPI_Comm control, int control_tag, const core::RoleMap& roles,
              const core::Plan& plan, const ChunkBuffers& buffers);
    MpiWarmup(const MpiWarmup&) = delete;
    MpiWarmup& operator=(const MpiWarmup&) = delete;
    ~MpiWarmup() = default;

    /// Does what can be done now, without waiting, and at most some milliseconds of it; true when this rank's
    /// part is complete. Throws TransportError.
    bool step();

    /// Messages of data and greetings that are through, and how many there will be.
    [[nodiscard]] std::int64_t messages_done() const { return sent_ + received_ + greeted_ + greetings_; }
    [[nodiscard]] std::int64_t messages_total() const {
        return to_send_ + to_receive_ + static_cast<std::int64_t>(greet_.size()) + greetings_expected_;
    }

    /// Withdraws what is still posted; false when something is under way that cannot be.
    bool cancel(Deadline deadline);

  private:
    void post_data();
    void post_greeting();
    void step_sending();
    void step_receiving();
    void step_greetings();

    MPI_Comm data_;
    MPI_Comm control_;
    int data_tag_;
    int control_tag_;
    const core::RoleMap& roles_;
    const ChunkBuffers& buffers_;
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

    // Greetings: one small message each way between the scheduler and all, and from consumers to producers.
    std::vector<int> greet_;
    std::int64_t greetings_handed_over_ = 0;
    std::int64_t greeted_ = 0;
    std::vector<MPI_Request> greeting_sends_;
    std::int64_t greetings_expected_ = 0;
    std::int64_t greetings_posted_ = 0;
    std::int64_t greetings_ = 0;
    std::vector<MPI_Request> greeting_receives_;
    std::vector<std::uint64_t> greeting_bytes_;
    std::uint64_t greeting_ = 0;
};

}  // namespace weir::transport
