// The exchange before second 0, as a transport sees it: connections, memory pages and RDMA registrations come
// into being in it, before anything is measured. Every transport moves its own kind of traffic.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/deadline.hpp"

namespace weir::transport {

class Warmup {
  public:
    Warmup() = default;
    Warmup(const Warmup&) = delete;
    Warmup& operator=(const Warmup&) = delete;
    virtual ~Warmup() = default;

    /// Does what can be done now, without waiting, and at most some milliseconds of it; true when this rank's
    /// part is complete. Throws TransportError.
    virtual bool step() = 0;

    /// Messages of data and greetings that are through, and how many there will be.
    [[nodiscard]] virtual std::int64_t messages_done() const = 0;
    [[nodiscard]] virtual std::int64_t messages_total() const = 0;

    /// Withdraws what is still posted; false when something is under way that cannot be.
    virtual bool cancel(Deadline deadline) = 0;

  protected:
    /// Memory that one step fills at most: some milliseconds.
    static constexpr std::size_t fill_bytes_per_step = std::size_t{16} << 20U;
};

}  // namespace weir::transport
