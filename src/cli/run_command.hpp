// `weir run`: from options to a request that is complete, then dry run or the real one.
#pragma once

#include <vector>

#include "config/run_request.hpp"

namespace weir::cli {

/// Returns the exit status. Throws config::UsageError before MPI has started.
int run_command(const std::vector<config::GivenOption>& options);

}  // namespace weir::cli
