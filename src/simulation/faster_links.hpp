// For the relaxations of links: speeds that are tried, and what changes with them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/network_plan.hpp"
#include "core/units.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::simulation {

/// With so many significant digits, upwards.
std::int64_t rounded_up(double value, int digits);

/// With two significant digits, upwards: where the rate itself is advised.
core::BitRate times(core::BitRate rate, double factor);

/// Where the factor is.
core::BitRate exactly_times(core::BitRate rate, double factor);

/// Those that give different rates, up to the fastest link: of one that is nearly as fast, up to four times.
std::vector<double> factors_for(const core::NetworkPlan& network, core::BitRate now);

/// Faster ports need more headroom: the memory grows by that, so that what ports share, a limit of its own,
/// stays as it is.
void keep_shared_memory(const core::NetworkPlan& before, SimulatedRun& changed);

}  // namespace weir::simulation
