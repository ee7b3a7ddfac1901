// The common clock of a run: every rank maps its own monotonic clock to nanoseconds since second 0. The
// offset to the scheduler's clock comes from clock_sync. Wall-clock time is only a label: it may jump, so
// nothing is measured with it.
#pragma once

#include <ctime>

#include <cstdint>

#include "core/units.hpp"

namespace weir::runtime {

/// This host's monotonic clock in nanoseconds.
inline std::int64_t monotonic_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

/// UTC in nanoseconds since 1970.
inline std::int64_t wall_clock_ns() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

class CommonClock {
  public:
    /// `second_zero_ns`: what this host's monotonic clock shows at second 0 of the run.
    explicit CommonClock(std::int64_t second_zero_ns) : second_zero_ns_(second_zero_ns) {}

    [[nodiscard]] core::Instant now() const { return {monotonic_ns() - second_zero_ns_}; }
    [[nodiscard]] std::int64_t second_zero_ns() const { return second_zero_ns_; }

  private:
    std::int64_t second_zero_ns_;
};

}  // namespace weir::runtime
