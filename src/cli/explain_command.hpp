// `weir explain DIR`: the twin of a run that was made, and what it shows: why sets were late, what would have
// put every set on time, and the largest rate that would have been.
#pragma once

#include "cli/command_line.hpp"

namespace weir::cli {

/// Returns the exit status: 3 if the twin does not reproduce the run. Throws config::UsageError.
int explain_command(const CommandLine& line);

}  // namespace weir::cli
