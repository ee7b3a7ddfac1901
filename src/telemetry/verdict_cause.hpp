// The main cause of a run that was not sustained or not on time, and what can be done about it.
#pragma once

#include <span>
#include <string>

#include "core/plan.hpp"
#include "telemetry/rank_summary.hpp"
#include "telemetry/verdict.hpp"

namespace weir::telemetry {

struct Finding {
    Cause cause = Cause::none;
    std::string text;      ///< sentences with the numbers that it was decided by, without a capital
    std::string advice{};  ///< what to try next, without a capital; empty: advice_for(cause)
};

/// For a run in which some producer overflowed, had late sets or lost events: looks at the time of those.
Finding find_cause(const core::Plan& plan, std::span<const RankRecord> ranks, const RunFacts& facts);

/// What to try next, without a capital; empty: nothing.
std::string advice_for(Cause cause, bool simulated);

}  // namespace weir::telemetry
