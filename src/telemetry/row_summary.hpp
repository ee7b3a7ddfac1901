// What the three recorders do alike at the end of a second: keep the largest poll gap, add the row to the
// rank's summary, make the live sample for the leader. For the recorders only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/units.hpp"
#include "telemetry/live_sample.hpp"
#include "telemetry/rank_summary.hpp"
#include "telemetry/rows.hpp"

namespace weir::telemetry {

/// Poll gaps of one second. A gap counts in the second in which it ended.
class PollGaps {
  public:
    /// From here on a gap counts as a stall: the rank was not running when it should have been.
    static constexpr core::Duration stall = core::Duration::milliseconds(10);

    /// That ended `now`.
    void add(core::Instant now, core::Duration gap) {
        if (gap > largest_) {
            largest_ = gap;
            largest_end_ = now;
        }
        if (gap >= stall) {
            stalled_ += gap;
        }
    }
    [[nodiscard]] core::Duration largest() const { return largest_; }
    [[nodiscard]] core::Duration stalled() const { return stalled_; }
    /// When the largest ended; means nothing without one.
    [[nodiscard]] core::Instant largest_end() const { return largest_end_; }

  private:
    core::Duration largest_;
    core::Instant largest_end_;
    core::Duration stalled_;
};

/// One row, whichever role's, as summary and live sample need it.
struct RowFacts {
    RowStart start;
    FlowTotals flow;
    TimeUse time;
    Load load;
    core::BitRate peak_10ms;
    core::Bytes burst;  ///< most in a whole interval of --row-interval; 0 without
    PollGaps poll_gaps;
    double occupancy_peak = 0;
    bool overflowed = false;
    bool overflowed_in_measure = false;  ///< at an instant in [0, duration)
    BlockedSamples blocked_samples;
    std::uint64_t waiting_events = 0;
    std::uint64_t free_slots = 0;
};

/// Adds a row to the summary of its rank.
void count_row(RankSummary& summary, const RowFacts& row);

/// The live sample of a row that `summary` already counts.
LiveSample live_sample_of(const RankSummary& summary, const RowFacts& row);

}  // namespace weir::telemetry
