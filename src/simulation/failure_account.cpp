#include "simulation/failure_account.hpp"

#include <algorithm>
#include <utility>

#include "simulation/network_failures.hpp"

namespace weir::simulation {

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

}  // namespace

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
