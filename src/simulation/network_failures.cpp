#include "simulation/network_failures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>

#include "files/formatting.hpp"

namespace weir::simulation {

using packet::CableIndex;
using packet::LinkIndex;
using packet::NodeIndex;

namespace {

record::LostPackets lost(const packet::Carried& packets) {
    return {packets.packets, {static_cast<std::int64_t>(packets.bytes)}};
}

std::string name_of(packet::NetworkEvent::Kind kind) {
    using enum packet::NetworkEvent::Kind;
    switch (kind) {
        case converged:
            return "converged";
        case detected:
            return "storm-detected";
        case restored:
            return "storm-restored";
        case deadlocked:
            return "deadlocked";
        case resolved:
            break;
    }
    return "deadlock-resolved";
}

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
            fmt::format("to= is above the {} of the link; write less", files::exact(rate)));
    }
    return static_cast<double>(disturbance.to.bits_per_second) / static_cast<double>(rate.bits_per_second);
}

/// The first host that has no way to the first of all. Cables carry both ways.
std::optional<NodeIndex> cut_off(const packet::Topology& topology, const std::vector<bool>& unused) {
    std::vector<std::vector<LinkIndex>> ways;
    for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
        if (topology.is_switch({node})) {
            continue;
        }
        if (ways.empty()) {
            ways = topology.ways_to({node}, unused);
        } else if (ways[node].empty()) {
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

FailureAccount::FailureAccount(const packet::Topology& topology, packet::PacketNetwork& network,
                               const DeviceNames& names, const core::NetworkPlan& plan, core::Instant begin)
    : topology_(topology),
      network_(network),
      names_(names),
      watchdog_(plan.fabric.switches.watchdog.on),
      begin_(begin),
      even_loads_(2 * topology.parallel_links().size(), {core::packet_shape(plan).payload}) {
    for (const std::vector<packet::LinkIndex>& links : topology.parallel_links()) {
        std::vector<packet::CableIndex> cables(links.size());
        std::transform(links.begin(), links.end(), cables.begin(),
                       [](packet::LinkIndex link) { return link / 2; });
        cables_.insert(cables_.end(), 2, cables);  // what is sent on them, and what comes
    }
    look_at_routes();
}

void FailureAccount::look_at_routes() {
    routed_.clear();
    for (const std::vector<packet::CableIndex>& cables : cables_) {
        std::vector<bool>& routed = routed_.emplace_back();
        for (const packet::CableIndex cable : cables) {
            routed.push_back(network_.routes_use(cable));
        }
    }
}

std::vector<std::size_t> FailureAccount::groups_with(const std::vector<packet::CableIndex>& cables) const {
    std::vector<std::size_t> groups;
    for (std::size_t group = 0; group < cables_.size(); ++group) {
        if (std::find_first_of(cables_[group].begin(), cables_[group].end(), cables.begin(), cables.end()) !=
            cables_[group].end()) {
            groups.push_back(group);
        }
    }
    return groups;
}

void FailureAccount::close_row(core::Instant begin, core::Instant now,
                               const record::ParallelLinkLoads& loads) {
    std::vector<std::optional<double>> indices;
    for (std::size_t group = 0; group < cables_.size(); ++group) {
        const std::vector<double> of_links = loads.loads(group);
        std::vector<double> routed;
        for (std::size_t link = 0; link < of_links.size(); ++link) {
            if (routed_[group][link]) {
                routed.push_back(of_links[link]);
            }
        }
        indices.push_back(even_loads_.index_of(routed));
    }
    even_loads_.add_row(begin, now, indices);
    const std::vector<std::vector<bool>> before = routed_;
    look_at_routes();
    for (std::size_t group = 0; group < cables_.size(); ++group) {
        for (std::size_t link = 0; link < cables_[group].size(); ++link) {
            if (before[group][link] && !routed_[group][link]) {
                follow_routes(cables_[group][link], group, begin, now);
            }
        }
    }
}

void FailureAccount::follow_routes(packet::CableIndex cable, std::size_t group, core::Instant begin,
                                   core::Instant now) {
    for (const auto& [number, asked] : asked_) {
        if (std::find(asked.cables.begin(), asked.cables.end(), cable) != asked.cables.end()) {
            even_loads_.follow_routes(number, group, begin, now);
        }
    }
}

void FailureAccount::set(core::Instant now, std::uint32_t number, const Disturbance& disturbance, bool on) {
    const auto [known, added] = asked_.try_emplace(number);
    Asked& asked = known->second;
    if (added) {
        packet::FabricFailure failure = failure_of(disturbance, topology_, names_);
        even_loads_.begin(number, now, groups_with(failure.cables));
        asked = {.text = disturbance.text, .cables = failure.cables, .begin = now};
        asked.failure = network_.add_failure(std::move(failure));
    }
    if (!on) {
        asked.end = now;
        even_loads_.end(number, now);
    }
    network_.set_failed(packet::Picoseconds::of(now - begin_), asked.failure, on);
}

record::SwitchEvent FailureAccount::event_of(const packet::NetworkEvent& event) const {
    record::SwitchEvent made{.at = instant(event.at), .what = name_of(event.kind)};
    if (event.link != packet::NetworkEvent::no_link) {
        made.link = names_.link_name(event.link);
        made.priority = event.priority;
    }
    for (const packet::LinkIndex link : event.cycle) {
        made.cycle.push_back(names_.link_name(link));
    }
    return made;
}

record::NetworkFailures FailureAccount::report(core::Instant now) const {
    record::NetworkFailures report;
    for (const auto& [number, asked] : asked_) {
        const packet::FailureCosts costs =
            network_.failure_costs(asked.failure, packet::Picoseconds::of(now - begin_));
        report.failures.push_back({.fault = asked.text,
                                   .begin = asked.begin,
                                   .end = asked.end,
                                   .on_links = lost(costs.on_links),
                                   .in_queues = lost(costs.in_queues),
                                   .sent_to_cut = lost(costs.sent_to_cut),
                                   .without_way = lost(costs.without_way),
                                   .by_errors = lost(costs.by_errors),
                                   .gaps = costs.gaps,
                                   .open_gaps = costs.open_gaps,
                                   .longest_gap = core::Duration{costs.longest_gap.count / 1000},
                                   .loads_even_after = even_loads_.even_after(number)});
    }
    report.watchdog = watchdog_;
    report.storms_detected = network_.watchdogs().detected;
    report.storms_restored = network_.watchdogs().restored;
    report.dropped_by_watchdog = lost(network_.watchdogs().dropped);
    for (const packet::LinkIndex link : network_.possible_deadlock()) {
        report.possible_deadlock.push_back(names_.link_name(link));
    }
    for (const packet::NetworkEvent& event : network_.network_events()) {
        if (report.events.size() < record::NetworkFailures::most_listed) {
            report.events.push_back(event_of(event));
        }
    }
    return report;
}

}  // namespace weir::simulation
