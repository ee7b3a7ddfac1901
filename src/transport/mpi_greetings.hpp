// The small messages before second 0: one each way between the scheduler and every other rank, and one from
// every consumer to every producer, so that the connections that control packets take exist before anything
// is measured. Both sides compute from the roles how many there are; there is nothing to agree on.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "core/role_map.hpp"
#include "transport/mpi_support.hpp"
#include "transport/receive_memory.hpp"

namespace weir::transport {

class MpiGreetings {
  public:
    /// Starts this rank's part. `tag` is one of `comm` that nothing else has.
    MpiGreetings(MPI_Comm comm, int tag, const core::RoleMap& roles);
    MpiGreetings(const MpiGreetings&) = delete;
    MpiGreetings& operator=(const MpiGreetings&) = delete;
    ~MpiGreetings() = default;

    /// Does what can be done now, without waiting. Throws TransportError.
    void step();

    /// Greetings that are through, sent and received, and how many there will be.
    [[nodiscard]] std::int64_t done() const { return sent_ + received_; }
    [[nodiscard]] std::int64_t total() const { return static_cast<std::int64_t>(to_.size()) + expected_; }

    /// Withdraws what is still posted; false when something is under way that cannot be.
    bool cancel(Deadline deadline);

  private:
    void post();

    MPI_Comm comm_;
    int tag_;
    std::vector<int> to_;
    std::int64_t handed_over_ = 0;
    std::int64_t sent_ = 0;
    std::vector<MPI_Request> sends_;
    std::int64_t expected_ = 0;
    std::int64_t posted_ = 0;
    std::int64_t received_ = 0;
    ReceiveMemory memory_;
    std::vector<MPI_Request>& receives_ = memory_.requests;  ///< a ring in posting order
    std::uint64_t greeting_ = 0;
};

}  // namespace weir::transport
