#include "runtime/idle.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace weir::runtime {

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
    return core::Duration::microseconds(std::clamp(ranks_per_core * 10, 20, 500));
}

void IdleStrategy::wait(core::Duration until_deadline) {
    switch (mode_) {
        case IdleMode::spin:
            return;
        case IdleMode::yield:
            sched_yield();
            return;
        case IdleMode::nap:
            if (++empty_turns_ < turns_before_nap) {
                sched_yield();
                return;
            }
            const std::int64_t ns = std::min(nap_.ns, until_deadline.ns);
            if (ns > 0) {
                std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
            }
            return;
    }
}

}  // namespace weir::runtime
