// `weir check`: what is wrong with hosts and network, before a run.
#pragma once

#include "cli/command_line.hpp"

namespace weir::cli {

/// Under a launcher: all hosts, and a probe between the pairs of the plan. Without: this host by itself.
/// Returns the exit status: 0, or 3 if a finding is serious. Throws config::UsageError before MPI has
/// started.
int check_command(const CommandLine& line);

}  // namespace weir::cli
