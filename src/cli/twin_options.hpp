// A twin as options of `weir simulate`: what the run's plan has, and hosts and network as the run showed
// them. So a twin is resolved and checked like every other simulation, and can be repeated as a command.
#pragma once

#include <string>
#include <vector>

#include "config/run_request.hpp"
#include "twin/assumptions.hpp"
#include "twin/shown_run.hpp"

namespace weir::cli {

/// Throws config::UsageError.
std::vector<config::GivenOption> twin_options(const twin::ShownRun& run,
                                              const twin::Assumptions& assumptions);

/// "weir simulate --producers 3 ...", for a shell.
std::string shell_command(const std::vector<config::GivenOption>& options);

}  // namespace weir::cli
