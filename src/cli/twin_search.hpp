// Finds the twin of a run: simulates it with what the run showed, corrects what can only be found so, and
// says how near it comes.
#pragma once

#include <cstddef>
#include <vector>

#include "config/run_request.hpp"
#include "show/run_record.hpp"
#include "simulation/simulated_run.hpp"
#include "twin/assumptions.hpp"
#include "twin/comparison.hpp"
#include "twin/shown_run.hpp"

namespace weir::cli {

struct Twin {
    twin::Assumptions assumptions;
    std::vector<config::GivenOption> options;
    simulation::SimulatedRun run;
    show::RunRecord record;
    twin::TwinComparison comparison;
    std::size_t simulations = 0;
};

/// Thrown when a signal was caught.
struct Interrupted {
    int signal = 0;
};

/// Under one assumption about whose links were limits, the twin that comes nearest. Throws config::UsageError
/// if the plan is not one of a simulation, and Interrupted.
Twin nearest_twin(const twin::ShownRun& run, twin::Limits limits);

/// With these assumptions as they are. Throws as nearest_twin() does.
Twin twin_with(const twin::ShownRun& run, const twin::Assumptions& assumptions);

}  // namespace weir::cli
