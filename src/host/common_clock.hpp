// The common clock of a run: every rank maps its own monotonic clock to nanoseconds since second 0. The
// offset to the leader's clock comes from clock_sync at the start, and from heartbeat_clock as the run
// goes on. Wall-clock time is only a label: it may jump, so nothing is measured with it.
#pragma once

#include <ctime>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/units.hpp"

namespace weir::host {

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

/// When all ranks are ready: their loops begin with the warm-up, second 0 follows it.
struct Start {
    std::int64_t second_zero_ns = 0;       ///< on the leader's monotonic clock
    std::int64_t second_zero_unix_ns = 0;  ///< label only
};

class CommonClock {
  public:
    /// The rate of the common clock differs from that of this host's clock by at most this. So it never goes
    /// back, and a second is never longer or shorter by more than 2 ms.
    static constexpr double slew_limit = 2000e-6;

    /// `second_zero_ns`: what this host's monotonic clock shows at second 0 of the run.
    explicit CommonClock(std::int64_t second_zero_ns) : second_zero_ns_(second_zero_ns) {}

    [[nodiscard]] core::Instant now() const { return at(monotonic_ns()); }
    /// When this host's monotonic clock shows `local_ns`, not before the last steer().
    [[nodiscard]] core::Instant at(std::int64_t local_ns) const {
        return {local_ns - second_zero_ns_ - std::llround(correction_ns(local_ns))};
    }
    [[nodiscard]] std::int64_t second_zero_ns() const { return second_zero_ns_; }

    /// How much this host's clock has gained since the start, as far as the common clock allows for it.
    [[nodiscard]] double correction_ns(std::int64_t local_ns) const {
        return corrected_ns_ + slope_ * static_cast<double>(local_ns - steered_at_ns_);
    }

    /// From `local_ns` on the correction grows by `rate` ns per ns, and within `horizon_ns` it comes to
    /// `wanted_ns` as well, if the bound of the rate allows; without a jump.
    void steer(std::int64_t local_ns, double wanted_ns, double rate, double horizon_ns) {
        corrected_ns_ = correction_ns(local_ns);
        steered_at_ns_ = local_ns;
        slope_ = std::clamp(rate + (wanted_ns - corrected_ns_) / horizon_ns, -slew_limit, slew_limit);
    }

  private:
    std::int64_t second_zero_ns_;
    std::int64_t steered_at_ns_ = 0;
    double corrected_ns_ = 0;
    double slope_ = 0;
};

}  // namespace weir::host
