#include "simulation/failure_account.hpp"

#include <algorithm>

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

void FailureAccount::set(core::Instant now, std::uint32_t number, const Disturbance& disturbance, bool on) {
    const auto [known, added] = asked_.try_emplace(number);
    Asked& asked = known->second;
    if (added) {
        asked = {network_.add_failure(failure_of(disturbance, topology_, names_)), disturbance.text, now, {}};
    }
    if (!on) {
        asked.end = now;
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
                                   .longest_gap = core::Duration{costs.longest_gap.count / 1000}});
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
