#include "core/phase_ideals.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "core/fabric_layout.hpp"
#include "core/placement.hpp"

namespace weir::core {

namespace {

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
