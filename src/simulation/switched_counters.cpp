#include "simulation/switched_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/network_plan.hpp"

namespace weir::simulation {

using packet::HostCounts;
using packet::LinkIndex;
using packet::NodeIndex;
using packet::Picoseconds;
using packet::Priority;

namespace {

constexpr LinkIndex reverse(LinkIndex link) {
    return link ^ 1U;
}

template <typename Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
    std::vector<std::string> names;
    std::transform(all.begin(), all.end(), std::back_inserter(names),
                   [](const Named& one) { return one.name; });
    return names;
}

core::Duration nanoseconds(Picoseconds time) {
    return core::Duration::nanoseconds(time.count / 1000);
}

/// All priorities in use, if the switch file has a name for any.
std::vector<record::CountedClass> classes_of(const core::NetworkPlan& plan) {
    const core::FabricPlan& fabric = plan.fabric;
    std::map<Priority, record::CountedClass> found;
    const auto at = [&](Priority priority) -> record::CountedClass& { return found[priority]; };
    for (const core::TrafficClass& one : fabric.classes) {
        record::CountedClass& named = at(one.traffic.priority);
        named.name = one.name;
        named.of_others = one.traffic.rate;
    }
    if (found.empty()) {
        return {};
    }
    at(fabric.data_priority).carries.emplace_back("data");
    if (!plan.separate_control) {
        at(fabric.control_priority).carries.emplace_back("control");
    }
    at(fabric.nics.ack_priority).carries.emplace_back("acknowledgements");
    if (plan.framing != core::Framing::tcp) {
        at(fabric.nics.cnp_priority).carries.emplace_back("notifications");
    }
    if (fabric.background.rate.bits_per_second > 0) {
        at(fabric.background.priority).carries.emplace_back("background");
    }
    std::vector<record::CountedClass> classes;
    for (auto& [priority, one] : found) {
        one.priority = priority;
        one.lossless = fabric.switches.is_lossless(priority);
        if (one.name.empty()) {
            one.name = fmt::format("priority {}", priority);
        }
        if (one.of_others.bits_per_second > 0) {
            one.carries.emplace_back("others");
        }
        classes.push_back(std::move(one));
    }
    return classes;
}

}  // namespace

SwitchedCounters::SwitchedCounters(const Setup& setup)
    : topology_(setup.topology),
      network_(setup.network),
      placement_(setup.placement),
      nodes_(setup.nodes),
      plan_(setup.plan),
      begin_(setup.begin),
      names_(device_names(setup.topology, setup.plan, setup.placement)),
      failures_(setup.topology, setup.network, names_, setup.plan, setup.begin),
      classes_(classes_of(setup.plan)),
      last_(topology_.links().size() * packet::priority_count) {
    std::uint32_t most_nics = 1;
    for (std::uint32_t index = 0; index < placement_.hosts().size(); ++index) {
        const core::Placement::Host& placed = placement_.hosts()[index];
        if (placed.ranks.empty()) {
            continue;
        }
        Host& host = hosts_.emplace_back(Host{placement_.name(index), {}});
        for (std::uint32_t port = placed.first_port; port < placed.first_port + placed.nics; ++port) {
            const LinkIndex up = topology_.ports({port}).front();
            host.nics.push_back({{port}, up, reverse(up)});
        }
        most_nics = std::max(most_nics, placed.nics);
    }
    for (std::uint32_t node = placement_.ports(); node < topology_.nodes(); ++node) {
        switches_.push_back({node});
    }
    last_at_.resize(switches_.size(), network_.now());
    for (std::uint32_t nic = 0; nic < most_nics; ++nic) {
        // RDMA devices and interfaces name the same differently.
        const bool tcp = plan_.framing == core::Framing::tcp;
        add_carried(nic, tcp ? "rx" : "port_rcv", tcp ? "tx" : "port_xmit", 0, packet::priority_count - 1);
        if (!tcp) {
            add_queue_pairs(nic);
        } else if (nic == 0) {
            add_tcp();
        }
        if (plan_.fabric.hosts.ring_packets > 0) {
            // As the driver mlx5 counts packets for which its receive ring had no room.
            add(nic, "rx_out_of_buffer",
                [this](const Nic& its, Picoseconds) { return network_.queue_counts(its.node).ring_dropped; });
        }
        add_pauses(nic);
        // As the driver mlx5 counts traffic by priority.
        for (const record::CountedClass& one : classes_) {
            const auto priority = static_cast<Priority>(one.priority);
            add_carried(nic, fmt::format("rx_prio{}", priority), fmt::format("tx_prio{}", priority), priority,
                        priority);
        }
    }
}

