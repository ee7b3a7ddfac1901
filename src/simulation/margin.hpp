// What advice must bear beyond the run that it was found for: links a little slower, times a little longer,
// and other seeds, since sizes of events and times of processing are chance. What holds by a hair helps
// nobody.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/counterfactuals.hpp"

namespace weir::simulation {

inline constexpr double margin = 0.05;            ///< of links and times
inline constexpr std::uint32_t margin_seeds = 3;  ///< the run's own among them

/// One for each seed, each with the margin.
std::vector<RunChange> margin_conditions();

}  // namespace weir::simulation
