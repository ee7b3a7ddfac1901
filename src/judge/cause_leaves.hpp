// Where it is known to which switch each host is connected: whether data between two of them are slower than
// data that stay below one.
#pragma once

#include <optional>

#include "judge/cause_rules.hpp"

namespace weir::judge {

/// Cables between leaves, if transfers between hosts of different leaves are far slower than those within
/// one, for the same consumers and for the same producers. Nothing: they are not, or leaves are not known, or
/// all data cross.
std::optional<NamedCause> between_leaves(const HeldRun& run);

}  // namespace weir::judge
