// `weir simulate`: a run in virtual time, from options to run directory.
#pragma once

#include "cli/command_line.hpp"

namespace weir::cli {

/// Returns the exit status. Throws config::UsageError.
int simulate_command(const CommandLine& line);

}  // namespace weir::cli
