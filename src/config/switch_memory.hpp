// Whether the memory of switches suffices in one run: known when the ports are.
#pragma once

#include "config/run_request.hpp"

namespace weir::config {

/// On the wire.
core::Bytes full_packet(const core::NetworkPlan& network);

/// core::largest_headroom of this run. Needs the layout.
core::Bytes largest_headroom(const RunRequest& request);

/// What arrives on a link of this rate after a pause was decided: for the time that the pause takes to the
/// sender and the last bits from there, and one packet on each of both ways that had begun before.
core::Bytes pause_takes(const core::NetworkPlan& network, core::BitRate rate);

/// Refuses headroom that leaves nothing of the pool. Needs the layout. Throws UsageError.
void check_headroom(const RunRequest& request);

}  // namespace weir::config
