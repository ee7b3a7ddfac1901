// What held a run up, concluded from what a measured run has: the ranks' sums, the hosts' counters, the plan,
// stalls and losses of consumers. For simulations that were not explained by simulating again, and as their
// check.
//
// Magnitudes count and not an order of rules: each possible cause is given the share of the time of held-up
// events that it owns (hold_up.hpp), and can be the cause only if that is as much as is missing. Where the
// run does not distinguish two causes, neither is named (not_told).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "judge/causes.hpp"
#include "judge/verdict.hpp"
#include "record/rank_summary.hpp"

namespace weir::judge {

/// For a run in which some producer overflowed, had late sets or lost events: its causes, the worst first;
/// one at least.
std::vector<NamedCause> attribute_causes(const core::Plan& plan, std::span<const record::RankRecord> ranks,
                                         const RunFacts& facts);

}  // namespace weir::judge
