// Finds the twin of a run: simulates it with what the run showed, corrects what can only be found so, and
// says how near it comes.
#pragma once

#include <cstddef>
#include <functional>
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

/// Thrown where a twin does not come to its end, or not in time.
struct TwinFailed {};

/// Under one assumption about whose links were limits, the twin that comes nearest. Throws config::UsageError
/// if the plan is not one of a simulation, Interrupted and TwinFailed.
///
/// `out_of_time`: when true, simulations are ended. `enough`: when true, none is begun: what was found is the
/// answer.
Twin nearest_twin(const twin::ShownRun& run, twin::Limits limits, const std::function<bool()>& out_of_time,
                  const std::function<bool()>& enough);

}  // namespace weir::cli