void SwitchedCounters::add(std::uint32_t nic, std::string_view name, Read read) {
    columns_.push_back({fmt::format("nic{}.{}", nic, name), std::move(read), nic});
}

std::vector<std::string> SwitchedCounters::hosts() const {
    return names_of(hosts_);
}

std::vector<std::string> SwitchedCounters::host_columns() const {
    return names_of(columns_);
}

record::SwitchPort SwitchedCounters::port_to(LinkIndex link) const {
    const NodeIndex peer = topology_.links()[link].to;
    record::SwitchPort port{.peer = names_.name(peer), .rate = topology_.links()[link].rate};
    if (topology_.is_switch(peer)) {
        return port;
    }
    const auto behind = std::upper_bound(
        placement_.hosts().begin(), placement_.hosts().end(), peer.value,
        [](std::uint32_t number, const core::Placement::Host& host) { return number < host.first_port; });
    const core::Placement::Host& host = *std::prev(behind);
    for (const std::uint32_t rank : host.ranks) {
        port.ranks.push_back(nodes_.id(rank));
    }
    return port;
}

std::vector<record::SwitchHardware> SwitchedCounters::switches() const {
    std::vector<record::SwitchHardware> all;
    for (const NodeIndex node : switches_) {
        const core::Bytes pool = plan_.fabric.switches.pool;
        record::SwitchHardware description{.name = names_.name(node),
                                           .pool = pool < core::endless_pool ? pool : core::Bytes{},
                                           .ports = {},
                                           .counts_received = !classes_.empty()};
        for (const LinkIndex link : topology_.ports(node)) {
            description.ports.push_back(port_to(link));
        }
        all.push_back(std::move(description));
    }
    return all;
}

std::vector<record::ParallelLinks> SwitchedCounters::parallel_links() const {
    const auto index_of = [&](NodeIndex node) {
        return static_cast<std::size_t>(std::find(switches_.begin(), switches_.end(), node) -
                                        switches_.begin());
    };
    std::vector<record::ParallelLinks> all;
    for (const std::vector<LinkIndex>& links : topology_.parallel_links()) {
        const NodeIndex at = topology_.links()[links.front()].from;
        std::vector<record::ParallelLink> out;
        std::vector<record::ParallelLink> in;
        for (const LinkIndex link : links) {
            for (const auto& [some, of] : {std::pair{&out, link}, {&in, reverse(link)}}) {
                const packet::Topology::Link& ends = topology_.links()[of];
                some->push_back(
                    {index_of(ends.from), ends.from_port, names_.name(ends.from), names_.name(ends.to)});
            }
        }
        all.push_back({names_.name(at), true, std::move(out)});
        all.push_back({names_.name(at), false, std::move(in)});
    }
    return all;
}

// Hosts

packet::Carried SwitchedCounters::sent(LinkIndex link, Priority priority) const {
    const packet::LinkCounts& counts = network_.counts(link, priority);
    return {counts.packets, counts.bytes};
}

packet::Carried SwitchedCounters::arrived(LinkIndex link, Priority priority) const {
    const packet::Carried all = sent(link, priority);
    const packet::Carried& lost = network_.losses(link).on_link.of[priority];
    const packet::Carried& under_way = on_the_way_[link].of[priority];
    return {all.packets - under_way.packets - lost.packets, all.bytes - under_way.bytes - lost.bytes};
}

void SwitchedCounters::read_all(Picoseconds now) {
    // At one instant, more may be sent between two readings.
    if (now == read_at_ && network_.transmissions() == transmissions_read_) {
        return;
    }
    read_at_ = now;
    transmissions_read_ = network_.transmissions();
    on_the_way_ = network_.on_the_way();
    sent_again_.assign(topology_.nodes(), 0);
    timeouts_.assign(topology_.nodes(), 0);
    cuts_.assign(topology_.nodes(), 0);
    for (std::uint32_t index = 0; index < network_.flows(); ++index) {
        const packet::Flow& flow = network_.flow({index});
        sent_again_[flow.ends().from.value] += flow.packets_sent_again();
        timeouts_[flow.ends().from.value] += flow.timeouts;
        cuts_[flow.ends().from.value] += flow.cuts();
    }
}

