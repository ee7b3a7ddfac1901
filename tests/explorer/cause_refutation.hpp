// What speaks against a cause: statements about a run that its own rows refute may not be made.
#pragma once

#include <span>
#include <string>

#include "core/plan.hpp"
#include "telemetry/causes.hpp"
#include "telemetry/rank_summary.hpp"
#include "telemetry/verdict.hpp"

namespace weir::explorer {

/// What plan and ranks' sums say against the cause, as a sentence; empty: nothing does. For causes of any
/// evidence: asked is only for what must be there if the cause is one, and for what the text states.
std::string refutation_of(const telemetry::NamedCause& cause, const core::Plan& plan,
                          std::span<const telemetry::RankRecord> ranks, const telemetry::RunFacts& facts);

}  // namespace weir::explorer
