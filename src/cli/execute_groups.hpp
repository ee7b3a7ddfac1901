// `weir run --groups`: the ranks of a job divide into groups, each of which is a run of its own.
#pragma once

#include "config/run_request.hpp"
#include "job/mpi_job.hpp"
#include "job/watchdog.hpp"
#include "simulation/explain_budget.hpp"

namespace weir::cli {

/// Collective over all ranks of the job, after its start. Returns the exit status, the same on all ranks.
int execute_groups(job::MpiJob& world, const config::RunRequest& asked, simulation::Explain explain,
                   job::Watchdog& watchdog);

}  // namespace weir::cli
