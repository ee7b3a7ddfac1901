// Leaves and spines with hosts in a row, for tests of the packet network.
#pragma once

#include <vector>

#include "core/fabric_layout.hpp"
#include "packet/topology.hpp"

namespace weir::packet {

struct LeafSpine {
    std::uint32_t leaves = 2;
    std::uint32_t spines = 2;
    std::vector<core::BitRate> hosts;  ///< link rates; shared out evenly, the first ones to the first leaf
    core::BitRate between;             ///< rate of each cable from a leaf to a spine
    core::Duration delay;              ///< of each cable
    std::uint32_t cables = 1;          ///< from each leaf to each spine
};

/// Hosts are numbered leaf by leaf from 0, then come the leaves, then the spines.
inline Topology leaf_spine(const LeafSpine& shape) {
    core::NetworkPlan network;
    network.latency = shape.delay * 2;
    network.fabric.topology = {.kind = core::TopologyKind::leaf_spine,
                               .leaves = shape.leaves,
                               .spines = shape.spines,
                               .uplink_rate = shape.between,
                               .uplinks = shape.cables};
    // As a scheduler and producers in rows.
    network.producer_link = shape.hosts.front();
    const auto producers = static_cast<std::uint32_t>(shape.hosts.size() - 1);
    for (std::uint32_t index = 0; index < producers; ++index) {
        network.own_producer_links.push_back({index, index, shape.hosts[index + 1]});
    }
    return built(core::fabric_layout(network, core::Placement(network, producers, 0, 1)));
}

}  // namespace weir::packet
