#include "config/switch_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "config/quantities.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

using core::BitRate;
using core::Bytes;

constexpr Bytes pause_frame{84};

Bytes headroom_of(const core::FabricPlan& fabric, BitRate rate) {
    const core::SwitchPlan& plan = fabric.switches;
    return core::headroom(plan, rate) * (plan.pauses_whole_links ? 1 : std::popcount(plan.lossless));
}

/// In the order in which leaves have them: the scheduler, the producers, the consumers.
std::vector<BitRate> host_links(const RunRequest& request) {
    std::vector<BitRate> links = core::producer_links(request.network, request.plan.producers);
    links.insert(links.begin(), request.network.producer_link);
    const std::vector<BitRate> consumers = core::consumer_links(request.network, request.plan.consumers);
    links.insert(links.end(), consumers.begin(), consumers.end());
    return links;
}

}  // namespace

Bytes full_packet(const core::NetworkPlan& network) {
    const core::PacketShape shape = core::packet_shape(network);
    return {network.framing == core::Framing::none ? network.mtu.count : shape.payload + shape.overhead};
}

Bytes largest_headroom(const RunRequest& request) {
    const core::FabricPlan& fabric = request.network.fabric;
    const core::TopologyPlan& topology = fabric.topology;
    const bool star = topology.kind == core::TopologyKind::star;
    const std::size_t leaves = star ? 1 : topology.leaves;
    const std::vector<BitRate> links = host_links(request);
    const Bytes of_uplink = headroom_of(fabric, topology.uplink_rate);
    std::vector<Bytes> of_leaf(leaves, star ? Bytes{} : of_uplink * topology.spines * topology.uplinks);
    for (std::size_t host = 0; host < links.size(); ++host) {
        of_leaf[host * leaves / links.size()] += headroom_of(fabric, links[host]);
    }
    const Bytes of_spine = star ? Bytes{} : of_uplink * topology.leaves * topology.uplinks;
    return std::max(of_spine, *std::max_element(of_leaf.begin(), of_leaf.end()));
}

Bytes pause_takes(const core::NetworkPlan& network, BitRate rate) {
    const core::Duration both_ways = network.latency;  // twice that of a cable, which is half of it
    const auto on_the_way =
        static_cast<core::WideInteger>(rate.bits_per_second) * both_ways.ns / 8'000'000'000;
    return Bytes{static_cast<std::int64_t>(on_the_way)} + full_packet(network) * 2 + pause_frame;
}

void check_headroom(const RunRequest& request) {
    const core::FabricPlan& fabric = request.network.fabric;
    const bool pauses = fabric.switches.lossless != 0 || fabric.switches.pauses_whole_links;
    if (request.network.model != core::NetworkModel::packet || !pauses) {
        return;
    }
    const Bytes headroom = largest_headroom(request);
    if (headroom >= fabric.switches.pool) {
        throw UsageError(
            fmt::format("--switch: {}: [switch] headroom: {} for a port of 100Gb/s are {} for all ports of a "
                        "switch, and its "
                        "pool has {}; make headroom smaller, or pool larger",
                        request.packets.switch_name, to_text(fabric.switches.headroom_at_100g),
                        rounded_text(headroom), to_text(fabric.switches.pool)));
    }
}

}  // namespace weir::config
