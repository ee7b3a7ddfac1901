// How often ranks and their leader send each other heartbeats. The number of ranks, the periods and the
// silence time-out depend on each other: every heartbeat goes to or from the leader, which is the scheduler's
// rank, whose time is what is measured; so the packets per second are bounded and the periods grow with the
// ranks. And several heartbeats must fit into the time-out, or one late packet ends the run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/units.hpp"

namespace weir::core {

struct HeartbeatPeriods {
    Duration leader;  ///< between two heartbeats of the leader, each to all other ranks
    Duration others;  ///< between two heartbeats of any other rank to the leader
};

/// Each way: to the leader, and from it. A heartbeat costs about a microsecond of its time.
constexpr std::int64_t heartbeats_per_second_max = 4000;
constexpr std::int64_t heartbeats_in_timeout = 4;

constexpr Duration heartbeat_period_least(std::int64_t ranks) {
    return {std::max<std::int64_t>(0, ranks - 1) * (std::int64_t{1000000000} / heartbeats_per_second_max)};
}

/// The shortest silence time-out that works for so many ranks.
constexpr Duration silence_timeout_least(std::int64_t ranks) {
    return heartbeat_period_least(ranks) * heartbeats_in_timeout;
}

/// `silence_timeout` is at least silence_timeout_least(ranks).
constexpr HeartbeatPeriods heartbeat_periods(std::int64_t ranks, Duration silence_timeout) {
    const Duration most{silence_timeout.ns / heartbeats_in_timeout};
    const Duration least = heartbeat_period_least(ranks);
    return {.leader = std::max(least, std::min(most, Duration::milliseconds(100))),
            .others = std::max(least, std::min(most, Duration::milliseconds(200)))};
}

}  // namespace weir::core
