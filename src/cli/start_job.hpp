// Starts the job that a run or a check takes place in: by MPI, or without it (--join).
#pragma once

#include <mpi.h>

#include <memory>
#include <string_view>

#include "config/run_request.hpp"
#include "job/job.hpp"
#include "job/watchdog.hpp"

namespace weir::cli {

struct StartedJob {
    std::unique_ptr<job::Job> job;
    MPI_Comm communicator = MPI_COMM_NULL;  ///< of all ranks; MPI_COMM_NULL without MPI
    /// As asked for; a process that has joined without options of its own has those of rank 0.
    config::RunRequest request;
};

/// `command`: "run" or "check"; with --join, all processes must have started the same one. Throws
/// job::JobError, and config::UsageError for what rank 0's options ask of this host.
StartedJob start_job(const config::RunRequest& asked, job::Watchdog& watchdog, std::string_view command);

}  // namespace weir::cli
