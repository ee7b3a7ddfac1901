// From resolved options to a simulated run.
#pragma once

#include <cstdint>

#include "config/run_request.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::cli {

/// Settles the layout (by counts or host lists, else 3 producers and 4 consumers) and reads the faults. The
/// run has no directory yet. Throws config::UsageError.
simulation::SimulatedRun simulated_run(config::RunRequest& request);

/// Refuses what this machine cannot hold: so many simulations `at_a_time`. Throws config::UsageError.
void check_simulation_memory(const core::Plan& plan, std::uint32_t at_a_time = 1);

}  // namespace weir::cli
