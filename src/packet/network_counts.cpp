// Readings of what a PacketNetwork counts.
#include "packet/packet_network.hpp"

namespace weir::packet {

std::uint64_t PacketNetwork::queue_integral(LinkIndex link, Priority priority, Picoseconds at) const {
    return counts(link, priority).queue_integral +
           static_cast<std::uint64_t>(queued_bytes(link, priority)) *
               (static_cast<std::uint64_t>(at.count) >> queue_time_shift);
}

Picoseconds PacketNetwork::paused(LinkIndex link, Priority priority, Picoseconds at) const {
    const Picoseconds ended = counts(link, priority).paused;
    const bool lasts = (links_[link].paused & core::mask_of(priority)) != 0;
    return lasts ? ended + (at - links_[link].paused_from[priority]) : ended;
}

Carried PacketNetwork::on_the_way(LinkIndex link, Priority priority) const {
    Carried carried;
    for (const Item& item : items_.all()) {
        if (item.kind == Item::Kind::arrives && item.index == link && item.packet.priority == priority) {
            ++carried.packets;
            carried.bytes += item.packet.wire_bytes;
        }
    }
    return carried;
}

std::vector<std::uint64_t> PacketNetwork::bytes_inside() const {
    std::vector<std::uint64_t> bytes(flows_.size());
    for (const Item& item : items_.all()) {
        if (item.kind == Item::Kind::queued || item.kind == Item::Kind::arrives) {
            bytes[item.packet.flow.value] += item.packet.wire_bytes;
        }
    }
    return bytes;
}

void PacketNetwork::restart_peaks() {
    for (LinkIndex link = 0; link < links_.size(); ++link) {
        for (std::size_t priority = 0; priority < priority_count; ++priority) {
            counts_[link * priority_count + priority].peak_queue_bytes = links_[link].queues[priority].bytes;
        }
    }
    for (const Node& node : nodes_) {
        if (node.buffer) {
            node.buffer->restart_peak();
        }
    }
}

}  // namespace weir::packet
