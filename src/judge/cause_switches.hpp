// What the ports of switches counted of data that were held up: of a simulation packet by packet, which is
// what an operator reads from the switches of a real one.
#pragma once

#include <optional>

#include "judge/cause_rules.hpp"

namespace weir::judge {

/// Where data waited or were lost between hosts: a full cable, one that carries less than it says, a port
/// that its host paused, packets that no switch dropped. Nothing: no port counted such, or transfers were not
/// what held the run up.
std::optional<NamedCause> between_hosts(const HeldRun& run);

}  // namespace weir::judge
