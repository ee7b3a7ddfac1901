// What a rank sends to the leader each second: enough for the live line, and, because its sums are
// cumulative, for run.json if the rank cannot send anything else.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "core/ids.hpp"
#include "core/units.hpp"
#include "telemetry/rank_summary.hpp"
#include "telemetry/rows.hpp"

namespace weir::telemetry {

struct LiveSample {
    RowStart start;
    core::NodeId node;

    // Of this second.
    core::Bytes moved;               ///< sent by a producer, received by a consumer
    double occupancy_peak = 0;       ///< producer; NaN with generation saturate
    bool overflowed = false;         ///< producer, in any phase
    BlockedSamples blocked_samples;  ///< consumer
    core::Bytes burst;               ///< most moved in a whole interval of --row-interval; 0 without
    core::Duration poll_gap_max;
    std::uint64_t waiting_events = 0;  ///< scheduler
    std::uint64_t free_slots = 0;      ///< scheduler

    // Since recording began.
    FlowTotals run;

    // Of phase `measure` so far.
    FlowTotals measured;
    TimeUse time;
    core::Duration covered;
    MovedInTime in_time;
    double max_occupancy = 0;
    std::int64_t max_occupancy_second = no_second;
    std::int64_t first_overflow_second = no_second;
    SetsInTime sets_in_time;
    std::int64_t whole_seconds = 0;
    std::int64_t rows = 0;  ///< since recording began
};
static_assert(std::is_trivially_copyable_v<LiveSample>);

/// Whether these can be samples of `node`. They come from other ranks, and their numbers are added up.
[[nodiscard]] bool are_live_samples(std::span<const LiveSample> samples, core::NodeId node);

/// The summary of a rank that sent nothing after this. Slowest and fastest second, peaks and
/// ledger are not in a sample and stay unknown.
RankSummary summary_from(const LiveSample& sample);

}  // namespace weir::telemetry
