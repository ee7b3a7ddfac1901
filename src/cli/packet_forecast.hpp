// What a simulation packet by packet comes to: its switch in a few lines, and what it will cost.
#pragma once

#include <string>
#include <vector>

#include "cli/forecast.hpp"

namespace weir::cli {

/// Estimates, from the plan only. Of generation `saturate`: as if links were full all the time.
struct PacketCost {
    double transmissions = 0;  ///< of packets, each link counted; warm-up included, losses not
    double cpu_seconds = 0;
    double memory_bytes = 0;
};
/// Needs the layout and the network model `packet`.
PacketCost packet_cost(const config::RunRequest& request, const Forecast& forecast);

/// "16 MB for all ports, 3.43 MB of it headroom; PFC ...": lines for people.
std::vector<std::string> switch_lines(const config::RunRequest& request);
/// One line.
std::string cost_text(const PacketCost& cost);
/// How the same is simulated at less cost, as options; empty: it costs less than about a minute.
std::string cheaper_options(const config::RunRequest& request, const PacketCost& cost);

/// Adds what of the switch cannot work as intended.
void warn_of_headroom(const config::RunRequest& request, std::vector<std::string>& warnings);
void warn_of_watchdog(const config::RunRequest& request, std::vector<std::string>& warnings);
/// Numbers of a congestion control that do not fit to the cables.
void warn_of_round_trip(const config::RunRequest& request, std::vector<std::string>& warnings);

}  // namespace weir::cli
