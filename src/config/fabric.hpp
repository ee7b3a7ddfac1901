// Topologies and placements of a switch file: speeds of single cables, what contradicts itself, and what the
// ranks of one run do not fit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/run_request.hpp"
#include "core/switch_plan.hpp"

namespace weir::config {

/// "leaf-0:spine-1=50Gb/s,spine-0:core-3=10Gb/s"; empty: none. Throws UsageError.
std::vector<core::OwnCables> parse_own_cables(std::string_view text);
std::string own_cables_text(const std::vector<core::OwnCables>& cables);

/// Refuses what is impossible whatever the ranks are, naming section and key. Throws UsageError.
void check_topology(const core::FabricPlan& fabric);

/// Decides an automatic placement: by worker for events with addresses among as many producers as consumers
/// whose links are equal, with transports that lose nothing; else rows. Then refuses what the ranks do not
/// fit. Needs the layout; without it or without packets, nothing is done. Throws UsageError.
void derive_placement(RunRequest& request);

}  // namespace weir::config
