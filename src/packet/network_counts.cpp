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
    const bool lasts = (links_[link].paused & core::mask_of(priority)) != 0 &&
                       (priority == 0 || !switches_.pauses_whole_links);
    return lasts ? ended + (at - links_[link].queues[priority].paused_from) : ended;
}

std::vector<CarriedByPriority> PacketNetwork::on_the_way() const {
    std::vector<CarriedByPriority> carried(links_.size());
    for (const Item& item : items_.all()) {
        if (item.on_link()) {
            carried[item.index].add(item.packet);
        }
    }
    return carried;
}

std::vector<std::uint64_t> PacketNetwork::bytes_inside() const {
    std::vector<std::uint64_t> bytes(flows_.size());
    for (const Item& item : items_.all()) {
        if ((item.kind == Item::Kind::queued || item.on_link()) && !item.packet.copy) {
            bytes[item.packet.flow.value] += item.packet.wire_bytes;
        }
    }
    for (const HostQueue& host : host_queues_) {
        for (std::size_t place = 0; place < host.ring.size(); ++place) {
            bytes[host.ring.at(place).flow.value] += host.ring.at(place).wire_bytes;
        }
    }
    return bytes;
}

void PacketNetwork::restart_peaks(NodeIndex at) {
    for (const LinkIndex link : ports_[at.value]) {
        for (std::size_t priority = 0; priority < priority_count; ++priority) {
            Link::Queue& queue = links_[link].queues[priority];
            queue.counts.peak_queue_bytes = queue.bytes;
        }
    }
    nodes_[at.value].buffer->restart_peak();
}

}  // namespace weir::packet
