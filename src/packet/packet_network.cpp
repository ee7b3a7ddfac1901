#include "packet/packet_network.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/assertion.hpp"

namespace weir::packet {

namespace {

constexpr std::int64_t pause_frame_bytes = 84;
/// IEEE 802.3: a clock is right within 100 ppm. Links are slower and never faster than they should be.
constexpr std::uint64_t most_drift_ppm = 100;
/// IEEE 802.1Qbb: a quantum is 512 bit times; a pause of the longest time is renewed at half of it.
constexpr std::int64_t longest_pause_bytes = 65535 * 64;

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
    while (reports_.empty() && events_.next_time() <= until) {
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

// Links

/// Something to send may have come: now, or when the link is free.
void PacketNetwork::kick(LinkIndex index) {
    Link& link = links_[index];
    if (link.waiting || link.down) {
        return;
    }
    if (link.free_at > now_) {
        link.waiting = true;
        events_.push(link.free_at, {EventKind::transmitted, 0, index});
        return;
    }
    begin_next(index);
}

void PacketNetwork::begin_next(LinkIndex index) {
    Link& link = links_[index];
    Packet packet;
    if (link.from_switch ? next_of_switch(link, index, packet) : next_of_host(link, index, packet)) {
        transmit(index, packet);
        const bool more = link.nonempty != 0 || (!link.from_switch && nodes_[link.from].ready_mask != 0);
        if (more) {
            link.waiting = true;
            events_.push(link.free_at, {EventKind::transmitted, 0, index});
        }
    }
}

void PacketNetwork::transmit(LinkIndex index, const Packet& packet) {
    Link& link = links_[index];
    link.free_at = now_ + Picoseconds{packet.wire_bytes * link.picoseconds_per_byte_fixed >> 16};
    link.on_the_way.push(packet);
    events_.push(link.free_at + link.delay, {EventKind::arrived, 0, index});
    LinkCounts& counted = count(index, packet.priority);
    ++counted.packets;
    counted.bytes += packet.wire_bytes;
    ++transmissions_;
}

/// Strict priorities first, then the others by deficit round robin (Shreedhar and Varghese, 1995). -1: none.
int PacketNetwork::choose_priority(Link& link, std::uint8_t candidates) {
    if (candidates == 0) {
        return -1;
    }
    const std::uint32_t strict = link.from_switch ? switches_.strict : nics_->strict;
    if (const std::uint32_t first = candidates & strict; first != 0) {
        return std::bit_width(first) - 1;
    }
    if ((candidates & (candidates - 1U)) == 0) {
        return std::countr_zero(candidates);
    }
    for (;;) {
        const Priority priority = link.turn;
        if ((candidates & core::mask_of(priority)) != 0 && link.deficits[priority] > 0) {
            return priority;
        }
        link.turn = static_cast<std::uint8_t>((link.turn + 1) % priority_count);
        constexpr std::int64_t quantum = 4096;
        if ((candidates & core::mask_of(link.turn)) != 0) {
            link.deficits[link.turn] += quantum * switches_.weights[link.turn];
        } else {
            link.deficits[link.turn] = 0;
        }
    }
}

bool PacketNetwork::next_of_switch(Link& link, LinkIndex index, Packet& packet) {
    const int chosen = choose_priority(link, static_cast<std::uint8_t>(link.nonempty & ~link.paused));
    if (chosen < 0) {
        return false;
    }
    const auto priority = static_cast<Priority>(chosen);
    core::RingQueue<Packet>& queue = link.queues[priority];
    packet = queue.pop();
    if (queue.empty()) {
        link.nonempty &= static_cast<std::uint8_t>(~core::mask_of(priority));
    }
    link.queue_bytes[priority] -= packet.wire_bytes;
    link.deficits[priority] -= packet.wire_bytes;
    SharedBuffer& buffer = *nodes_[link.from].buffer;
    buffer.release(packet.ingress_port, priority, packet.wire_bytes);
    if (switches_.ecn.on && !switches_.ecn.at_enqueue && packet.ecn_capable &&
        is_marked(link.queue_bytes[priority])) {
        packet.marked = true;
        ++count(index, priority).marked;
    }
    if (buffer.may_resume(packet.ingress_port, priority)) {
        buffer.set_paused(packet.ingress_port, priority, false);
        send_pause(ports_[link.from][packet.ingress_port], priority, false);
    }
    return true;
}

bool PacketNetwork::next_of_host(Link& link, LinkIndex /*index*/, Packet& packet) {
    Node& host = nodes_[link.from];
    auto candidates = static_cast<std::uint8_t>((link.nonempty | host.ready_mask) & ~link.paused);
    Picoseconds earliest = Picoseconds::never();
    for (int chosen = choose_priority(link, candidates); chosen >= 0;
         chosen = choose_priority(link, candidates)) {
        const auto priority = static_cast<Priority>(chosen);
        bool found = false;
        if ((link.nonempty & core::mask_of(priority)) != 0) {
            packet = link.queues[priority].pop();
            link.queue_bytes[priority] -= packet.wire_bytes;
            if (link.queues[priority].empty()) {
                link.nonempty &= static_cast<std::uint8_t>(~core::mask_of(priority));
            }
            found = true;
        } else {
            found = next_of_flows(host, priority, packet, earliest);
        }
        if (found) {
            link.deficits[priority] -= packet.wire_bytes;
            return true;
        }
        candidates &= static_cast<std::uint8_t>(~core::mask_of(priority));
    }
    if (earliest < host.wake_at) {
        host.wake_at = earliest;
        events_.push(earliest, {EventKind::wake, 0, link.from});
    }
    return false;
}

/// The next flow in turn that has a packet whose time has come. Else `earliest` is lowered to when there is
/// one.
bool PacketNetwork::next_of_flows(Node& host, Priority priority, Packet& packet, Picoseconds& earliest) {
    core::RingQueue<FlowIndex>& ready = host.ready[priority];
    for (std::size_t left = ready.size(); left > 0; --left) {
        const FlowIndex index = ready.pop();
        Flow& flow = *flows_[index.value];
        bool found = false;
        if (flow.has_packet()) {
            if (flow.next_send() <= now_) {
                packet = flow.send(now_);
                found = true;
                if (!flow.timer_is_set) {
                    flow.timer_is_set = true;
                    events_.push(flow.timeout_at(), {EventKind::timeout, 0, index.value});
                }
            } else {
                earliest = std::min(earliest, flow.next_send());
            }
        }
        if (flow.has_packet()) {
            ready.push(index);
        } else {
            flow.queued = false;
        }
        if (found) {
            break;
        }
    }
    if (ready.empty()) {
        host.ready_mask &= static_cast<std::uint8_t>(~core::mask_of(priority));
    }
    return packet.wire_bytes > 0;
}

// Switches

LinkIndex PacketNetwork::way(const Node& node, const Packet& packet) const {
    const std::uint32_t count = node.way_count[packet.to.value];
    WEIR_ASSERT(count > 0);
    const std::uint32_t first = node.first_way[packet.to.value];
    return ways_[count == 1 ? first : first + core::SplitMix64(packet.flow.value).next() % count];
}

bool PacketNetwork::is_marked(std::int64_t queue_bytes) {
    const core::EcnPlan& ecn = switches_.ecn;
    if (queue_bytes <= ecn.none_below.count) {
        return false;
    }
    if (queue_bytes > ecn.all_above.count) {
        return true;
    }
    const double probability = ecn.probability_at_top *
                               static_cast<double>(queue_bytes - ecn.none_below.count) /
                               static_cast<double>(ecn.all_above.count - ecn.none_below.count);
    return static_cast<double>(random_.next() >> 11U) * 0x1p-53 < probability;
}

void PacketNetwork::receive_at_switch(Link& link, LinkIndex index, Packet packet) {
    Node& node = nodes_[link.to];
    const LinkIndex out_index = way(node, packet);
    Link& out = links_[out_index];
    const Priority priority = packet.priority;
    packet.ingress_port = static_cast<std::uint16_t>(link.to_port);
    if (!node.buffer->admit(link.to_port, priority, packet.wire_bytes, out.queue_bytes[priority])) {
        ++count(out_index, priority).dropped;
    } else {
        if (switches_.ecn.on && switches_.ecn.at_enqueue && packet.ecn_capable &&
            is_marked(out.queue_bytes[priority])) {
            packet.marked = true;
            ++count(out_index, priority).marked;
        }
        out.queues[priority].push(packet);
        out.nonempty |= core::mask_of(priority);
        out.queue_bytes[priority] += packet.wire_bytes;
        LinkCounts& counted = count(out_index, priority);
        counted.peak_queue_bytes = std::max(counted.peak_queue_bytes, out.queue_bytes[priority]);
        kick(out_index);
    }
    if (node.buffer->must_pause(link.to_port, priority)) {
        node.buffer->set_paused(link.to_port, priority, true);
        send_pause(index ^ 1U, priority, true);
    }
}

// Pauses

/// On a link from a switch, ahead of everything that waits for it.
void PacketNetwork::send_pause(LinkIndex index, Priority priority, bool on) {
    Link& link = links_[index];
    link.free_at =
        std::max(link.free_at, now_) + Picoseconds{pause_frame_bytes * link.picoseconds_per_byte_fixed >> 16};
    events_.push(link.free_at + link.delay, {on ? EventKind::pause : EventKind::resume, priority, index});
    ++transmissions_;
    if (on && (link.refreshing & core::mask_of(priority)) == 0) {
        link.refreshing |= core::mask_of(priority);
        const Picoseconds half{longest_pause_bytes / 2 * link.picoseconds_per_byte_fixed >> 16};
        events_.push(now_ + half, {EventKind::refresh, priority, index});
    }
}

void PacketNetwork::refresh(LinkIndex index, Priority priority) {
    Link& link = links_[index];
    link.refreshing &= static_cast<std::uint8_t>(~core::mask_of(priority));
    if (nodes_[link.from].buffer->paused(link.from_port, priority)) {
        send_pause(index, priority, true);
    }
}

void PacketNetwork::pause_arrived(LinkIndex index, Priority priority, bool on) {
    const LinkIndex held = index ^ 1U;
    Link& link = links_[held];
    const bool was_paused = (link.paused & core::mask_of(priority)) != 0;
    LinkCounts& counted = count(held, priority);
    if (on) {
        ++counted.pauses;
        link.paused |= core::mask_of(priority);
        if (!was_paused) {
            link.paused_from[priority] = now_;
        }
    } else if (was_paused) {
        link.paused &= static_cast<std::uint8_t>(~core::mask_of(priority));
        counted.paused += now_ - link.paused_from[priority];
        kick(held);
    }
}

// Hosts

void PacketNetwork::activate(FlowIndex index) {
    Flow& flow = *flows_[index.value];
    Node& host = nodes_[flow.ends().from.value];
    if (!flow.queued && flow.has_packet()) {
        flow.queued = true;
        host.ready[flow.ends().priority].push(index);
        host.ready_mask |= core::mask_of(flow.ends().priority);
    }
    if (flow.queued) {
        kick(host.uplink);
    }
}

void PacketNetwork::timed_out(FlowIndex index) {
    Flow& flow = *flows_[index.value];
    flow.timer_is_set = false;
    if (flow.timeout_at() <= now_) {
        flow.on_timeout(now_);
        activate(index);
    }
    if (flow.timeout_at() != Picoseconds::never() && !flow.timer_is_set) {
        flow.timer_is_set = true;
        events_.push(flow.timeout_at(), {EventKind::timeout, 0, index.value});
    }
}

void PacketNetwork::enqueue_at_host(const Packet& packet, NodeIndex host) {
    const LinkIndex index = nodes_[host.value].uplink;
    Link& link = links_[index];
    link.queues[packet.priority].push(packet);
    link.queue_bytes[packet.priority] += packet.wire_bytes;
    link.nonempty |= core::mask_of(packet.priority);
    kick(index);
}

void PacketNetwork::reply(const Packet& to, Packet::Kind kind, bool marked) {
    const Flow& flow = *flows_[to.flow.value];
    const bool notification = kind == Packet::Kind::cnp;
    enqueue_at_host({.flow = to.flow,
                     .to = flow.ends().from,
                     .sequence = flow.expected(),
                     .detail = to.sequence,
                     .wire_bytes = static_cast<std::uint16_t>(nics_->ack_bytes.count),
                     .kind = kind,
                     .priority = notification ? nics_->cnp_priority : nics_->ack_priority,
                     .marked = marked},
                    flow.ends().to);
}

void PacketNetwork::receive_at_host(const Packet& packet) {
    Flow& flow = *flows_[packet.flow.value];
    finished_.clear();
    const bool data = packet.kind == Packet::Kind::data;
    if (data) {
        const Flow::Replies replies = flow.on_data(packet, now_, finished_);
        if (replies.notify) {
            reply(packet, Packet::Kind::cnp, false);
        }
        if (replies.acknowledge || replies.negative) {
            reply(packet, replies.negative ? Packet::Kind::nak : Packet::Kind::ack, replies.echo);
        }
    } else {
        flow.on_reply(packet, now_, finished_);
        activate(packet.flow);
    }
    for (const MessageHandle message : finished_) {
        reports_.push_back({data ? Report::Kind::arrived : Report::Kind::sent, packet.flow, message, now_});
    }
}

}  // namespace weir::packet
