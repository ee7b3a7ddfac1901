// Of the network model `packet`: what its switches hold, known when the ports are, and what of it the model
// `fluid` takes.
#pragma once

#include <string_view>

#include "config/run_request.hpp"

namespace weir::config {

/// On the wire.
core::Bytes full_packet(const core::NetworkPlan& network);

/// core::largest_headroom of this run. Needs the layout.
core::Bytes largest_headroom(const RunRequest& request);

/// What arrives on a link of this rate after a pause was decided: for the time that the pause takes to the
/// sender and the last bits from there, and one packet on each of both ways that had begun before.
core::Bytes pause_takes(const core::NetworkPlan& network, core::BitRate rate);

/// What a reader of results should know of a fluid with a fabric.
inline constexpr const char* fluid_note =
    "--network fluid takes topology, placement, balancing.kind and failures.convergence of --switch; "
    "buffers, flow control, marks and losses need --network packet";

/// Whether the fluid model has a use for this key of a switch file.
bool fluid_takes(std::string_view section, std::string_view key);

}  // namespace weir::config
