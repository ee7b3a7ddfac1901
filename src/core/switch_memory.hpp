// How the memory of switches is divided in one run: pure arithmetic on the plan of the network and on who is
// connected to it. config refuses what leaves nothing, the pressure of a plan (pressure.hpp) needs what is
// left, and the packet model fills it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/network_plan.hpp"

namespace weir::core {

/// From this on nothing fills the pool: ports share no memory, and each of their queues has a size of its
/// own.
inline constexpr Bytes endless_pool{std::int64_t{1} << 50};

/// Memory that holds so many bytes, in the units in which it is given out: cells, and without them bytes.
constexpr std::int64_t memory_units(const SwitchPlan& plan, Bytes bytes) {
    return plan.cell.count == 0 ? bytes.count : (bytes.count + plan.cell.count - 1) / plan.cell.count;
}
constexpr Bytes bytes_of_units(const SwitchPlan& plan, std::int64_t units) {
    return {units * (plan.cell.count == 0 ? 1 : plan.cell.count)};
}

/// Of one slice of a switch, in units. What is not positive leaves nothing to share.
struct MemorySlice {
    std::int64_t shared = 0;  ///< by lossless ports and priorities, and by lossy queues if they have no pool
    std::int64_t headroom = 0;          ///< for all ports; without a headroom pool: what they have together
    std::int64_t shared_by_queues = 0;  ///< lossy ones, of the egress pool; 0 without one
};
/// Of a switch that has these ports.
MemorySlice memory_slice(const SwitchPlan& plan, const std::vector<BitRate>& port_rates);

/// Headroom of the switch that has most of it. Needs the layout.
Bytes largest_headroom(const NetworkPlan& network, std::uint32_t producers, std::uint32_t consumers);

/// What the switch that has least of it can share in all of its slices. Needs the layout.
struct SharedMemory {
    Bytes pool;
    Bytes of_queues;  ///< lossy ones: the same, or of the egress pool
};
SharedMemory least_shared(const NetworkPlan& network, std::uint32_t producers, std::uint32_t consumers);

}  // namespace weir::core
