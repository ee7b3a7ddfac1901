// Hosts of a PacketNetwork: flows in turn, acknowledgements, timers.
#include "packet/packet_network.hpp"

#include <algorithm>

namespace weir::packet {

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
        ++host_counts_[flow.ends().from.value].timeouts;
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
    Flow& flow = *flows_[to.flow.value];
    flow.traffic.sent += static_cast<std::uint64_t>(nics_->ack_bytes.count);
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
    flow.traffic.arrived += packet.wire_bytes;
    finished_.clear();
    const bool data = packet.kind == Packet::Kind::data;
    HostCounts& counted = host_counts_[packet.to.value];
    if (data) {
        if (packet.sequence != flow.expected()) {
            ++(packet.sequence > flow.expected() ? counted.out_of_sequence : counted.duplicates);
        }
        counted.marked += packet.marked ? 1 : 0;
        const Flow::Replies replies = flow.on_data(packet, now_, finished_);
        if (replies.notify) {
            ++counted.cnp_sent;
            reply(packet, Packet::Kind::cnp, false);
        }
        if (replies.acknowledge || replies.negative) {
            reply(packet, replies.negative ? Packet::Kind::nak : Packet::Kind::ack, replies.echo);
        }
    } else {
        counted.nak_received += packet.kind == Packet::Kind::nak ? 1 : 0;
        counted.cnp_received += packet.kind == Packet::Kind::cnp ? 1 : 0;
        flow.on_reply(packet, now_, finished_);
        activate(packet.flow);
    }
    for (const MessageHandle message : finished_) {
        reports_.push_back({data ? Report::Kind::arrived : Report::Kind::sent, packet.flow, message, now_});
    }
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
                flow.traffic.sent += packet.wire_bytes;
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

}  // namespace weir::packet
