// What the three recorders do alike at the end of a second: add the row to the rank's summary, make the live
// sample for the leader. For the recorders only.
#pragma once

#include "telemetry/live_sample.hpp"
#include "telemetry/rank_summary.hpp"
#include "telemetry/rows.hpp"

namespace weir::telemetry {

/// Adds a row to the summary of its rank.
void count_row(RankSummary& summary, const Row& row);

/// The live sample of a row that `summary` already counts.
LiveSample live_sample_of(const RankSummary& summary, const Row& row);

}  // namespace weir::telemetry
