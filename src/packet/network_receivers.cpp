// Receiving hosts of a PacketNetwork: rings, sockets, and what becomes of packets that are dropped.
#include "packet/packet_network.hpp"

#include <utility>

namespace weir::packet {

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
    receive_at_host(packet);
}

/// Or lets it go on: of all priorities with flow control.
void PacketNetwork::pause_switch(NodeIndex node) {
    const HostQueue& host = host_queues_[node.value];
    const PriorityMask priorities = switches_.pauses_whole_links ? PriorityMask{1} : switches_.lossless;
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

void PacketNetwork::read_by_program(NodeIndex node) {
    const HostQueue::Unread& first = host_queues_[node.value].socket.front();
    reports_.push_back({Report::Kind::arrived, first.flow, first.datagram, now_});
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

}  // namespace weir::packet
