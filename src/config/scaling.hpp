// A run made smaller with the ratios between its parts intact.
#pragma once

#include "config/run_request.hpp"

namespace weir::config {

/// --scale: rates, sizes and links. Throws UsageError.
void apply_scale(RunRequest& request);

/// --time-scale: times of generation, busy times and all sizes that stand for a time at the rate, so that the
/// same happens in a shorter time, at the same rates. The network stays as it is: packets, delays, buffers of
/// switches. Throws UsageError.
void apply_time_scale(RunRequest& request);

}  // namespace weir::config
