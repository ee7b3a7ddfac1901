// What a rank sends to the leader each second: enough for the live line, and, because its sums are
// cumulative, for run.json if the rank cannot send anything else.
#pragma once

#include <span>
#include <type_traits>

#include "core/ids.hpp"
#include "core/units.hpp"
#include "record/rank_summary.hpp"
#include "record/rows.hpp"

namespace weir::record {

/// `rows` and the other sums are as of the end of the second of LiveState.
struct LiveSample : LiveState, RankSums {
    core::NodeId node;
    core::Bytes moved;  ///< in this second: sent by a producer, received by a consumer
    core::Duration poll_gap_max;
};
static_assert(std::is_trivially_copyable_v<LiveSample>);

/// Adds a row to the summary of its rank.
void count_row(RankSummary& summary, const Row& row);

/// The live sample of a row that `summary` already counts.
LiveSample live_sample_of(const RankSummary& summary, const Row& row);

/// Whether these can be samples of `node`. They come from other ranks, and their numbers are added up.
[[nodiscard]] bool are_live_samples(std::span<const LiveSample> samples, core::NodeId node);

/// The summary of a rank that sent nothing after this. Slowest and fastest second, peaks and
/// ledger are not in a sample and stay unknown.
RankSummary summary_from(const LiveSample& sample);

}  // namespace weir::record
