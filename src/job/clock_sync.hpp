// Offsets between the ranks' clocks, by ping-pong with the leader: of many exchanges the one with
// the shortest round trip is the most exact, and half of it bounds the error (Cristian 1989). Done before and
// after the run: the difference between the two offsets is what the clocks drifted meanwhile. In between the
// clock is followed by heartbeats (heartbeat_clock.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "job/clock_follower.hpp"
#include "job/job.hpp"

namespace weir::job {

/// Measures every rank against `reference_rank`, one rank after the other; collective. Throws JobError.
ClockOffset measure_clock_offset(Job& job, int reference_rank);

struct ClockDrift {
    double ppm = 0;        ///< this rank's clock is faster than the leader's by so many parts per million
    double error_ppm = 0;  ///< at most this far from the truth
};
/// From two measurements so far apart, which is above zero.
constexpr ClockDrift clock_drift(const ClockOffset& at_start, const ClockOffset& at_end,
                                 std::int64_t apart_ns) {
    const auto apart = static_cast<double>(apart_ns);
    return {1e6 * static_cast<double>(at_end.offset_ns - at_start.offset_ns) / apart,
            1e6 * static_cast<double>(at_end.error_ns + at_start.error_ns) / apart};
}

}  // namespace weir::job
