// Switches of a PacketNetwork: admission, queues, marks.
#include "packet/packet_network.hpp"

#include <algorithm>

#include "core/assertion.hpp"

namespace weir::packet {

LinkIndex PacketNetwork::way(const Node& node, const Packet& packet) const {
    const std::uint32_t count = node.way_count[packet.to.value];
    WEIR_ASSERT(count > 0);
    const std::uint32_t first = node.first_way[packet.to.value];
    return ways_[count == 1 ? first : first + core::SplitMix64(packet.flow.value).next() % count];
}

bool PacketNetwork::is_marked(const Link& link, Priority priority) {
    const std::int64_t queue_bytes = link.queue_bytes[priority];
    if (queue_bytes <= link.never_marked_bytes) {
        return false;
    }
    if (queue_bytes > link.always_marked_bytes) {
        return true;
    }
    const double probability = switches_.ecn.probability_at_top *
                               static_cast<double>(queue_bytes - link.never_marked_bytes) /
                               static_cast<double>(link.always_marked_bytes - link.never_marked_bytes);
    return static_cast<double>(random_.next() >> 11U) * 0x1p-53 < probability;
}

void PacketNetwork::receive_at_switch(Link& link, LinkIndex index, Packet packet) {
    Node& node = nodes_[link.to];
    const LinkIndex out_index = way(node, packet);
    Link& out = links_[out_index];
    const Priority priority = packet.priority;
    packet.ingress_port = static_cast<std::uint16_t>(link.to_port);
    if (!node.buffer->admit(link.to_port, priority, packet.wire_bytes, out.queue_bytes[priority])) {
        LinkCounts& counted = count(out_index, priority);
        ++counted.dropped;
        counted.dropped_bytes += packet.wire_bytes;
        flows_[packet.flow.value]->traffic.dropped += packet.wire_bytes;
    } else {
        if (switches_.ecn.on && switches_.ecn.at_enqueue && packet.ecn_capable && is_marked(out, priority)) {
            packet.marked = true;
            ++count(out_index, priority).marked;
        }
        out.queues[priority].push(packet);
        out.nonempty |= core::mask_of(priority);
        out.queue_bytes[priority] += packet.wire_bytes;
        LinkCounts& counted = count(out_index, priority);
        counted.peak_queue_bytes = std::max(counted.peak_queue_bytes, out.queue_bytes[priority]);
        counted.queue_integral -= packet.wire_bytes * queue_time();
        kick(out_index);
    }
    if (node.buffer->must_pause(link.to_port, priority)) {
        node.buffer->set_paused(link.to_port, priority, true);
        send_pause(index ^ 1U, priority, true);
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
    count(index, priority).queue_integral += packet.wire_bytes * queue_time();
    link.deficits[priority] -= packet.wire_bytes;
    SharedBuffer& buffer = *nodes_[link.from].buffer;
    buffer.release(packet.ingress_port, priority, packet.wire_bytes);
    if (switches_.ecn.on && !switches_.ecn.at_enqueue && packet.ecn_capable && is_marked(link, priority)) {
        packet.marked = true;
        ++count(index, priority).marked;
    }
    if (buffer.may_resume(packet.ingress_port, priority)) {
        buffer.set_paused(packet.ingress_port, priority, false);
        send_pause(ports_[link.from][packet.ingress_port], priority, false);
    }
    return true;
}

}  // namespace weir::packet
