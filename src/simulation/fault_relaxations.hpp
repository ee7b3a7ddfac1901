// Disturbances of a run as things that may be relaxed: the run without them.
#pragma once

#include <span>
#include <vector>

#include "simulation/disturbance.hpp"
#include "simulation/relaxations.hpp"

namespace weir::simulation {

/// One for all disturbances of one kind and node; where several nodes have some of one kind, also one for all
/// of them. At most some twenty.
std::vector<Relaxation> fault_relaxations(std::span<const Disturbance> disturbances);

}  // namespace weir::simulation