record::LossReactions SwitchedCounters::loss_reactions() const {
    record::LossReactions reactions;
    for (std::uint32_t index = 0; index < network_.flows(); ++index) {
        if (const packet::Flow& flow = network_.flow({index}); !flow.of_others) {
            reactions.packets_sent_again += flow.packets_sent_again();
            reactions.timeouts += flow.timeouts;
        }
    }
    return reactions;
}

/// What came and went of these priorities.
void SwitchedCounters::add_carried(std::uint32_t nic, const std::string& came, const std::string& went,
                                   Priority first, Priority last) {
    const auto counter = [&](const std::string& name, auto count, auto packet::Carried::* part) {
        add(nic, name, [first, last, count, part](const Nic& its, Picoseconds) {
            packet::Carried sum;
            for (Priority priority = first; priority <= last; ++priority) {
                sum += count(its, priority);
            }
            return sum.*part;
        });
    };
    const auto arrives = [this](const Nic& its, Priority priority) { return arrived(its.down, priority); };
    const auto leaves = [this](const Nic& its, Priority priority) { return sent(its.up, priority); };
    counter(came + "_bytes", arrives, &packet::Carried::bytes);
    counter(came + "_packets", arrives, &packet::Carried::packets);
    counter(went + "_bytes", leaves, &packet::Carried::bytes);
    counter(went + "_packets", leaves, &packet::Carried::packets);
}

void SwitchedCounters::add_queue_pairs(std::uint32_t nic) {
    const auto counter = [this, nic](const char* name, std::uint64_t HostCounts::* count) {
        add(nic, name,
            [this, count](const Nic& its, Picoseconds) { return network_.host_counts(its.node).*count; });
    };
    counter("np_ecn_marked_roce_packets", &HostCounts::marked);
    counter("np_cnp_sent", &HostCounts::cnp_sent);
    counter("rp_cnp_handled", &HostCounts::cnp_received);
    counter("packet_seq_err", &HostCounts::nak_received);
    counter("out_of_sequence", &HostCounts::out_of_sequence);
    if (plan_.fabric.nics.reorder.count > 0) {
        counter("reordered_packets", &HostCounts::reordered);
    }
    counter("duplicate_request", &HostCounts::duplicates);
    add(nic, "local_ack_timeout_err",
        [this](const Nic& its, Picoseconds) { return timeouts_[its.node.value]; });
    // No network card's driver has names for these.
    if (plan_.fabric.nics.control == core::PairControl::credits) {
        counter("np_credits_sent", &HostCounts::credits_sent);
        counter("np_credit_requests", &HostCounts::asked);
    }
    if (plan_.fabric.nics.control == core::PairControl::swift) {
        add(nic, "rp_window_cuts", [this](const Nic& its, Picoseconds) { return cuts_[its.node.value]; });
    }
}

void SwitchedCounters::add_tcp() {
    const auto counter = [this](const char* name, Read read) {
        columns_.push_back({name, std::move(read), std::nullopt});
    };
    counter("tcp.retransmitted_segments",
            [this](const Nic& its, Picoseconds) { return sent_again_[its.node.value]; });
    counter("tcp.timeouts", [this](const Nic& its, Picoseconds) { return timeouts_[its.node.value]; });
    counter("tcp.out_of_order_segments",
            [this](const Nic& its, Picoseconds) { return network_.host_counts(its.node).out_of_sequence; });
    counter("ip.received_ce_packets",
            [this](const Nic& its, Picoseconds) { return network_.host_counts(its.node).marked; });
}

