// One whole run of one rank, from allocated memory to the exit status: warm-up, common clock, measurement,
// account, report. Every rank of the job calls it with the same settings.
#pragma once

#include "runtime/job.hpp"
#include "runtime/run_settings.hpp"
#include "runtime/watchdog.hpp"

namespace weir::runtime {

/// Returns the exit status, the same on all ranks. Does not return (leaves the process) when the run ended
/// before its time and MPI cannot be ended in order.
int run_job(Job& job, MPI_Comm comm, Watchdog& watchdog, const RunSettings& settings);

}  // namespace weir::runtime
