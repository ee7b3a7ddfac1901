// What resolve() derives and checks for the network model `packet` only.
#pragma once

#include <string_view>

#include "config/run_request.hpp"

namespace weir::config {

/// Completes the plan of the packet network from the switch and the options. Refuses what the packet model
/// cannot simulate, and its options where another model is used. Throws UsageError.
void derive_packets(RunRequest& request);

/// What a reader of results should know of a fluid with a fabric.
inline constexpr const char* fluid_note =
    "--network fluid takes topology, placement, balancing.kind and failures.convergence of --switch; "
    "buffers, "
    "flow control, marks and losses need --network packet";

/// Whether the fluid model has a use for this key of a switch file.
bool fluid_takes(std::string_view section, std::string_view key);

}  // namespace weir::config
