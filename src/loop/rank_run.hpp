// One whole run of one rank, from allocated memory to the exit status: warm-up, common clock, measurement,
// account, report. Every rank of the job calls it with the same settings.
#pragma once

#include "job/job.hpp"
#include "job/run_settings.hpp"
#include "job/watchdog.hpp"

namespace weir::loop {

/// Returns the exit status, the same on all ranks. Does not return (leaves the process) when the run ended
/// before its time and MPI cannot be ended in order.
int run_rank(job::Job& job, MPI_Comm comm, job::Watchdog& watchdog, const job::RunSettings& settings);

}  // namespace weir::loop
