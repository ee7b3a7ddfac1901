// Finds the twin of a run: simulates it with what the run showed, corrects what can only be found so, and
// says how near it comes.
#pragma once

#include <cstddef>
#include <vector>

#include "config/run_request.hpp"
#include "simulation/simulated_run.hpp"
#include "telemetry/run_record.hpp"
#include "twin/assumptions.hpp"
#include "twin/comparison.hpp"
#include "twin/shown_run.hpp"

namespace weir::cli {

struct Twin {
    twin::Assumptions assumptions;
    std::vector<config::GivenOption> options;
    simulation::SimulatedRun run;
    telemetry::RunRecord record;
    twin::Comparison comparison;
    std::size_t simulations = 0;
};

/// Thrown when a signal was caught.
struct Interrupted {
    int signal = 0;
};

/// Under each assumption about whose links were limits, the twin that comes nearest: those of both roles, of
/// producers, of consumers, of none. Throws config::UsageError if the plan is not one of a simulation, and
/// Interrupted.
std::vector<Twin> find_twins(const twin::ShownRun& run);

}  // namespace weir::cli
