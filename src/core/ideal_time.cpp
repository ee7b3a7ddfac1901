#include "core/ideal_time.hpp"

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

/// Parts of a network that traffic enters and leaves, each by one cut.
struct CutParts {
    std::vector<std::uint32_t> of_end;  ///< by end of a transfer: a rank, or a port
    std::vector<BitRate> rates;         ///< of payload, by part, each way
};

/// The time that the slowest cut needs, by phase.
class SlowestCut {
  public:
    explicit SlowestCut(std::size_t phases) : needed_(phases) {}

    void add(std::size_t cut, std::uint32_t phase, Bytes bytes) {
        bytes_[cut * needed_.size() + phase] += bytes;
    }
    /// All has been added of these cuts, which have these rates.
    template <typename RateOf>
    void close(const RateOf& rate_of) {
        for (const auto& [place, bytes] : bytes_) {
            const BitRate rate = rate_of(place / needed_.size());
            Duration& needed = needed_[place % needed_.size()];
            needed = std::max(needed, rate.bits_per_second > 0 ? time_for(rate, bytes) : Duration{});
        }
        bytes_.clear();
    }
    [[nodiscard]] std::vector<Duration> needed() && { return std::move(needed_); }

  private:
    std::vector<Duration> needed_;
    std::unordered_map<std::size_t, Bytes> bytes_;  ///< by cut and phase: what there is
};

/// `visit(from, to, transfer)`, with numbers of ranks.
template <typename Visit>
void for_each_transfer(const Plan& plan, const Visit& visit) {
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        for (const AddressedTransfer& transfer : plan.traffic->of({producer})) {
            visit(1 + producer, 1 + plan.producers + transfer.to.value, transfer);
        }
    }
}

/// What goes from one part to another one. `ends(from, to)`: of ranks; ends that are equal have no cut.
template <typename Ends>
void add_cuts(SlowestCut& slowest, const Plan& plan, const CutParts& parts, const Ends& ends) {
    for_each_transfer(plan, [&](std::uint32_t from, std::uint32_t to, const AddressedTransfer& transfer) {
        const Placement::Ports at = ends(from, to);
        const std::size_t left = parts.of_end[at.from];
        const std::size_t entered = parts.of_end[at.to];
        if (left != entered) {
            slowest.add(2 * left, transfer.phase, transfer.bytes);
            slowest.add(2 * entered + 1, transfer.phase, transfer.bytes);
        }
    });
    slowest.close([&](std::size_t cut) { return parts.rates[cut / 2]; });
}

CutParts ranks_of(const Plan& plan, const NetworkPlan& network) {
    CutParts parts;
    for (const BitRate link : rank_links(network, plan.producers, plan.consumers, network.producer_link)) {
        parts.of_end.push_back(static_cast<std::uint32_t>(parts.of_end.size()));
        parts.rates.push_back(payload_rate(network, link));
    }
    return parts;
}

/// Parts of a fabric, by port: their hosts, leaves, pods.
class FabricParts {
  public:
    FabricParts(const NetworkPlan& network, const Placement& placement)
        : network_(network),
          topology_(network.fabric.topology),
          layout_(fabric_layout(network, placement)),
          by_rail_(network.fabric.placement.kind == PlacementKind::by_rail) {}

    [[nodiscard]] std::vector<CutParts> all() const {
        std::vector<CutParts> all{hosts()};
        if (layout_.has(Tier::spine)) {
            all.push_back(leaves());
        }
        if (layout_.has(Tier::core)) {
            all.push_back(pods());
        }
        return all;
    }

  private:
    /// By rail each NIC is one: a flow has no choice.
    [[nodiscard]] CutParts hosts() const {
        CutParts parts;
        for (const FabricLayout::Port& port : layout_.ports) {
            put(parts, by_rail_ ? static_cast<std::uint32_t>(parts.of_end.size()) : port.host);
            parts.rates[parts.of_end.back()].bits_per_second += port.rate.bits_per_second;
        }
        return in_payload(std::move(parts));
    }
    /// Leaves that a host's NICs share are one, unless the NIC follows from the rail.
    [[nodiscard]] CutParts leaves() const {
        const bool several = topology_.kind == TopologyKind::rail_optimized && !by_rail_;
        return of_switches(Tier::leaf, several ? topology_.nics : 1);
    }
    [[nodiscard]] CutParts pods() const {
        return of_switches(Tier::spine, topology_.leaves / topology_.pods);
    }

    /// So many leaves each, with the cables upwards of switches of a tier.
    [[nodiscard]] CutParts of_switches(Tier lower, std::uint32_t leaves_each) const {
        CutParts parts;
        for (const FabricLayout::Port& port : layout_.ports) {
            put(parts, port.leaf / leaves_each);
        }
        const std::uint32_t switches_each = lower == Tier::leaf ? leaves_each : topology_.spines;
        for (const FabricLayout::Cable& cable : layout_.cables) {
            if (layout_.switches[cable.lower].tier == lower) {
                const std::uint32_t index = layout_.switches[cable.lower].index;
                const std::uint32_t part = index / switches_each;
                parts.rates.resize(std::max<std::size_t>(parts.rates.size(), part + 1));
                parts.rates[part].bits_per_second += cable.rate.bits_per_second;
            }
        }
        return in_payload(std::move(parts));
    }
    static void put(CutParts& parts, std::uint32_t part) {
        parts.of_end.push_back(part);
        parts.rates.resize(std::max<std::size_t>(parts.rates.size(), part + 1));
    }
    [[nodiscard]] CutParts in_payload(CutParts parts) const {
        for (BitRate& rate : parts.rates) {
            rate = payload_rate(network_, rate);
        }
        return parts;
    }

    const NetworkPlan& network_;
    const TopologyPlan& topology_;
    FabricLayout layout_;
    bool by_rail_;
};

/// What stays in a host.
void add_memory(SlowestCut& slowest, const Plan& plan, const Placement& placement, BitRate rate) {
    for_each_transfer(plan, [&](std::uint32_t from, std::uint32_t to, const AddressedTransfer& transfer) {
        if (placement.on_one_host(from, to)) {
            slowest.add(placement.host_of(from), transfer.phase, transfer.bytes);
        }
    });
    slowest.close([&](std::size_t) { return rate; });
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

std::vector<Duration> ideal_phase_times(const Plan& plan, const NetworkPlan& network) {
    SlowestCut slowest(plan.traffic->phases().size());
    if (!has_fabric(network)) {
        add_cuts(slowest, plan, ranks_of(plan, network),
                 [](std::uint32_t from, std::uint32_t to) { return Placement::Ports{from, to}; });
        return std::move(slowest).needed();
    }
    const Placement placement(network, plan.producers, plan.consumers, plan.seed);
    add_memory(slowest, plan, placement, network.fabric.placement.memory_rate);
    for (const CutParts& parts : FabricParts(network, placement).all()) {
        // A host's first NIC stands for all of which a flow takes any.
        add_cuts(slowest, plan, parts, [&](std::uint32_t from, std::uint32_t to) {
            return placement.on_one_host(from, to) ? Placement::Ports{} : placement.ports(from, to, 0);
        });
    }
    return std::move(slowest).needed();
}

}  // namespace weir::core
