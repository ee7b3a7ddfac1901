// The greetings before second 0 (greeting_partners.hpp) over MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "core/role_map.hpp"
#include "transport/greeting_partners.hpp"
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
    [[nodiscard]] std::int64_t total() const {
        return static_cast<std::int64_t>(partners_.to.size()) + partners_.expected;
    }

    /// Withdraws what is still posted; false when something is under way that cannot be.
    bool cancel(Deadline deadline);

  private:
    void post();

    MPI_Comm comm_;
    int tag_;
    GreetingPartners partners_;
    std::int64_t handed_over_ = 0;
    std::int64_t sent_ = 0;
    std::vector<MPI_Request> sends_;
    std::int64_t posted_ = 0;
    std::int64_t received_ = 0;
    ReceiveMemory memory_;
    std::vector<MPI_Request>& receives_ = memory_.requests;  ///< a ring in posting order
    std::uint64_t greeting_ = 0;
};

}  // namespace weir::transport
