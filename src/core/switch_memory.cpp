#include "core/switch_memory.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace weir::core {

namespace {

Bytes headroom_of(const FabricPlan& fabric, BitRate rate) {
    const SwitchPlan& plan = fabric.switches;
    return headroom(plan, rate) * (plan.pauses_whole_links ? 1 : std::popcount(plan.lossless));
}

/// In the order in which leaves have them: the scheduler, the producers, the consumers.
std::vector<BitRate> host_links(const NetworkPlan& network, std::uint32_t producers,
                                std::uint32_t consumers) {
    std::vector<BitRate> links = producer_links(network, producers);
    links.insert(links.begin(), network.producer_link);
    const std::vector<BitRate> more = consumer_links(network, consumers);
    links.insert(links.end(), more.begin(), more.end());
    return links;
}

}  // namespace

Bytes largest_headroom(const NetworkPlan& network, std::uint32_t producers, std::uint32_t consumers) {
    const FabricPlan& fabric = network.fabric;
    const TopologyPlan& topology = fabric.topology;
    const bool star = topology.kind == TopologyKind::star;
    const std::size_t leaves = star ? 1 : topology.leaves;
    const std::vector<BitRate> links = host_links(network, producers, consumers);
    const Bytes of_uplink = headroom_of(fabric, topology.uplink_rate);
    std::vector<Bytes> of_leaf(leaves, star ? Bytes{} : of_uplink * topology.spines * topology.uplinks);
    for (std::size_t host = 0; host < links.size(); ++host) {
        of_leaf[host * leaves / links.size()] += headroom_of(fabric, links[host]);
    }
    const Bytes of_spine = star ? Bytes{} : of_uplink * topology.leaves * topology.uplinks;
    return std::max(of_spine, *std::max_element(of_leaf.begin(), of_leaf.end()));
}

}  // namespace weir::core
