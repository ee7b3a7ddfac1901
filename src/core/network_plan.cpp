#include "core/network_plan.hpp"

#include <bit>

#include "core/fabric_layout.hpp"

namespace weir::core {

namespace {

int lossless_groups(const SwitchPlan& plan) {
    return plan.pauses_whole_links ? 1 : std::popcount(plan.lossless);
}

int lossy_queues(const SwitchPlan& plan) {
    return plan.pauses_whole_links ? 0 : static_cast<int>(priority_count) - std::popcount(plan.lossless);
}

/// Of the ports of each switch.
std::vector<std::vector<BitRate>> rates_of_ports(const NetworkPlan& network, std::uint32_t producers,
                                                 std::uint32_t consumers) {
    // Whatever hosts are drawn, as many are at each leaf.
    constexpr std::uint64_t any_seed = 1;
    const FabricLayout layout = fabric_layout(network, Placement(network, producers, consumers, any_seed));
    std::vector<std::vector<BitRate>> of_switch(layout.switches.size());
    for (const FabricLayout::Port& port : layout.ports) {
        of_switch[port.leaf].push_back(port.rate);
    }
    for (const FabricLayout::Cable& cable : layout.cables) {
        of_switch[cable.lower].push_back(cable.rate);
        of_switch[cable.upper].push_back(cable.rate);
    }
    return of_switch;
}

}  // namespace

MemorySlice memory_slice(const SwitchPlan& plan, const std::vector<BitRate>& port_rates) {
    const auto whole_units = [&](Bytes bytes) {
        return bytes.count / (plan.cell.count == 0 ? 1 : plan.cell.count);
    };
    const auto ports = static_cast<std::int64_t>(port_rates.size());
    std::int64_t own_headroom = 0;
    for (const BitRate rate : port_rates) {
        own_headroom += memory_units(plan, headroom(plan, rate)) * lossless_groups(plan);
    }
    const bool pooled = plan.headroom_pool.count > 0;
    const std::int64_t of_groups = memory_units(plan, plan.group_reserved) * lossless_groups(plan) * ports;
    const std::int64_t of_queues = memory_units(plan, plan.queue_reserved) * lossy_queues(plan) * ports;
    const bool apart = plan.egress_pool.count > 0;
    const std::int64_t shared = whole_units({plan.pool.count - plan.headroom_pool.count}) -
                                (pooled ? 0 : own_headroom) - of_groups - (apart ? 0 : of_queues);
    return {.shared = shared / plan.slices,
            .headroom = (pooled ? whole_units(plan.headroom_pool) : own_headroom) / plan.slices,
            .shared_by_queues = apart ? (whole_units(plan.egress_pool) - of_queues) / plan.slices : 0};
}

Bytes largest_headroom(const NetworkPlan& network, std::uint32_t producers, std::uint32_t consumers) {
    const SwitchPlan& plan = network.fabric.switches;
    std::int64_t largest = 0;
    for (const std::vector<BitRate>& rates : rates_of_ports(network, producers, consumers)) {
        largest = std::max(largest, memory_slice(plan, rates).headroom);
    }
    return bytes_of_units(plan, largest * plan.slices);
}

SharedMemory least_shared(const NetworkPlan& network, std::uint32_t producers, std::uint32_t consumers) {
    const SwitchPlan& plan = network.fabric.switches;
    MemorySlice least{.shared = std::numeric_limits<std::int64_t>::max(),
                      .shared_by_queues = std::numeric_limits<std::int64_t>::max()};
    for (const std::vector<BitRate>& rates : rates_of_ports(network, producers, consumers)) {
        const MemorySlice one = memory_slice(plan, rates);
        least.shared = std::min(least.shared, one.shared);
        least.shared_by_queues = std::min(least.shared_by_queues, one.shared_by_queues);
    }
    const auto in_all = [&](std::int64_t units) { return bytes_of_units(plan, units * plan.slices); };
    return {in_all(least.shared), in_all(plan.egress_pool.count > 0 ? least.shared_by_queues : least.shared)};
}

}  // namespace weir::core
