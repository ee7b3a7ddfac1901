#include "core/switch_memory.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/fabric_layout.hpp"

namespace weir::core {

namespace {

Bytes headroom_of(const FabricPlan& fabric, BitRate rate) {
    const SwitchPlan& plan = fabric.switches;
    return headroom(plan, rate) * (plan.pauses_whole_links ? 1 : std::popcount(plan.lossless));
}

}  // namespace

Bytes largest_headroom(const NetworkPlan& network, std::uint32_t producers, std::uint32_t consumers) {
    const FabricPlan& fabric = network.fabric;
    // Whatever hosts are drawn, as many are at each leaf.
    constexpr std::uint64_t any_seed = 1;
    const FabricLayout layout = fabric_layout(network, Placement(network, producers, consumers, any_seed));
    std::vector<Bytes> of_switch(layout.switches.size());
    for (const FabricLayout::Port& port : layout.ports) {
        of_switch[port.leaf] += headroom_of(fabric, port.rate);
    }
    for (const FabricLayout::Cable& cable : layout.cables) {
        of_switch[cable.lower] += headroom_of(fabric, cable.rate);
        of_switch[cable.upper] += headroom_of(fabric, cable.rate);
    }
    return *std::max_element(of_switch.begin(), of_switch.end());
}

}  // namespace weir::core
