// What resolve() derives and checks for the network model `packet` only.
#pragma once

#include "config/run_request.hpp"

namespace weir::config {

/// Refuses what the packet model cannot simulate, and its options where another model is used. The network
/// plan is complete otherwise. Throws UsageError.
void derive_packets(const RunRequest& request);

}  // namespace weir::config
