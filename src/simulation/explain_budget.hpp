// What it may cost to find out why a simulated run was late, in simulations: decided by the run and not by a
// clock, so that the same run has the same causes everywhere; only a search that takes far longer than
// estimated is ended by the time of processors that it took.
#pragma once

#include <cstddef>
#include <cstdint>

#include "show/run_record.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::simulation {

enum class Explain : std::uint8_t { off, fast, full };

/// What a search may cost.
struct ExplainBudget {
    std::size_t simulations = 0;  ///< 0: too dear, there is no search
    bool has_remedies = true;     ///< false: it is enough to know which causes there are
    bool refines_all = false;     ///< the least sufficient step of every cause, and not of the first only
    /// As SearchWatchers::processor_s counts them, after which the search ends with what it has found:
    /// estimates of simulations can be wrong. 0: no such end.
    double processor_s = 0;
};

/// Estimate of the time of one core for this run, from its record: for budgets and for messages, not exact.
double simulation_seconds(const SimulatedRun& run, const show::RunRecord& record);

/// `fast`: a second's worth of simulations, from 24 to 150, unless one alone takes more than 1.5 s;
/// `full`: 400. All remedies are refined with `full`, and where a simulation takes less than 20 ms.
ExplainBudget explain_budget(Explain explain, double simulation_seconds);

}  // namespace weir::simulation
