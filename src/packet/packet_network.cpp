#include "packet/packet_network.hpp"

#include <algorithm>

#include "core/assertion.hpp"

namespace weir::packet {

namespace {

/// IEEE 802.3: a clock is right within 100 ppm. Links are slower and never faster than they should be.
constexpr std::uint64_t most_drift_ppm = 100;

}  // namespace

PacketNetwork::PacketNetwork(const Setup& setup)
    : switches_(setup.switches),
      nics_(std::make_unique<core::NicPlan>(setup.nics)),
      tcp_(std::make_unique<core::TcpPlan>(setup.tcp)),
      random_(setup.seed, core::random_stream(core::RandomPurpose::delay, 0)) {
    const Topology& topology = setup.topology;
    for (const Topology::Link& link : topology.links()) {
        // The clocks of two NICs differ: without that, the packets of two senders would always meet in the
        // same order.
        const std::int64_t nominal = static_cast<std::int64_t>(
            static_cast<core::WideInteger>(8'000'000'000'000) * 65536 / link.rate.bits_per_second);
        Link made;
        made.full_speed_fixed =
            nominal + nominal / 1'000'000 * static_cast<std::int64_t>(random_.below(most_drift_ppm + 1));
        made.picoseconds_per_byte_fixed = made.full_speed_fixed;
        made.delay = Picoseconds::of(link.delay);
        const core::EcnPlan& ecn = switches_.ecn;
        made.never_marked_bytes = core::in_proportion(ecn.none_below, link.rate, ecn.of_rate).count;
        made.always_marked_bytes = core::in_proportion(ecn.all_above, link.rate, ecn.of_rate).count;
        made.from_switch = topology.is_switch(link.from);
        made.to_switch = topology.is_switch(link.to);
        made.from = link.from.value;
        made.to = link.to.value;
        made.from_port = link.from_port;
        made.to_port = link.to_port;
        for (std::size_t priority = 0; priority < priority_count; ++priority) {
            made.queues.emplace_back();
        }
        links_.push_back(std::move(made));
    }
    counts_.resize(links_.size() * priority_count);
    host_counts_.resize(topology.nodes());
    for (std::uint32_t index = 0; index < topology.nodes(); ++index) {
        Node node;
        const std::vector<LinkIndex>& ports = topology.ports({index});
        if (topology.is_switch({index})) {
            std::vector<core::BitRate> rates;
            for (const LinkIndex port : ports) {
                rates.push_back(topology.links()[port].rate);
            }
            node.buffer = std::make_unique<SharedBuffer>(switches_, rates);
            node.first_way.resize(topology.nodes());
            node.way_count.resize(topology.nodes());
        } else {
            WEIR_ASSERT(ports.size() == 1);
            node.uplink = ports.front();
            for (std::size_t priority = 0; priority < priority_count; ++priority) {
                node.ready.emplace_back();
            }
        }
        nodes_.push_back(std::move(node));
        ports_.push_back(ports);
    }
    for (std::uint32_t host = 0; host < topology.nodes(); ++host) {
        if (topology.is_switch({host})) {
            continue;
        }
        const std::vector<std::vector<LinkIndex>> ways = topology.ways_to({host});
        for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
            if (topology.is_switch({node})) {
                nodes_[node].first_way[host] = static_cast<std::uint32_t>(ways_.size());
                nodes_[node].way_count[host] = static_cast<std::uint32_t>(ways[node].size());
                ways_.insert(ways_.end(), ways[node].begin(), ways[node].end());
            }
        }
    }
}

FlowIndex PacketNetwork::connect(NodeIndex from, NodeIndex to, Priority priority, Protocol protocol) {
    const FlowIndex flow{static_cast<std::uint32_t>(flows_.size())};
    const Link& uplink = links_[nodes_[from.value].uplink];
    WEIR_ASSERT(uplink.to == to.value || (uplink.to_switch && nodes_[uplink.to].way_count[to.value] > 0));
    const auto rate = static_cast<std::int64_t>(static_cast<core::WideInteger>(8'000'000'000'000) * 65536 /
                                                uplink.full_speed_fixed);
    const Flow::Ends ends{flow, from, to, priority, {rate}};
    if (protocol == Protocol::tcp) {
        flows_.push_back(std::make_unique<TcpConnection>(*tcp_, ends));
    } else {
        flows_.push_back(std::make_unique<QueuePair>(*nics_, ends));
    }
    return flow;
}

void PacketNetwork::post(Picoseconds now, FlowIndex flow, MessageHandle message, core::Bytes bytes) {
    set_now(now);
    flows_[flow.value]->post(message, bytes);
    activate(flow);
}

void PacketNetwork::set_speed(Picoseconds now, NodeIndex host, double factor) {
    set_now(now);
    const LinkIndex uplink = nodes_[host.value].uplink;
    for (const LinkIndex index : {uplink, uplink ^ 1U}) {
        Link& link = links_[index];
        link.down = factor <= 0;
        if (!link.down) {
            link.picoseconds_per_byte_fixed =
                static_cast<std::int64_t>(static_cast<double>(link.full_speed_fixed) / factor);
            kick(index);
        }
    }
}

const std::vector<PacketNetwork::Report>& PacketNetwork::advance(Picoseconds until) {
    reports_.clear();
    while (reports_.empty() && !events_.empty() && events_.next_time() <= until) {
        now_ = events_.next_time();
        handle(events_.pop());
    }
    return reports_;
}

void PacketNetwork::handle(Event event) {
    switch (event.kind) {
        case EventKind::transmitted: {
            Link& link = links_[event.index];
            link.waiting = false;
            kick(event.index);
            return;
        }
        case EventKind::arrived: {
            Link& link = links_[event.index];
            const Packet packet = link.on_the_way.pop();
            if (link.to_switch) {
                receive_at_switch(link, event.index, packet);
            } else {
                receive_at_host(packet);
            }
            return;
        }
        case EventKind::wake:
            if (nodes_[event.index].wake_at <= now_) {
                nodes_[event.index].wake_at = Picoseconds::never();
                kick(nodes_[event.index].uplink);
            }
            return;
        case EventKind::timeout:
            timed_out({event.index});
            return;
        case EventKind::pause:
            pause_arrived(event.index, event.priority, true);
            return;
        case EventKind::resume:
            pause_arrived(event.index, event.priority, false);
            return;
        case EventKind::refresh:
            refresh(event.index, event.priority);
            return;
    }
}

}  // namespace weir::packet
