// What follows from what: completes a request whose options are set, and refuses what cannot work together.
// Apart from resolve.cpp because this is about what options mean, and that about where they come from.
#pragma once

#include "config/run_request.hpp"

namespace weir::config {

/// Applies --scale, fills in what was left to be derived, checks. Throws UsageError.
void derive(RunRequest& request);

/// Refuses --busy-consumers that do not exist. Throws UsageError.
void check_busy_consumers(const core::Plan& plan);

/// Refuses slots that need more open receives than are possible, once the number of producers is known.
/// Throws UsageError.
void check_places(const core::Plan& plan);

}  // namespace weir::config
