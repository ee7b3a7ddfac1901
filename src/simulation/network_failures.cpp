#include "simulation/network_failures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

#include "files/formatting.hpp"
#include "packet/buffer_cycle.hpp"
#include "simulation/switched_topology.hpp"

namespace weir::simulation {

using packet::CableIndex;
using packet::LinkIndex;
using packet::NodeIndex;

namespace {

using Kind = Disturbance::Kind;

[[noreturn]] void refuse(const Disturbance& disturbance, const std::string& why) {
    throw std::invalid_argument(fmt::format("'{}': {}", disturbance.text, why));
}

/// As a share of the rate of all these cables.
double share_of_rate(const Disturbance& disturbance, const packet::Topology& topology,
                     const std::vector<CableIndex>& cables) {
    if (disturbance.to.bits_per_second == 0) {
        return disturbance.factor;
    }
    const core::BitRate rate = topology.links()[2 * cables.front()].rate;
    if (disturbance.to > rate) {
        throw std::invalid_argument(
            fmt::format("to= is above the {} of the link; write less", files::readable(rate)));
    }
    return static_cast<double>(disturbance.to.bits_per_second) / static_cast<double>(rate.bits_per_second);
}

/// Whether each host has a way to each other one, and the first that has not.
std::optional<NodeIndex> cut_off(const packet::Topology& topology, const std::vector<bool>& unused) {
    std::optional<NodeIndex> first_host;
    for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
        if (topology.is_switch({node})) {
            continue;
        }
        if (!first_host) {
            first_host = NodeIndex{node};
            continue;
        }
        // Cables carry both ways.
        if (topology.ways_to({node}, unused)[first_host->value].empty()) {
            return NodeIndex{node};
        }
    }
    return std::nullopt;
}

/// Calls `look` with the cables that are cut after each beginning and end of a cut.
void at_each_change(std::span<const Disturbance> disturbances, const packet::Topology& topology,
                    const DeviceNames& names,
                    const std::function<void(const Disturbance*, const std::vector<bool>&)>& look) {
    std::set<core::Instant> times;
    std::vector<std::pair<const Disturbance*, std::vector<CableIndex>>> cuts;
    for (const Disturbance& disturbance : disturbances) {
        if (disturbance.kind == Kind::cut_link || disturbance.kind == Kind::cut_switch) {
            cuts.emplace_back(&disturbance, failure_of(disturbance, topology, names).cables);
            times.insert(disturbance.at);
            if (disturbance.length != core::Duration::max()) {
                times.insert(disturbance.at + disturbance.length);
            }
        }
    }
    for (const core::Instant time : times) {
        std::vector<bool> unused(topology.links().size() / 2);
        const Disturbance* latest = nullptr;
        for (const auto& [cut, cables] : cuts) {
            const bool lasts =
                cut->at <= time && (cut->length == core::Duration::max() || time < cut->at + cut->length);
            if (!lasts) {
                continue;
            }
            latest = latest == nullptr || cut->at >= latest->at ? cut : latest;
            for (const CableIndex cable : cables) {
                unused[cable] = true;
            }
        }
        if (latest != nullptr) {
            look(latest, unused);
        }
    }
}

}  // namespace

packet::FabricFailure failure_of(const Disturbance& disturbance, const packet::Topology& topology,
                                 const DeviceNames& names) {
    using packet::FabricFailure;
    const auto device = [&](bool is_switch) {
        const std::optional<NodeIndex> found = names.find(disturbance.place);
        if (!found || topology.is_switch(*found) != is_switch) {
            throw std::invalid_argument(fmt::format("there is no {} '{}'; there are {}",
                                                    is_switch ? "switch" : "host", disturbance.place,
                                                    names.examples()));
        }
        return *found;
    };
    switch (disturbance.kind) {
        case Kind::cut_link:
            return {.kind = FabricFailure::Kind::cut, .cables = names.cables(disturbance.place)};
        case Kind::cut_switch:
            return {.kind = FabricFailure::Kind::cut, .cables = names.cables(device(true))};
        case Kind::storm:
            return {.kind = FabricFailure::Kind::storm, .host = device(false)};
        case Kind::errors:
            return {.kind = FabricFailure::Kind::errors,
                    .cables = names.cables(disturbance.place),
                    .share = disturbance.factor};
        default:
            break;
    }
    FabricFailure failure{.kind = FabricFailure::Kind::slow, .cables = names.cables(disturbance.place)};
    failure.share = share_of_rate(disturbance, topology, failure.cables);
    return failure;
}

void check_network_failures(const core::Plan& plan, const core::NetworkPlan& network,
                            std::span<const Disturbance> disturbances) {
    const auto first = std::find_if(disturbances.begin(), disturbances.end(),
                                    [](const Disturbance& one) { return is_of_network(one.kind); });
    if (first == disturbances.end()) {
        return;
    }
    if (!core::has_fabric(network)) {
        refuse(*first, "needs --network packet, or with fluid the fabric of a --switch");
    }
    const core::Placement placement(network, plan.producers, plan.consumers, plan.seed);
    const packet::Topology topology = topology_of(plan, network, placement);
    const DeviceNames names = device_names(topology, network, placement);
    for (const Disturbance& disturbance : disturbances) {
        if (!is_of_network(disturbance.kind)) {
            continue;
        }
        try {
            failure_of(disturbance, topology, names);
        } catch (const std::invalid_argument& error) {
            refuse(disturbance, error.what());
        }
        const bool fluid = network.model == core::NetworkModel::fluid;
        if (fluid && (disturbance.kind == Kind::storm || disturbance.kind == Kind::errors)) {
            refuse(disturbance, "a fluid has no packets that are lost or paused; needs --network packet");
        }
        if (disturbance.kind == Kind::storm && network.fabric.switches.lossless == 0) {
            refuse(disturbance, "without flow control pauses have no effect; needs --pfc on");
        }
    }
    at_each_change(
        disturbances, topology, names, [&](const Disturbance* latest, const std::vector<bool>& unused) {
            const std::optional<NodeIndex> host = cut_off(topology, unused);
            const bool wanted = std::any_of(disturbances.begin(), disturbances.end(),
                                            [](const auto& one) { return one.disconnects; });
            if (host && !wanted) {
                refuse(*latest, fmt::format("leaves {} without a way to {}; if that is the purpose, "
                                            "add ,disconnects",
                                            names.name(*host), names.name(NodeIndex{0})));
            }
        });
}

std::vector<std::string> possible_deadlocks(const core::Plan& plan, const core::NetworkPlan& network,
                                            std::span<const Disturbance> disturbances) {
    std::vector<std::string> found;
    if (network.model != core::NetworkModel::packet || network.fabric.switches.lossless == 0) {
        return found;
    }
    const core::Placement placement(network, plan.producers, plan.consumers, plan.seed);
    const packet::Topology topology = topology_of(plan, network, placement);
    const DeviceNames names = device_names(topology, network, placement);
    const auto look = [&](const Disturbance* cut, const std::vector<bool>& unused) {
        std::vector<std::string> links;
        for (const LinkIndex link : packet::buffer_cycle(topology, unused)) {
            links.push_back(names.link_name(link));
        }
        if (!links.empty()) {
            found.push_back(
                fmt::format("a deadlock is possible{}: with flow control {} can wait for each "
                            "other in a circle",
                            cut == nullptr ? std::string{} : fmt::format(" after {}", cut->text),
                            fmt::join(links, ", ")));
        }
    };
    look(nullptr, {});
    at_each_change(disturbances, topology, names, look);
    return found;
}

}  // namespace weir::simulation
