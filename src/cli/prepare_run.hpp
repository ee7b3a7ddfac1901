// From a request to the settings of a run, together with all other ranks: builds, hosts, layout, memory.
#pragma once

#include <string>
#include <vector>

#include "config/run_request.hpp"
#include "runtime/job.hpp"
#include "runtime/run_settings.hpp"

namespace weir::cli {

/// Version and commit.
std::string this_build();

/// telemetry's name for an output form.
telemetry::LiveForm live_form(config::OutputForm form);

/// Collective. Everything but the run directory. Throws config::UsageError, the same on every rank, and
/// runtime::JobError.
runtime::RunSettings prepare_run(runtime::Job& job, const config::RunRequest& asked);

/// Collective: `leader` makes the run directory, with `parts` in it. Returns its name. Throws like
/// prepare_run().
std::string make_run_directory(runtime::Job& job, const config::RunRequest& request, int leader,
                               const std::vector<std::string>& parts = {});

/// Ranks have not even learnt each other's hosts: the numbers of those that do not answer are all there is.
[[noreturn]] void end_before_the_layout(runtime::Job& job, const runtime::ExchangeTimeout& error);

}  // namespace weir::cli
