// A network that gave less than interfaces have: whether the links of producers or those of consumers show
// it, and whether others used it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "cli/explainer.hpp"

namespace weir::cli {

struct SlowRole {
    std::size_t twin = 0;                      ///< of those that were given
    const judge::NamedCause* cause = nullptr;  ///< there: the links of producers or of consumers
};

/// Of twins with slow links of one role alone, the one that fits the run, if it does so far better than that
/// of the other role. Nothing: both do, or none.
std::optional<SlowRole> slow_role(std::span<const WeighedTwin> twins);

/// A link that is slower by what others moved over it is not to be repaired; a faster one would do, too.
void blame_others(const twin::Assumptions& assumptions, std::vector<judge::NamedCause>& causes);

}  // namespace weir::cli
