// What resolve() derives and checks for the network model `packet` only.
#pragma once

#include "config/run_request.hpp"

namespace weir::config {

/// Completes the plan of the packet network from the switch and the options. Refuses what the packet model
/// cannot simulate, and its options where another model is used. Throws UsageError.
void derive_packets(RunRequest& request);

}  // namespace weir::config
