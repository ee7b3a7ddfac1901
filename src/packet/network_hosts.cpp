// Hosts of a PacketNetwork: flows in turn, acknowledgements, timers; what a host receives, and credits.
#include "packet/packet_network.hpp"

#include <new>

namespace weir::packet {

void PacketNetwork::activate(FlowIndex index) {
    Flow& flow = *flows_[index.value];
    NodeState& host = nodes_[flow.ends().from.value];
    FlowRow& ready = host.ready[flow.ends().priority];
    if (!flow.queued && flow.has_packet()) {
        ready.push(flow);
        host.ready_mask |= core::mask_of(flow.ends().priority);
    } else if (flow.queued && !flow.has_packet()) {
        ready.note_empty(flow);
    }
    if (flow.queued) {
        kick(host.uplink);
    }
}

/// An event for the time-out, unless one that comes before is pending: that one sees to it.
void PacketNetwork::set_timer(Flow& flow) {
    if (const Picoseconds at = flow.timeout_at(); at < flow.timer_at) {
        flow.timer_at = at;
        push(at, Item::Kind::timeout, flow.ends().index.value);
    }
}

void PacketNetwork::timed_out(FlowIndex index) {
    Flow& flow = *flows_[index.value];
    if (flow.timer_at != now_) {
        return;  // an earlier time-out took its place
    }
    flow.timer_at = Picoseconds::never();
    if (flow.timeout_at() <= now_) {
        flow.timeouts += flow.on_timeout(now_) ? 1 : 0;
        activate(index);
    }
    set_timer(flow);
}

/// Hosts that do the same at the same time are not in step to the picosecond: a flow that has begun waits a
/// random time of up to its first packet's, once for all that follows, so packets keep the distances that the
/// link gives them. Where the link was busy until now, what it sent has a random phase already.
void PacketNetwork::start(Flow& flow) {
    Link& uplink = links_[nodes_[flow.ends().from.value].uplink];
    const Picoseconds packet{flow.next_wire_bytes() * uplink.picoseconds_per_byte_fixed >> 16};
    if (uplink.free_at != Picoseconds{} && uplink.free_at + packet > now_) {
        return;
    }
    const std::uint64_t drawn = uplink.random.next();
    flow.hold_until(now_ + Picoseconds{packet.count * static_cast<std::int64_t>(drawn >> 48U) >> 16});
}

void PacketNetwork::enqueue_at_host(const Packet& packet, Flow& flow, NodeIndex host) {
    const LinkIndex index = nodes_[host.value].uplink;
    Item* const item = items_.add(Item::Kind::queued, index);
    item->packet = packet;
    item->flow = &flow;
    Link& link = links_[index];
    enqueue(link, item);
    kick_host(link);
}

void PacketNetwork::reply(const Packet& to, Flow& flow, Packet::Kind kind, bool marked) {
    flow.traffic.sent += static_cast<std::uint64_t>(nics_->ack_bytes.count);
    const Priority answer = flow.of_others ? flow.ends().priority : nics_->ack_priority;
    const bool notification = kind == Packet::Kind::cnp;
    enqueue_at_host({.flow = to.flow,
                     .to = flow.ends().from,
                     .sequence = flow.expected(),
                     .detail = to.sequence,
                     .wire_bytes = static_cast<std::uint16_t>(nics_->ack_bytes.count),
                     .kind = kind,
                     .priority = notification ? nics_->cnp_priority : answer,
                     .marked = marked,
                     .again = to.again},
                    flow, flow.ends().to);
}

void PacketNetwork::arrive_at_host(Item* item) {
    const Packet packet = item->packet;
    Flow& flow = *item->flow;
    items_.remove(item);
    if (packet.copy) {
        return;  // the NIC discards what is for another address
    }
    if (host_times_.has_ring) {
        arrive_in_ring(packet);
    } else {
        receive_at_host(packet, flow);
    }
}

void PacketNetwork::receive_at_host(const Packet& packet, Flow& flow) {
    if (!granters_.empty()) [[unlikely]] {
        account_for(packet, flow);
    }
    if (packet.datagram) {
        receive_frame(packet);
        return;
    }
    flow.traffic.arrived += packet.wire_bytes;
    if (packet.kind == Packet::Kind::ask) {
        return;
    }
    finished_.clear();
    const bool data = packet.kind == Packet::Kind::data;
    HostCounts& counted = host_counts_[packet.to.value];
    if (data) {
        const std::uint32_t expected = flow.expected();
        counted.marked += packet.marked ? 1 : 0;
        const Flow::Replies replies = flow.is_queue_pair
                                          ? static_cast<QueuePair&>(flow).on_data(packet, now_, finished_)
                                          : flow.on_data(packet, now_, finished_);
        if (packet.sequence > expected) {
            ++(replies.kept ? counted.reordered : counted.out_of_sequence);
        } else if (packet.sequence < expected) {
            ++counted.duplicates;
        }
        if (flow.lacks_packets) [[unlikely]] {
            arrived_after_loss(packet);
        }
        if (replies.notify) {
            ++counted.cnp_sent;
            reply(packet, flow, Packet::Kind::cnp, false);
        }
        if (replies.acknowledge || replies.negative) {
            reply(packet, flow, replies.negative ? Packet::Kind::nak : Packet::Kind::ack, replies.echo);
        }
    } else {
        counted.nak_received += packet.kind == Packet::Kind::nak ? 1 : 0;
        counted.cnp_received += packet.kind == Packet::Kind::cnp ? 1 : 0;
        flow.on_reply(packet, now_, finished_);
        set_timer(flow);
        activate(packet.flow);
    }
    if (flow.of_others) {
        flow.unanswered -= data ? 0 : static_cast<std::uint32_t>(finished_.size());
        return;
    }
    for (const MessageHandle message : finished_) {
        reports_.push_back({data ? Report::Kind::arrived : Report::Kind::sent, packet.flow, message, now_});
    }
}

Item* PacketNetwork::next_of_host(Link& link) {
    NodeState& host = nodes_[link.from];
    auto candidates = static_cast<PrioritySet>((link.nonempty | host.ready_mask) & ~link.paused);
    Picoseconds earliest = Picoseconds::never();
    while (candidates != 0) {
        const Priority priority = choose_priority(link, candidates, nics_->strict);
        const bool queued = (link.nonempty & core::mask_of(priority)) != 0;
        Item* const item = queued ? dequeue(link, priority) : next_of_flows(host, priority, earliest);
        if (item != nullptr) {
            link.queues[priority].deficit -= item->packet.wire_bytes;
            return item;
        }
        candidates &= static_cast<PrioritySet>(~core::mask_of(priority));
    }
    wake_later(link.from, earliest);
    return nullptr;
}

void PacketNetwork::wake_later(std::uint32_t node, Picoseconds at) {
    if (NodeState& host = nodes_[node]; at < host.wake_at) {
        host.wake_at = at;
        push(at, Item::Kind::wake, node);
    }
}

/// After the packet that the link has just begun: an event for when the next one may follow.
void PacketNetwork::follow_up(Link& link) {
    NodeState& host = nodes_[link.from];
    Picoseconds earliest = link.nonempty != 0 ? link.free_at : Picoseconds::never();
    for (PrioritySet left = host.ready_mask; left != 0 && earliest > link.free_at;
         left &= static_cast<PrioritySet>(left - 1)) {
        FlowRow& ready = host.ready[static_cast<std::size_t>(std::countr_zero(std::uint32_t{left}))];
        earliest = std::min(earliest, ready.not_before(link.free_at));
    }
    if (earliest <= link.free_at) {
        wait_for(link);
    } else {
        wake_later(link.from, earliest);
    }
}

/// A packet of the next flow in turn whose time has come. Else `earliest` is lowered to when there is one.
Item* PacketNetwork::next_of_flows(NodeState& host, Priority priority, Picoseconds& earliest) {
    FlowRow& ready = host.ready[priority];
    Item* item = nullptr;
    if (Flow* const flow = ready.next(now_, earliest); flow != nullptr) {
        item = items_.add(Item::Kind::queued, host.uplink);
        item->flow = flow;
        // Made where it stays: a copy would have to wait for each of its fields to be stored.
        const Packet* const packet = new (&item->packet)
            Packet(flow->is_queue_pair ? static_cast<QueuePair&>(*flow).send(now_) : flow->send(now_));
        flow->traffic.sent += packet->wire_bytes;
        if (flow->starts_timer()) {
            set_timer(*flow);
        }
        ready.sent();
    }
    if (ready.empty()) {
        host.ready_mask &= static_cast<PrioritySet>(~core::mask_of(priority));
    }
    return item;
}

// Rings, sockets, and what becomes of packets that are dropped

void PacketNetwork::arrive_in_ring(const Packet& packet) {
    HostQueue& host = host_queues_[packet.to.value];
    if (!host.put_into_ring(packet, hosts_.ring_packets)) {
        drop(packet);
        return;
    }
    if (host.ring.size() == 1) {
        push(now_ + host_times_.interrupt_delay + host_times_.of(packet), Item::Kind::received,
             packet.to.value);
    }
    if (hosts_.pause_above > 0 && host.ring.size() >= hosts_.pause_above && !host.pauses) {
        const bool held = host.holds_switch();
        host.pauses = true;
        if (!held) {
            pause_switch(packet.to);
        }
    }
}

void PacketNetwork::received_at_host(NodeIndex node) {
    HostQueue& host = host_queues_[node.value];
    const Packet packet = host.ring.pop();
    if (!host.ring.empty()) {
        push(now_ + host_times_.of(host.ring.front()), Item::Kind::received, node.value);
    }
    if (host.pauses && host.ring.size() <= hosts_.resume_at) {
        host.pauses = false;
        if (!host.holds_switch()) {
            pause_switch(node);
        }
    }
    receive_at_host(packet, *flows_[packet.flow.value]);
}

/// Or lets it go on: of all priorities with flow control.
void PacketNetwork::pause_switch(NodeIndex node) {
    const HostQueue& host = host_queues_[node.value];
    const PrioritySet priorities = switches_.pauses_whole_links ? PrioritySet{1} : switches_.lossless;
    for (std::size_t priority = 0; priority < priority_count; ++priority) {
        if ((priorities >> priority & 1U) != 0) {
            send_pause(nodes_[node.value].uplink, static_cast<Priority>(priority), host.holds_switch());
        }
    }
}

void PacketNetwork::receive_frame(const Packet& frame) {
    auto& sender = static_cast<UdpSocket&>(*flows_[frame.flow.value]);
    sender.traffic.arrived += frame.wire_bytes;
    if (sender.lacks_packets) {
        arrived_after_loss(frame);
    }
    const std::optional<UdpSocket::Whole> whole = sender.receive(frame);
    if (!whole) {
        return;
    }
    if (!host_times_.has_socket) {
        reports_.push_back({Report::Kind::arrived, frame.flow, whole->handle, now_});
        return;
    }
    HostQueue& host = host_queues_[frame.to.value];
    const std::int64_t charged = whole->payload_bytes + hosts_.socket_overhead.count * whole->frames;
    if (!host.put_into_socket({frame.flow, whole->handle, charged}, hosts_.socket_buffer)) {
        reports_.push_back({Report::Kind::lost, frame.flow, whole->handle, now_});
    } else if (host.socket.size() == 1) {
        push(now_ + host_times_.read_time, Item::Kind::read, frame.to.value);
    }
}

void PacketNetwork::read_next(Picoseconds now, NodeIndex node) {
    if (!host_times_.has_socket) {
        return;
    }
    set_now(now);
    HostQueue& host = host_queues_[node.value];
    host.socket_bytes -= host.socket.pop().charged_bytes;
    if (!host.socket.empty()) {
        push(now_ + host_times_.read_time, Item::Kind::read, node.value);
    }
}

std::int64_t PacketNetwork::restart_socket_peak(NodeIndex host) {
    HostQueue& queue = host_queues_[host.value];
    return std::exchange(queue.counts.peak_socket_bytes, queue.socket_bytes);
}

void PacketNetwork::drop(const Packet& packet) {
    if (packet.copy) {
        return;
    }
    Flow& flow = *flows_[packet.flow.value];
    flow.traffic.dropped += packet.wire_bytes;
    finished_.clear();
    flow.on_dropped(packet, finished_);
    for (const MessageHandle message : finished_) {
        reports_.push_back({Report::Kind::lost, packet.flow, message, now_});
    }
}

FlowIndex PacketNetwork::open_socket(NodeIndex from, Priority priority) {
    const Flow::Ends ends = ends_of(from, from, priority, 0);
    flows_.push_back(std::make_unique<UdpSocket>(framing_, ends));
    return ends.index;
}

void PacketNetwork::post_datagram(Picoseconds now, FlowIndex socket, NodeIndex to, MessageHandle message,
                                  core::Bytes bytes) {
    set_now(now);
    auto& posted = static_cast<UdpSocket&>(*flows_[socket.value]);
    const bool starts = posted.idle();
    posted.post_to(to, message, bytes);
    if (starts) {
        start(posted);
    }
    activate(socket);
}

// Credits (credits.hpp)

/// Of a host's link, as it is now, for what the host gives away of it.
double PacketNetwork::granted_byte_time_ps(NodeIndex node) const {
    const Link& uplink = links_[nodes_[node.value].uplink];
    return static_cast<double>(uplink.picoseconds_per_byte_fixed) / 65536 / nics_->credits.share;
}

Picoseconds PacketNetwork::next_grant(NodeIndex node) const {
    const core::BitRate rate = topology_->links()[nodes_[node.value].uplink].rate;
    return granters_[node.value].next_at(unasked_bytes(nics_->credits, rate), granted_byte_time_ps(node));
}

/// A packet has come to a host: it tells what its sender wants, or takes a part of the link.
void PacketNetwork::account_for(const Packet& packet, Flow& flow) {
    const NodeIndex node = packet.to;
    CreditGranter& granter = granters_[node.value];
    const bool heard = flow.demand != nullptr && flow.ends().to == node &&
                       (packet.kind == Packet::Kind::data || packet.kind == Packet::Kind::ask);
    if (!heard) {
        granter.charge(packet.wire_bytes, granted_byte_time_ps(node), now_);
        return;
    }
    granter.charge(flow.demand->hear(packet), granted_byte_time_ps(node), now_);
    if (packet.kind == Packet::Kind::ask) {
        granter.charge(packet.wire_bytes, granted_byte_time_ps(node), now_);
        ++host_counts_[node.value].asked;
        if (!flow.demand->wants()) {
            give_credit(flow);  // the one that gave it was lost
        }
    }
    if (flow.demand->wants() && !flow.in_credit_row) {
        flow.in_credit_row = true;
        granter.row.push(flow.ends().index);
        grant_later(node);
    }
}

/// The next credit, unless one is due already.
void PacketNetwork::grant_later(NodeIndex node) {
    CreditGranter& granter = granters_[node.value];
    if (granter.pending || granter.row.empty()) {
        return;
    }
    granter.pending = true;
    push(std::max(now_, next_grant(node)), Item::Kind::grant, node.value);
}

/// The flow whose turn it is gets a credit, unless more has come in the meantime.
void PacketNetwork::grant_at(NodeIndex node) {
    CreditGranter& granter = granters_[node.value];
    granter.pending = false;
    if (next_grant(node) <= now_) {
        Flow& flow = *flows_[granter.row.pop().value];
        granter.charge(flow.demand->give(nics_->credits.grant.count), granted_byte_time_ps(node), now_);
        give_credit(flow);
        flow.in_credit_row = flow.demand->wants();
        if (flow.in_credit_row) {
            granter.row.push(flow.ends().index);
        }
    }
    grant_later(node);
}

void PacketNetwork::give_credit(Flow& flow) {
    Packet credit{.flow = flow.ends().index,
                  .to = flow.ends().from,
                  .wire_bytes = static_cast<std::uint16_t>(nics_->ack_bytes.count),
                  .kind = Packet::Kind::credit,
                  .priority = nics_->cnp_priority};
    flow.demand->fill(credit);
    flow.traffic.sent += credit.wire_bytes;
    ++host_counts_[flow.ends().to.value].credits_sent;
    enqueue_at_host(credit, flow, flow.ends().to);
}

}  // namespace weir::packet
