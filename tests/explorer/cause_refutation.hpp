// What refutes a cause: statements about a run that its own rows refute may not be made.
#pragma once

#include <span>
#include <string>

#include "core/plan.hpp"
#include "judge/causes.hpp"
#include "judge/verdict.hpp"
#include "record/rank_summary.hpp"

namespace weir::explorer {

/// What in plan and ranks' sums refutes the cause, as a sentence; empty: nothing does. For causes of any
/// evidence: asked is only for what must be there if the cause is one, and for what the text states.
std::string refutation_of(const judge::NamedCause& cause, const core::Plan& plan,
                          std::span<const record::RankRecord> ranks, const judge::RunFacts& facts);

}  // namespace weir::explorer