void SwitchedCounters::add_pauses(std::uint32_t nic) {
    for (Priority priority = 0; priority < packet::priority_count; ++priority) {
        if ((plan_.fabric.switches.lossless & core::mask_of(priority)) == 0) {
            continue;
        }
        const auto counter = [&](const char* form, Read read) {
            add(nic, fmt::format(fmt::runtime(form), priority), std::move(read));
        };
        counter("rx_prio{}_pause", [this, priority](const Nic& its, Picoseconds) {
            return network_.counts(its.up, priority).pauses;
        });
        counter("rx_prio{}_pause_duration", [this, priority](const Nic& its, Picoseconds now) {
            return static_cast<std::uint64_t>(network_.paused(its.up, priority, now).count / 1'000'000);
        });
        counter("tx_prio{}_pause", [this, priority](const Nic& its, Picoseconds) {
            return network_.counts(its.up, priority).pauses_sent;
        });
        counter("tx_prio{}_pause_duration", [this, priority](const Nic& its, Picoseconds now) {
            return static_cast<std::uint64_t>(network_.paused(its.down, priority, now).count / 1'000'000);
        });
    }
    // Pauses of whole links: without flow control there are none.
    if (plan_.fabric.switches.lossless == 0) {
        for (const char* name : {"rx_pause_ctrl_phy", "tx_pause_ctrl_phy"}) {
            add(nic, name, [](const Nic&, Picoseconds) { return 0; });
        }
    }
}

void SwitchedCounters::read_host(core::Instant at, std::size_t host, std::vector<std::uint64_t>& values) {
    const Picoseconds now = since_begin(at);
    read_all(now);
    values.clear();
    for (const CounterColumn& column : columns_) {
        std::uint64_t value = 0;
        const std::vector<Nic>& nics = hosts_[host].nics;
        for (std::uint32_t nic = 0; nic < nics.size(); ++nic) {
            value += column.nic.value_or(nic) == nic ? column.read(nics[nic], now) : 0;
        }
        values.push_back(value);
    }
}

// Switches

void SwitchedCounters::read_switch(core::Instant at, std::size_t index, record::SwitchReading& reading) {
    const Picoseconds now = since_begin(at);
    const NodeIndex node = switches_[index];
    if (!classes_.empty()) {
        read_all(now);
    }
    reading.rows.clear();
    reading.pool_peak = {network_.buffer(node).peak()};
    const std::vector<LinkIndex>& ports = topology_.ports(node);
    for (std::uint32_t port = 0; port < ports.size(); ++port) {
        for (Priority priority = 0; priority < packet::priority_count; ++priority) {
            const record::SwitchRow row = read_port(ports[port], priority, now, now - last_at_[index]);
            const bool moved = row.sent_packets + row.dropped_packets + row.pauses_received +
                                   row.pauses_sent + row.received_packets >
                               0;
            if (moved || row.queue_peak.count > 0 || row.paused.ns > 0 || row.pausing.ns > 0) {
                reading.rows.push_back(row);
                reading.rows.back().port = port;
            }
        }
    }
    last_at_[index] = now;
    network_.restart_peaks(node);
}

record::SwitchRow SwitchedCounters::read_port(LinkIndex link, Priority priority, Picoseconds now,
                                              Picoseconds length) {
    Last& last = last_[link * packet::priority_count + priority];
    const packet::LinkCounts& counts = network_.counts(link, priority);
    const Last fresh{counts, network_.queue_integral(link, priority, now),
                     network_.paused(link, priority, now), network_.paused(reverse(link), priority, now),
                     classes_.empty() ? packet::Carried{} : arrived(reverse(link), priority)};
    const auto bytes = [](std::uint64_t count) { return core::Bytes{static_cast<std::int64_t>(count)}; };
    const auto integral = static_cast<double>(fresh.queue_integral - last.queue_integral);
    const auto units = static_cast<double>(length.count >> packet::queue_time_shift);
    record::SwitchRow row{.port = 0,
                          .priority = priority,
                          .sent_packets = counts.packets - last.counts.packets,
                          .sent_bytes = bytes(counts.bytes - last.counts.bytes),
                          .queue_peak = {counts.peak_queue_bytes},
                          .queue_mean_bytes = units > 0 ? integral / units : 0,
                          .marked_packets = counts.marked - last.counts.marked,
                          .dropped_packets = counts.dropped - last.counts.dropped,
                          .dropped_bytes = bytes(counts.dropped_bytes - last.counts.dropped_bytes),
                          .pauses_received = counts.pauses - last.counts.pauses,
                          .paused = nanoseconds(fresh.paused) - nanoseconds(last.paused),
                          .pauses_sent = counts.pauses_sent - last.counts.pauses_sent,
                          .pausing = nanoseconds(fresh.pausing) - nanoseconds(last.pausing),
                          .received_packets = fresh.received.packets - last.received.packets,
                          .received_bytes = bytes(fresh.received.bytes - last.received.bytes)};
    last = fresh;
    return row;
}

}  // namespace weir::simulation
