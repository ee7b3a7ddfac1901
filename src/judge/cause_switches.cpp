#include "judge/cause_switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "files/formatting.hpp"
#include "judge/cause_links.hpp"
#include "record/switch_counters.hpp"

namespace weir::judge {

namespace {

// Of the measured time, or of what a cable can carry in it; bench/study causes has none near these.
constexpr double full = 0.9;
constexpr double of_others_min = 0.1;
constexpr double open = 0.8;
constexpr double paused_min = 0.05;
constexpr double standing = 0.4;  ///< a queue is on average so much of its peak

/// A port, in the direction away from its switch.
struct CountedPort {
    std::string from;  ///< the switch
    const record::SwitchPort* port = nullptr;
    double use = 0;         ///< share of what the cable can carry
    double use_by_run = 0;  ///< by packets of data
    double paused = 0;      ///< share of the time, of data
    double queue_mean_bytes = 0;
    double queue_peak_bytes = 0;

    [[nodiscard]] bool leads_to_switch() const { return port->ranks.empty(); }
    [[nodiscard]] std::string way() const { return fmt::format("{} to {}", from, port->peer); }
    /// For how long data waited, at the speed of the cable.
    [[nodiscard]] double longest_wait_s() const {
        return 8 * queue_peak_bytes / static_cast<double>(port->rate.bits_per_second);
    }
    /// The same at the rate that it carried, where the queue never empties: that of a cable slower than it
    /// says.
    [[nodiscard]] double longest_wait_if_slow_s() const {
        const bool stands = queue_mean_bytes >= standing * queue_peak_bytes;
        return stands && use > 0 ? longest_wait_s() / use : longest_wait_s();
    }
};

std::vector<CountedPort> ports_of(const HeldRun& run) {
    const record::SwitchTotals& switches = *run.facts.switches;
    const core::Priority data = run.facts.simulated->fabric.data_priority;
    std::map<std::pair<std::string, std::uint32_t>, CountedPort> ports;
    for (const auto& [key, totals] : switches.ports) {
        CountedPort& port = ports[{std::get<0>(key), std::get<1>(key)}];
        port.from = std::get<0>(key);
        port.port = &totals.port;
        const double use = totals.use(switches.measured);
        port.use += use;
        if (std::get<2>(key) == data) {
            port.use_by_run = use;
            port.paused = fraction(totals.row.paused, switches.measured);
            port.queue_mean_bytes = totals.queue_byte_seconds / switches.measured.in_seconds();
            port.queue_peak_bytes = static_cast<double>(totals.row.queue_peak.count);
        }
    }
    std::vector<CountedPort> list;
    list.reserve(ports.size());
    for (auto& [key, port] : ports) {
        list.push_back(std::move(port));
    }
    return list;
}

/// The longest wait of those that fit; nullptr: none does.
template <typename Fits>
const CountedPort* longest_of(const std::vector<CountedPort>& ports, Fits fits) {
    const CountedPort* longest = nullptr;
    for (const CountedPort& port : ports) {
        if (fits(port) && (longest == nullptr || port.longest_wait_s() > longest->longest_wait_s())) {
            longest = &port;
        }
    }
    return longest;
}

std::optional<NamedCause> full_with_others(const HeldRun& run, const std::vector<CountedPort>& ports) {
    const CountedPort* const port = longest_of(ports, [](const CountedPort& one) {
        return one.use >= full && one.use - one.use_by_run >= of_others_min;
    });
    if (port == nullptr) {
        return std::nullopt;
    }
    return cause_of(CauseKind::other_traffic, run.held.owners.network,
                    fmt::format("others used {} of the cable from {}, and this run the rest.",
                                files::percent(port->use - port->use_by_run), port->way()),
                    "move that traffic away, give it a lower priority, or use faster cables");
}

std::optional<NamedCause> full_between_switches(const HeldRun& run, const std::vector<CountedPort>& ports) {
    const CountedPort* const port =
        longest_of(ports, [](const CountedPort& one) { return one.leads_to_switch() && one.use >= full; });
    if (port == nullptr) {
        return std::nullopt;
    }
    return cause_of(
        CauseKind::uplinks, run.held.owners.network,
        fmt::format("the cable from {} was used {} of the time, and data waited there for up to {}.",
                    port->way(), files::percent(port->use), files::seconds_text(port->longest_wait_s())),
        "use faster cables between switches, or more of them");
}

/// A queue that never empties before a cable between switches that has room by its nominal speed.
std::optional<NamedCause> slower_than_it_says(const HeldRun& run, const std::vector<CountedPort>& ports) {
    const CountedPort* const port = longest_of(ports, [](const CountedPort& one) {
        return one.leads_to_switch() && one.use < open && one.paused < paused_min &&
               one.queue_peak_bytes > 0 && one.queue_mean_bytes >= standing * one.queue_peak_bytes &&
               one.longest_wait_s() >= 100e-6;
    });
    if (port == nullptr) {
        return std::nullopt;
    }
    return cause_of(CauseKind::network_failure, run.held.owners.network,
                    fmt::format("data waited all the time before the cable from {}, for up to {}, and it "
                                "carried only {} of its {}.",
                                port->way(), files::seconds_text(port->longest_wait_s()),
                                files::percent(port->use), files::readable(port->port->rate)),
                    "look at this cable, and at both of its ports: it is slower than it says");
}

std::optional<NamedCause> paused_by_host(const HeldRun& /*run*/, const std::vector<CountedPort>& ports) {
    const CountedPort* most = nullptr;
    for (const CountedPort& port : ports) {
        if (!port.leads_to_switch() && port.paused >= paused_min &&
            (most == nullptr || port.paused > most->paused)) {
            most = &port;
        }
    }
    if (most == nullptr) {
        return std::nullopt;
    }
    return cause_of(CauseKind::network_failure, most->paused,
                    fmt::format("{} paused its port of {} for {} of the time.", most->port->peer, most->from,
                                files::percent(most->paused)),
                    "look at this host and its NIC, and let switches have a watchdog for pauses");
}

/// Packets that were sent again, though no switch dropped any and none waited for as long as senders wait for
/// an acknowledgement.
std::optional<NamedCause> lost_on_cables(const HeldRun& run, const std::vector<CountedPort>& ports) {
    const record::LossReactions& reactions = run.facts.switches->reactions;
    const bool dropped = std::any_of(run.facts.switches->ports.begin(), run.facts.switches->ports.end(),
                                     [](const auto& port) { return port.second.row.dropped_packets > 0; });
    const core::NicPlan& nics = run.facts.simulated->fabric.nics;
    const core::Duration waits =
        nics.recovery == core::LossRecovery::selective ? nics.selective_timeout_high : nics.ack_timeout;
    const bool has_cables =
        std::any_of(ports.begin(), ports.end(), [](const CountedPort& one) { return one.leads_to_switch(); });
    const bool waited = std::any_of(ports.begin(), ports.end(), [&](const CountedPort& one) {
        return one.longest_wait_if_slow_s() >= waits.in_seconds() / 2;
    });
    if (reactions.packets_sent_again == 0 || dropped || waited || !has_cables) {
        return std::nullopt;
    }
    return cause_of(
        CauseKind::network_failure, run.held.owners.network,
        fmt::format("{} were sent again, and no switch dropped any: cables or network cards lost them.",
                    files::counted(reactions.packets_sent_again, "packet")),
        "look at cables and transceivers, and at the errors that ports between switches count");
}

}  // namespace

std::optional<NamedCause> between_hosts(const HeldRun& run) {
    if (run.facts.switches == nullptr || run.facts.simulated == nullptr || !is_for_links(run) ||
        run.facts.switches->measured <= core::Duration{}) {
        return std::nullopt;
    }
    const std::vector<CountedPort> ports = ports_of(run);
    for (const auto rule :
         {full_with_others, full_between_switches, slower_than_it_says, paused_by_host, lost_on_cables}) {
        if (auto cause = rule(run, ports)) {
            return cause;
        }
    }
    return std::nullopt;
}

}  // namespace weir::judge
