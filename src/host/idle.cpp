#include "host/idle.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "host/common_clock.hpp"

namespace weir::host {

const char* idle_mode_name(IdleMode mode) {
    switch (mode) {
        case IdleMode::spin:
            return "spin";
        case IdleMode::yield:
            return "yield";
        case IdleMode::nap:
            return "nap";
    }
    return "unknown";
}

IdleMode choose_idle_mode(int ranks, int cores) {
    return ranks <= cores ? IdleMode::spin : IdleMode::nap;
}

core::Duration choose_nap(int ranks, int cores) {
    const int ranks_per_core = std::max(1, ranks / std::max(1, cores));
    return core::Duration::microseconds(std::clamp(ranks_per_core * 5, 20, 500));
}

core::Duration choose_patience(int ranks, int cores) {
    const int ranks_per_core = std::max(1, ranks / std::max(1, cores));
    return core::Duration::microseconds(1000 / ranks_per_core);
}

std::optional<core::Duration> IdleStrategy::out_of_patience() {
    if (empty_turns_ == 0) {
        empty_since_ns_ = monotonic_ns();
    }
    if (++empty_turns_ < turns_before_nap) {
        return std::nullopt;
    }
    empty_turns_ = turns_before_nap;
    const core::Duration idle{monotonic_ns() - empty_since_ns_};
    return idle < patience_ ? std::nullopt : std::optional(idle);
}

void IdleStrategy::yield() {
    if (++turns_since_yield_ == turns_per_yield_) {
        turns_since_yield_ = 0;
        sched_yield();
    }
}

void IdleStrategy::wait(core::Duration until_deadline) {
    switch (mode_) {
        case IdleMode::spin:
            return;
        case IdleMode::yield:
            yield();
            return;
        case IdleMode::nap:
            if (std::exchange(napped_, false)) {
                return;
            }
            const std::optional<core::Duration> idle = out_of_patience();
            if (!idle) {
                yield();
                return;
            }
            const std::int64_t ns = std::min(nap_after(*idle).ns, until_deadline.ns);
            if (ns > 0) {
                std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
                napped_ = true;
            }
            return;
    }
}

}  // namespace weir::host
