// From a request to the settings of a run, together with all other ranks: builds, hosts, layout, memory.
#pragma once

#include <string>
#include <vector>

#include "config/run_request.hpp"
#include "job/job.hpp"
#include "job/run_settings.hpp"

namespace weir::cli {

/// Version and commit.
std::string this_build();

/// The form of live lines that an output form asks for.
show::LiveForm live_form(config::OutputForm form);

/// Collective. Everything but the run directory. Throws config::UsageError, the same on every rank, and
/// job::JobError.
job::RunSettings prepare_run(job::Job& job, const config::RunRequest& asked);

/// Collective: `leader` makes the run directory, with `parts` in it. Returns its name. Throws like
/// prepare_run().
std::string make_run_directory(job::Job& job, const config::RunRequest& request, int leader,
                               const std::vector<std::string>& parts = {});

/// Ranks have not even learnt each other's hosts: the numbers of those that do not answer are all there is.
[[noreturn]] void end_before_the_layout(job::Job& job, const config::RunRequest& request,
                                        const job::JobError& error);

}  // namespace weir::cli
