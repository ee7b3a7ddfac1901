// How the memory of switches is divided in one run: pure arithmetic on the plan of the network and on who is
// connected to it. config refuses what leaves nothing, and the pressure of a plan (pressure.hpp) needs what
// is left.
#pragma once

#include <cstdint>

#include "core/network_plan.hpp"

namespace weir::core {

/// From this on nothing fills the pool: ports share no memory, and each of their queues has a size of its
/// own.
inline constexpr Bytes endless_pool{std::int64_t{1} << 50};

/// Headroom of all ports and lossless priorities of the switch that has most of it. Needs the layout.
Bytes largest_headroom(const NetworkPlan& network, std::uint32_t producers, std::uint32_t consumers);

}  // namespace weir::core
