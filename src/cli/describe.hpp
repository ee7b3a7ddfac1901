// Copies what a request has about a run, measured or simulated, into its description.
#pragma once

#include "config/run_request.hpp"
#include "participant/run_description.hpp"

namespace weir::cli {

/// Fills in plan, options, labels and requirements. The layout must be known.
void describe(const config::RunRequest& request, participant::RunDescription& run);

}  // namespace weir::cli
