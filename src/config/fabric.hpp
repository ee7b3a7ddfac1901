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

/// What is said of data that crosses no link, because its producer and its consumer share a host; empty:
/// there is none. Needs the layout.
std::string inside_hosts_text(const RunRequest& request);

// Speeds of the links of one role's hosts: '100Gb/s', or '100Gb/s,0-3=25Gb/s,7=400Gb/s' where some hosts have
// another one than the rest.

/// Sets both; `own` in ascending order. Throws UsageError.
void parse_link_speeds(std::string_view text, core::BitRate& usual, std::vector<core::OwnLinks>& own);
std::string link_speeds_text(core::BitRate usual, const std::vector<core::OwnLinks>& own);

}  // namespace weir::config
