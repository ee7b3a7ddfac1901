#include "core/ideal_time.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/assertion.hpp"

namespace weir::core {

namespace {

/// Picoseconds, rounded up.
WideInteger transmission(std::int64_t bytes, BitRate rate) {
    return (static_cast<WideInteger>(bytes) * 8 * 1'000'000'000'000 + rate.bits_per_second - 1) /
           rate.bits_per_second;
}

/// Between packets that come one behind the other by a link whose clock is slow (IEEE 802.3: 100 ppm).
Duration most_apart(std::int64_t packet_bytes, BitRate rate) {
    return {static_cast<std::int64_t>(transmission(packet_bytes, rate) * 10'001 / 10'000'000) + 1};
}

/// A link, or several side by side over which packets are spread.
struct WayStage {
    BitRate rate;
    std::int64_t ways = 1;
};

/// `full` packets of `packet_bytes`, then one of `last_bytes`, over stages one behind the other.
WideInteger store_and_forward(std::int64_t full, std::int64_t packet_bytes, std::int64_t last_bytes,
                              std::span<const WayStage> stages) {
    WideInteger first_through = 0;  // the first full packet, over the stages so far
    WideInteger behind = 0;         // the last full one, at the slowest of them
    WideInteger full_through = 0;   // all full packets
    WideInteger last_through = 0;
    bool in_order = true;
    for (const WayStage& stage : stages) {
        const WideInteger each = transmission(packet_bytes, stage.rate);
        in_order = in_order && stage.ways == 1;
        WideInteger before_last = 0;
        if (full > 0) {
            // Some link carries so many before the last one that it carries.
            before_last = first_through + full / stage.ways * each;
            first_through += each;
            behind = std::max(behind, (full - 1) / stage.ways * each);
            full_through = first_through + behind;
            before_last = in_order ? full_through : before_last;
        }
        last_through = std::max(last_through, before_last) + transmission(last_bytes, stage.rate);
    }
    return std::max(last_through, full_through);
}

}  // namespace

IdealTimes::IdealTimes(const Plan& plan, const NetworkPlan& network)
    : network_(network), packet_(packet_shape(network)), producers_(plan.producers) {
    WEIR_ASSERT(!plan.lossy());
    if (has_fabric(network)) {
        const Placement placement(network, plan.producers, plan.consumers, plan.seed);
        fabric_ = {placement, fabric_layout(network, placement)};
        return;
    }
    for (const BitRate link : rank_links(network, plan.producers, plan.consumers, network.producer_link)) {
        payload_rates_.push_back(payload_rate(network, link));
    }
}

Duration IdealTimes::of(ProducerId from, ConsumerId to, Bytes bytes) const {
    const std::uint32_t sender = 1 + from.value;
    const std::uint32_t receiver = 1 + producers_ + to.value;
    if (fabric_) {
        if (network_.model == NetworkModel::packet) {
            return of_packets(sender, receiver, bytes);
        }
        return of_fluid(sender, receiver, bytes);
    }
    return network_.latency + time_for(std::min(payload_rates_[sender], payload_rates_[receiver]), bytes);
}

/// Over all ways, where a fluid is spread over them.
Duration IdealTimes::of_fluid(std::uint32_t from, std::uint32_t to, Bytes bytes) const {
    const TopologyPlan& topology = network_.fabric.topology;
    if (fabric_->placement.on_one_host(from, to)) {
        return network_.fabric.placement.memory_delay +
               time_for(network_.fabric.placement.memory_rate, bytes);
    }
    const Placement::Ports ports = fabric_->placement.ports(from, to, 0);
    const FabricLayout::Port& first = fabric_->layout.ports[ports.from];
    const FabricLayout::Port& last = fabric_->layout.ports[ports.to];
    const SwitchHops hops = hops_between(topology, first.leaf, last.leaf);
    const bool spreads = network_.fabric.switches.balancing.spreads_fluid();
    const auto through = [spreads](BitRate cable, std::uint32_t switches, std::uint32_t cables) {
        return BitRate{cable.bits_per_second * (spreads ? std::int64_t{switches} * cables : 1)};
    };
    BitRate rate = std::min(first.rate, last.rate);
    if (hops.uplinks > 0) {
        rate = std::min(rate, through(topology.uplink_rate, topology.spines, topology.uplinks));
    }
    if (hops.core_links > 0) {
        rate = std::min(rate, through(topology.core_rate, topology.cores, topology.core_links));
    }
    return way_delay(network_, fabric_->layout, ports) + time_for(payload_rate(network_, rate), bytes);
}

Duration IdealTimes::of_packets(std::uint32_t from, std::uint32_t to, Bytes bytes) const {
    const TopologyPlan& topology = network_.fabric.topology;
    const PlacementPlan& placement = network_.fabric.placement;
    if (fabric_->placement.on_one_host(from, to)) {
        return placement.memory_delay + time_for(placement.memory_rate, bytes);
    }
    const Placement::Ports ports = fabric_->placement.ports(from, to, 0);
    const FabricLayout::Port& first = fabric_->layout.ports[ports.from];
    const FabricLayout::Port& last_port = fabric_->layout.ports[ports.to];
    const SwitchHops hops = hops_between(topology, first.leaf, last_port.leaf);
    std::array<WayStage, 6> way{WayStage{first.rate}};
    std::size_t length = 1;
    const BalancingPlan& balancing = network_.fabric.switches.balancing;
    BitRate slowest = first.rate;
    bool spreads = false;
    // Packets have come to so many switches, and each of them has so many cables that lead on.
    const auto add = [&](BitRate rate, std::uint32_t switches, std::uint32_t cables) {
        const Duration apart = most_apart(packet_.payload + packet_.overhead, slowest);
        spreads = spreads || balancing.spreads_packets(apart);
        way[length++] = {rate, std::int64_t{switches} * (spreads ? cables : 1)};
        slowest = std::min(slowest, rate);
    };
    std::uint32_t spines = 1;
    if (hops.uplinks > 0) {
        add(topology.uplink_rate, 1, topology.spines * topology.uplinks);
        spines = spreads ? topology.spines : 1;
    }
    if (hops.core_links > 0) {
        const std::uint32_t cores_of_spine = topology.cores / topology.spines;
        add(topology.core_rate, spines, cores_of_spine * topology.core_links);
        add(topology.core_rate, spines * (spreads ? cores_of_spine : 1), topology.core_links);
    }
    if (hops.uplinks > 0) {
        add(topology.uplink_rate, spines, topology.uplinks);
    }
    way[length++] = {last_port.rate};
    const std::int64_t full = (bytes.count - 1) / packet_.payload;
    const std::int64_t last = bytes.count - full * packet_.payload;
    const WideInteger picoseconds = store_and_forward(full, packet_.payload + packet_.overhead,
                                                      last + packet_.overhead, std::span(way).first(length));
    return way_delay(network_, fabric_->layout, ports) +
           Duration{static_cast<std::int64_t>((picoseconds + 999) / 1000)};
}

}  // namespace weir::core
