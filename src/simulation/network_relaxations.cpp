// What a simulated network may be without, what it may have more of, and faster links and cables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/fabric_layout.hpp"
#include "core/network_plan.hpp"
#include "files/formatting.hpp"
#include "simulation/relaxations.hpp"

namespace weir::simulation {

namespace {

using core::BitRate;
using files::readable;
using judge::CauseKind;
using Options = std::vector<judge::RemedyOption>;

constexpr std::size_t most_own = 8;  ///< links of ranks, or cables, that are relaxed one by one

// What can be left out.

void use_no_control(SimulatedRun& changed) {
    core::NicPlan& nics = changed.network.fabric.nics;
    nics.control = core::PairControl::dcqcn;
    nics.dcqcn.on = false;
}

/// Of queue pairs, what may not let them send though they have something to send.
void add_windows(const core::NicPlan& nics, std::vector<Relaxation>& table) {
    if (nics.window.count > 0) {
        table.push_back(without(CauseKind::window,
                                {[](SimulatedRun& changed) { changed.network.fabric.nics.window = {}; },
                                 "without a window of the network cards",
                                 "use network cards without a window (switch file: [nic] window)"}));
    }
    if (nics.control == core::PairControl::swift) {
        table.push_back(without(CauseKind::window, {use_no_control, "without Swift's windows",
                                                    "use network cards without Swift"}));
    }
    if (nics.control == core::PairControl::credits) {
        table.push_back(without(CauseKind::window, {use_no_control, "without credits of receivers",
                                                    "use network cards without credits of receivers"}));
    }
}

void leave_out_others(SimulatedRun& changed) {
    core::FabricPlan& fabric = changed.network.fabric;
    fabric.background.rate = {};
    for (core::TrafficClass& one : fabric.classes) {
        one.traffic.rate = {};
    }
}

/// What slows senders down after marks or losses: of control messages, too.
void add_slowing(const core::NetworkPlan& network, std::vector<Relaxation>& table) {
    const core::FabricPlan& fabric = network.fabric;
    if (!(network.framing == core::Framing::tcp ? fabric.tcp.ecn : fabric.nics.dcqcn.on)) {
        return;
    }
    const auto apply = [](SimulatedRun& changed) {
        core::FabricPlan& relaxed = changed.network.fabric;
        relaxed.switches.ecn.on = false;
        relaxed.nics.dcqcn.on = false;
    };
    if (fabric.switches.ecn.on) {
        table.push_back(without(
            CauseKind::ecn,
            {apply, "without marks and notifications", "switch ECN off (--ecn off)", {{"ecn", "off"}}}));
    } else {
        table.push_back(
            without(CauseKind::ecn, {apply, "without notifications of losses",
                                     "use network cards that losses do not slow down (switch file: [dcqcn] "
                                     "notify-losses)"}));
    }
}

void add_held_back(const SimulatedRun& run, std::vector<Relaxation>& table) {
    const core::FabricPlan& fabric = run.network.fabric;
    if (fabric.of_others().bits_per_second > 0) {
        table.push_back(without(CauseKind::other_traffic, {leave_out_others, "without the traffic of others",
                                                           "keep the traffic of others off these links, or "
                                                           "give data a class that goes before it (switch "
                                                           "file: rate, strict)"}));
    }
    if (core::has_queue_pairs(run.run.plan, run.network)) {
        add_windows(fabric.nics, table);
    }
    if (fabric.switches.lossless != 0) {
        table.push_back(without(CauseKind::pfc, {[](SimulatedRun& changed) {
                                                     core::FabricPlan& relaxed = changed.network.fabric;
                                                     relaxed.switches.lossless = 0;
                                                     relaxed.switches.pauses_whole_links = false;
                                                     relaxed.hosts.pause_above = 0;
                                                 },
                                                 "without flow control",
                                                 "switch PFC off (--pfc off)",
                                                 {{"pfc", "off"}}}));
    }
    add_slowing(run.network, table);
}

/// Where flows take one of several ways between switches each.
void add_spreading(const SimulatedRun& run, std::vector<Relaxation>& table) {
    const core::FabricPlan& fabric = run.network.fabric;
    const core::TopologyPlan& topology = fabric.topology;
    const bool several_ways =
        topology.kind == core::TopologyKind::three_tier ||
        (topology.kind != core::TopologyKind::star && topology.spines * topology.uplinks > 1);
    if (!core::has_fabric(run.network) || !several_ways || fabric.switches.balancing.spreads_fluid()) {
        return;
    }
    // With NICs that know only order, packets that overtake each other would be sent again.
    const bool keeps = core::has_queue_pairs(run.run.plan, run.network) && fabric.nics.reorder.count == 0;
    static constexpr core::Bytes reorder_room{1'000'000};
    table.push_back(without(CauseKind::uplinks,
                            {[keeps](SimulatedRun& changed) {
                                 changed.network.fabric.switches.balancing.kind = core::BalancingKind::spray;
                                 if (keeps) {
                                     changed.network.fabric.nics.reorder = reorder_room;
                                 }
                             },
                             "with packets spread evenly over all ways between switches",
                             fmt::format("spread packets over all ways ([balancing] kind = \"spray\"{})",
                                         keeps ? ", [nic] reorder = \"1MB\"" : "")}));
}

// Memory.

/// As options have it.
std::string power_of_two_text(core::Bytes size) {
    constexpr std::int64_t kibi = 1024;
    return size.count % (kibi * kibi) == 0 ? fmt::format("{}MiB", size.count / (kibi * kibi))
           : size.count % kibi == 0        ? fmt::format("{}KiB", size.count / kibi)
                                           : fmt::format("{}B", size.count);
}

/// More of what holds packets, which is the memory that ports share, or the size of a port's queues.
RelaxedStep larger_switch(const core::NetworkPlan& network, std::int64_t factor) {
    const core::SwitchPlan& now = network.fabric.switches;
    const bool shared = now.pool < core::endless_pool;
    const auto apply = [factor, shared](SimulatedRun& changed) {
        core::SwitchPlan& switches = changed.network.fabric.switches;
        switches.pool = switches.pool * (shared ? factor : 1);
        switches.egress_pool = switches.egress_pool * factor;
        switches.egress_threshold = switches.egress_threshold * factor;
        switches.ingress_threshold = switches.ingress_threshold * factor;
    };
    const core::Bytes queue = now.egress_threshold * factor;
    if (!shared) {
        return {apply,
                fmt::format("with {} for each queue of a switch port instead of {}", power_of_two_text(queue),
                            power_of_two_text(now.egress_threshold)),
                fmt::format("use --port-buffer {} instead of {}", power_of_two_text(queue),
                            power_of_two_text(now.egress_threshold)),
                {{"port-buffer", power_of_two_text(queue)}}};
    }
    std::string with = fmt::format("with {} of memory in a switch instead of {}", readable(now.pool * factor),
                                   readable(now.pool));
    std::string remedy = fmt::format("use switches with {} of memory instead of {}",
                                     readable(now.pool * factor), readable(now.pool));
    if (queue.count > 0) {
        const std::string queues = fmt::format(" and {} for a queue of a port", readable(queue));
        with += queues;
        remedy += queues + " (switch file: pool, egress-threshold)";
    }
    return {apply, std::move(with), std::move(remedy)};
}

/// Of receiving hosts: packets in rings of NICs, datagrams in sockets.
void add_room_of_hosts(const core::HostPlan& hosts, std::vector<Relaxation>& table) {
    const bool takes_time = hosts.receive_time.ns + hosts.interrupt_delay.ns > 0 ||
                            hosts.receive_rate.bits_per_second > 0;  // else no packet waits in a ring
    constexpr std::uint32_t factors[] = {2, 4, 16, 64};
    if (hosts.ring_packets > 0 && takes_time) {
        table.push_back(in_steps(CauseKind::host_loss, factors, [&](std::uint32_t factor) -> RelaxedStep {
            const std::uint32_t wanted = hosts.ring_packets * factor;
            return {[wanted](SimulatedRun& changed) { changed.network.fabric.hosts.ring_packets = wanted; },
                    fmt::format("with room for {} packets in the receive rings of hosts instead of {}",
                                wanted, hosts.ring_packets),
                    fmt::format("use receive rings of {} packets on hosts instead of {} (switch file: "
                                "[host] ring-packets)",
                                wanted, hosts.ring_packets)};
        }));
    }
    if (hosts.socket_buffer.count > 0) {
        table.push_back(in_steps(CauseKind::host_loss, factors, [&](std::uint32_t factor) -> RelaxedStep {
            const core::Bytes wanted = hosts.socket_buffer * factor;
            return {[wanted](SimulatedRun& changed) { changed.network.fabric.hosts.socket_buffer = wanted; },
                    fmt::format("with sockets that hold {} instead of {}", readable(wanted),
                                readable(hosts.socket_buffer)),
                    fmt::format("use sockets that hold {} instead of {} (--socket-buffer)", readable(wanted),
                                readable(hosts.socket_buffer))};
        }));
    }
}

// Links of ranks.

constexpr BitRate fastest_fluid_link{1'000'000'000'000};
/// A short packet takes two nanoseconds there; time has no finer steps than one.
constexpr BitRate fastest_packet_link{400'000'000'000};

constexpr double faster[] = {1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.75, 2,  2.25,
                             2.5,  3,   3.5,  4,   5,    6,   8,   10,  15,  20,   30, 100};
/// A single link may be as good as cut.
constexpr double much_faster[] = {300, 1000, 3000};

/// With two significant digits, upwards: where the rate itself is advised.
BitRate times(BitRate rate, double factor) {
    return {rounded_up(static_cast<double>(rate.bits_per_second) * factor, 2)};
}

/// Where the factor is.
BitRate exactly_times(BitRate rate, double factor) {
    return {std::llround(static_cast<double>(rate.bits_per_second) * factor)};
}

/// Those that give different rates, up to the fastest link: of one that is nearly as fast, up to four times.
std::vector<double> factors_for(const core::NetworkPlan& network, BitRate now, bool single = false) {
    const BitRate fastest =
        network.model == core::NetworkModel::packet ? fastest_packet_link : fastest_fluid_link;
    std::vector<double> factors;
    BitRate last = now;
    std::vector<double> all(std::begin(faster), std::end(faster));
    if (single) {
        all.insert(all.end(), std::begin(much_faster), std::end(much_faster));
    }
    for (const double factor : all) {
        const BitRate wanted = times(now, factor);
        if (wanted > last && (wanted <= fastest || factor <= 4)) {
            factors.push_back(factor);
            last = wanted;
        }
    }
    return factors;
}

/// Faster ports need more headroom: the memory grows by that, so that what ports share, a limit of its own,
/// stays as it is.
template <typename Change>
auto keeping_shared_memory(const Change& change) {
    return [change](SimulatedRun& changed) {
        const core::Plan& plan = changed.run.plan;
        core::NetworkPlan& network = changed.network;
        const auto headroom = [&] {
            return network.model == core::NetworkModel::packet
                       ? core::largest_headroom(network, plan.producers, plan.consumers).count
                       : 0;
        };
        const std::int64_t before = headroom();
        change(network);
        network.fabric.switches.pool.count += headroom() - before;
    };
}

/// Those that are slower than usual, the slowest first; by their place.
template <typename Own, typename Usual>
std::vector<std::size_t> slowest_first(const std::vector<Own>& own, const Usual& usual) {
    std::vector<std::size_t> slow;
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (own[i].rate < usual(own[i])) {
            slow.push_back(i);
        }
    }
    std::stable_sort(slow.begin(), slow.end(),
                     [&](std::size_t a, std::size_t b) { return own[a].rate < own[b].rate; });
    return slow;
}

/// The links of a role: where NetworkPlan has them, and how they are called.
struct Links {
    CauseKind what;
    core::Role role;
    BitRate core::NetworkPlan::* usual;
    std::vector<core::OwnLinks> core::NetworkPlan::* own;
    std::string_view whose;  ///< "consumers'"
    const char* option;      ///< "consumer-link"
};
constexpr Links links_of_role[] = {
    {CauseKind::producer_links, core::Role::producer, &core::NetworkPlan::producer_link,
     &core::NetworkPlan::own_producer_links, "producers'", "producer-link"},
    {CauseKind::consumer_links, core::Role::consumer, &core::NetworkPlan::consumer_link,
     &core::NetworkPlan::own_consumer_links, "consumers'", "consumer-link"}};

Relaxation faster_links(const core::NetworkPlan& network, const Links& links) {
    const BitRate now = network.*links.usual;
    const bool all_alike = (network.*links.own).empty();
    return in_steps(links.what, factors_for(network, now), [&](double factor) -> RelaxedStep {
        const BitRate wanted = times(now, factor);
        const std::string faster_ones =
            all_alike
                ? fmt::format("{} links of {} instead of {}", links.whose, readable(wanted), readable(now))
                : fmt::format("{} links {} times as fast", links.whose, factor);
        return {keeping_shared_memory([wanted, factor, links](core::NetworkPlan& changed) {
                    std::vector<core::OwnLinks>& own = changed.*links.own;
                    changed.*links.usual = own.empty() ? wanted : exactly_times(changed.*links.usual, factor);
                    for (core::OwnLinks& some : own) {
                        some.rate = exactly_times(some.rate, factor);
                    }
                }),
                "with " + faster_ones, fmt::format("use {} (--{})", faster_ones, links.option),
                all_alike ? Options{{links.option, files::exact(wanted)}} : Options{}};
    });
}

std::string owners(const core::OwnLinks& some, core::Role role) {
    return some.first == some.last
               ? files::node_text({role, some.first})
               : fmt::format("{}s {} to {}", core::role_name(role), some.first, some.last);
}

/// For ranks whose links are slower than those of the others.
void add_own_links(const core::NetworkPlan& network, const Links& links, std::vector<Relaxation>& table) {
    const std::vector<core::OwnLinks>& own = network.*links.own;
    std::vector<std::size_t> slow = slowest_first(own, [&](const auto&) { return network.*links.usual; });
    slow.resize(std::min(slow.size(), most_own));
    for (const std::size_t index : slow) {
        const core::OwnLinks& some = own[index];
        const std::string who = owners(some, links.role);
        table.push_back(
            in_steps(links.what, factors_for(network, some.rate, true), [&](double factor) -> RelaxedStep {
                const BitRate wanted = times(some.rate, factor);
                return {
                    keeping_shared_memory([wanted, index, member = links.own](core::NetworkPlan& changed) {
                        (changed.*member)[index].rate = wanted;
                    }),
                    fmt::format("with a link of {} for {} instead of {}", readable(wanted), who,
                                readable(some.rate)),
                    fmt::format("use a link of {} for {} instead of {} (--{})", readable(wanted), who,
                                readable(some.rate), links.option)};
            }));
        if (some.first == some.last) {
            table.back().where = core::NodeId{links.role, some.first};
        }
    }
}

// Cables between switches.

BitRate usual_rate(const core::TopologyPlan& topology, const core::OwnCables& own) {
    return own.upper.tier == core::Tier::core ? topology.core_rate : topology.uplink_rate;
}

std::function<void(SimulatedRun&)> faster_cables(std::vector<std::size_t> which, double factor) {
    return keeping_shared_memory([which = std::move(which), factor](core::NetworkPlan& changed) {
        const auto new_rate = which.size() == 1 ? times : exactly_times;
        for (const std::size_t index : which) {
            BitRate& rate = changed.fabric.topology.own_cables[index].rate;
            rate = new_rate(rate, factor);
        }
    });
}

Relaxation faster_cable(const core::NetworkPlan& network, std::size_t index) {
    const core::OwnCables& own = network.fabric.topology.own_cables[index];
    const std::string name = fmt::format("{}:{}", core::switch_text(own.lower), core::switch_text(own.upper));
    return in_steps(CauseKind::uplinks, factors_for(network, own.rate), [&](double factor) -> RelaxedStep {
        const std::string wanted = readable(times(own.rate, factor));
        return {faster_cables({index}, factor),
                fmt::format("with {} on the cable {} instead of {}", wanted, name, readable(own.rate)),
                fmt::format("use {} on the cable {} instead of {} ([topology] own-rates)", wanted, name,
                            readable(own.rate))};
    });
}

Relaxation faster_own_cables(const core::NetworkPlan& network, const std::vector<std::size_t>& slow) {
    const BitRate slowest = network.fabric.topology.own_cables[slow.front()].rate;
    return in_steps(CauseKind::uplinks, factors_for(network, slowest), [&](double factor) -> RelaxedStep {
        const std::string as_fast = fmt::format("slow cables {} times as fast", factor);
        return {faster_cables(slow, factor), "with " + as_fast, "use " + as_fast + " ([topology] own-rates)"};
    });
}

/// All that have no speed of their own.
Relaxation faster_uplinks(const core::NetworkPlan& network) {
    const BitRate now = network.fabric.topology.uplink_rate;
    const bool all_alike = network.fabric.topology.kind != core::TopologyKind::three_tier;
    return in_steps(CauseKind::uplinks, factors_for(network, now), [&](double factor) -> RelaxedStep {
        const std::string as_fast = all_alike
                                        ? fmt::format("cables between switches of {} instead of {}",
                                                      readable(times(now, factor)), readable(now))
                                        : fmt::format("cables between switches {} times as fast", factor);
        return {keeping_shared_memory([factor, all_alike](core::NetworkPlan& changed) {
                    core::TopologyPlan& topology = changed.fabric.topology;
                    topology.uplink_rate = (all_alike ? times : exactly_times)(topology.uplink_rate, factor);
                    topology.core_rate = exactly_times(topology.core_rate, factor);
                }),
                "with " + as_fast,
                "use " + as_fast +
                    (all_alike ? " (--switch-set topology.uplink-rate)"
                               : " ([topology] uplink-rate, core-rate)")};
    });
}

}  // namespace

std::vector<Relaxation> network_relaxations(const SimulatedRun& run) {
    std::vector<Relaxation> table;
    if (run.network.model == core::NetworkModel::packet) {
        add_held_back(run, table);
    }
    add_spreading(run, table);
    return table;
}

std::vector<Relaxation> own_link_relaxations(const core::NetworkPlan& network) {
    std::vector<Relaxation> table;
    for (const Links& links : links_of_role) {
        add_own_links(network, links, table);
    }
    return table;
}

std::vector<Relaxation> memory_relaxations(const SimulatedRun& run) {
    std::vector<Relaxation> table;
    if (run.network.model == core::NetworkModel::packet) {
        constexpr std::int64_t factors[] = {2, 4, 8, 16, 32, 100};
        table.push_back(in_steps(CauseKind::switch_loss, factors,
                                 [&](std::int64_t factor) { return larger_switch(run.network, factor); }));
        add_room_of_hosts(run.network.fabric.hosts, table);
    }
    return table;
}

std::vector<Relaxation> link_relaxations(const core::NetworkPlan& network) {
    std::vector<Relaxation> table;
    for (const Links& links : links_of_role) {
        table.push_back(faster_links(network, links));
    }
    const core::TopologyPlan& topology = network.fabric.topology;
    if (!core::has_fabric(network) || topology.kind == core::TopologyKind::star) {
        return table;
    }
    const std::vector<std::size_t> slow = slowest_first(
        topology.own_cables, [&](const core::OwnCables& own) { return usual_rate(topology, own); });
    for (std::size_t i = 0; i < std::min(slow.size(), most_own); ++i) {
        table.push_back(faster_cable(network, slow[i]));
    }
    if (slow.size() > 1) {
        table.push_back(faster_own_cables(network, slow));
    }
    table.push_back(faster_uplinks(network));
    return table;
}

}  // namespace weir::simulation
