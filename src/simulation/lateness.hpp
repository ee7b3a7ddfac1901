// How bad a simulated run was, in one number (counterfactuals.hpp), and whether it was good.
#pragma once

#include "core/plan.hpp"
#include "core/units.hpp"
#include "show/run_record.hpp"
#include "simulation/simulator.hpp"

namespace weir::simulation {

/// Lateness of all producers and what was lost, in sets.
double badness_of(const show::RunRecord& record);

/// The same while a run goes on, without what is lost. It only grows.
double badness_so_far(const core::Plan& plan, const Simulator& simulator);

/// Complete, judged, sustained and on time.
bool is_good(const show::RunRecord& record);

/// By how much the latest set was late; 0: none was.
core::Duration late_by(const show::RunRecord& record);

}  // namespace weir::simulation
