// The part of `weir run` that runs: MPI, roles, the measurement, the report. Called with a request that is
// complete and checked as far as one command line allows.
#pragma once

#include "config/run_request.hpp"

namespace weir::cli {

/// Runs and returns the exit status (participant/exit_status.hpp). Throws config::UsageError
/// only where every rank throws the same one; report_usage_error() prints it on one rank.
int execute_run(const config::RunRequest& asked);

}  // namespace weir::cli
