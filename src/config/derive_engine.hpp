// What carries a measured run: the engine, its traffic classes, devices and queue pairs.
#pragma once

#include "config/run_request.hpp"

namespace weir::config {

/// Completes `request.engine`. Throws UsageError for options that the engine does not have.
void derive_engine(RunRequest& request);

}  // namespace weir::config
