// What follows from the plan and the speeds of interfaces alone: whose are slower than what is needed of
// them, whatever else a run met.
#pragma once

#include <optional>

#include "judge/cause_rules.hpp"

namespace weir::judge {

/// Interfaces that are slower than the rate: nothing else would do without faster ones. Of consumers, whose
/// shares others can take over, only if all together are. At a rank, if without it there would be no lack.
std::optional<NamedCause> interfaces_too_slow(const HeldRun& run);

}  // namespace weir::judge
