// Switches of a PacketNetwork: admission, queues, marks.

#include "packet/packet_network.hpp"

namespace weir::packet {

namespace {

constexpr std::int64_t pause_frame_bytes = 84;

}  // namespace

LinkIndex PacketNetwork::way(const NodeState& node, const Item& item) {
    const Packet& packet = item.packet;
    const Ways found = ways(node, packet.to);
    if (found.count == 1) {
        return found.first;
    }
    if (found.count == 0) {
        return NetworkEvent::no_link;
    }
    // A flow may have several receivers, and its replies take a way of their own.
    const std::uint64_t path = item.flow->ends().path + addresses_[packet.to.value].identity;
    return node.balancer->choose({.flow = packet.flow,
                                  .to = packet.to,
                                  .priority = packet.priority,
                                  .path = path,
                                  .now = now_,
                                  .ways = {&ways_[found.first], found.count}},
                                 links_);
}

bool PacketNetwork::is_marked(Link& link, Priority priority) const {
    const Link::Queue& queue = link.queues[priority];
    if (queue.bytes <= queue.never_marked_bytes) {
        return false;
    }
    if (queue.bytes > queue.always_marked_bytes) {
        return true;
    }
    const double probability = switches_.ecn_of(priority).probability_at_top *
                               static_cast<double>(queue.bytes - queue.never_marked_bytes) /
                               static_cast<double>(queue.always_marked_bytes - queue.never_marked_bytes);
    return link.random.uniform() < probability;
}

void PacketNetwork::receive_at_switch(Link& link, Item* item) {
    const Packet& packet = item->packet;
    if (packet.datagram && nodes_[packet.to.value].flooded) [[unlikely]] {
        flood(link, packet);
    }
    admit(link, item);
}

/// A copy to each other host of the switch.
void PacketNetwork::flood(Link& link, const Packet& packet) {
    for (const LinkIndex port : ports_[link.to]) {
        const Link& out = links_[port];
        if (!out.leads_to_switch && out.to != packet.to.value && out.to != link.from) {
            Item* const item = items_.add(Item::Kind::queued, port);
            item->packet = packet;
            item->flow = flows_[packet.flow.value].get();
            item->packet.to = {out.to};
            item->packet.copy = true;
            admit(link, item);
        }
    }
}

/// Packets that come on several links at once have equal chances for a place in a full queue. If the first
/// always had it, links in step would meet in the same order for as long as their clocks agree, and all
/// losses would be one sender's (Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways",
/// 1992). In a switch, the order in which its ports are served within a packet's time has nothing to do with
/// who came first.
bool PacketNetwork::takes_last_place(const Link& link, Link& out, Priority priority, const Packet& packet) {
    Link::Queue& queue = out.queues[priority];
    if (queue.packets.empty()) {
        return false;
    }
    const Item& last = *queue.packets.last();
    const Picoseconds duration{packet.wire_bytes * link.picoseconds_per_byte_fixed >> 16};
    if (last.packet.wire_bytes != packet.wire_bytes || last.packet.ingress_port == packet.ingress_port ||
        !nodes_[link.to].buffer->share_slice(last.packet.ingress_port, packet.ingress_port) ||
        last.at + duration <= now_) {
        return false;
    }
    if (queue.contended_at != last.at) {
        queue.contended_at = last.at;
        queue.contenders = 1;
    }
    return out.places.below(++queue.contenders) == 0;
}

/// A packet from `link` finds no room in a queue.
void PacketNetwork::refuse(const Link& link, Link& out, Item* item) {
    Packet& packet = item->packet;
    const Priority priority = packet.priority;
    Link::Queue& queue = out.queues[priority];
    if (!nodes_[link.to].buffer->lossless(priority) && takes_last_place(link, out, priority, packet)) {
        Packet& last = queue.packets.last()->packet;
        packet.marked = packet.marked || (last.marked && packet.ecn_capable);
        std::swap(last, packet);
        std::swap(queue.packets.last()->flow, item->flow);
    }
    discard(queue, item);
}

/// A packet that does not get into this queue.
void PacketNetwork::discard(Link::Queue& queue, Item* item) {
    const Packet& packet = item->packet;
    ++queue.counts.dropped;
    queue.counts.dropped_bytes += packet.wire_bytes;
    drop(packet);
    items_.remove(item);
}

/// A packet for which there is no way, or whose queue takes none, or loses it early (WRED), is lost.
bool PacketNetwork::keep_out(const Link& link, LinkIndex out_index, Item* item) {
    const Packet& packet = item->packet;
    if (out_index == NetworkEvent::no_link ||
        (links_[out_index].refusing & core::mask_of(packet.priority)) != 0) {
        turn_away(link, out_index, item);
        return true;
    }
    Link& out = links_[out_index];
    const bool may_be_marked = switches_.ecn.on && packet.ecn_capable;
    if (may_be_marked || !is_marked(out, packet.priority)) {
        return false;
    }
    discard(out.queues[packet.priority], item);
    return true;
}

/// A packet from `link` gets into the queue of its port, or is lost.
void PacketNetwork::admit(Link& link, Item* item) {
    NodeState& node = nodes_[link.to];
    Packet& packet = item->packet;
    const LinkIndex out_index = way(node, *item);
    const Priority priority = packet.priority;
    if (out_index == NetworkEvent::no_link || ((links_[out_index].refusing | links_[out_index].dropping) &
                                               core::mask_of(priority)) != 0) [[unlikely]] {
        if (keep_out(link, out_index, item)) {
            return;
        }
    }
    Link& out = links_[out_index];
    Link::Queue& queue = out.queues[priority];
    SharedBuffer& buffer = *node.buffer;
    const std::int64_t bytes = packet.wire_bytes;
    packet.ingress_port = link.to_port;
    if (!buffer.admit(link.to_port, priority, bytes, out.from_port)) [[unlikely]] {
        refuse(link, out, item);
    } else {
        if (marks_at_enqueue_ && packet.ecn_capable && is_marked(out, priority)) [[unlikely]] {
            packet.marked = true;
            ++queue.counts.marked;
        }
        item->kind = Item::Kind::queued;
        item->at = now_;
        queue.counts.queue_integral -= static_cast<std::uint64_t>(bytes) * queue_time();
        enqueue(out, item);
        queue.counts.peak_queue_bytes = std::max(queue.counts.peak_queue_bytes, queue.bytes);
        kick_switch(out);
    }
    if (buffer.must_pause(link.to_port, priority)) [[unlikely]] {
        buffer.set_paused(link.to_port, priority, true);
        send_pause(link.index ^ 1U, priority, true);
    }
}

Item* PacketNetwork::next_of_switch(Link& link, PrioritySet candidates) {
    const Priority priority = choose_priority(link, candidates, switches_.strict);
    Item* const item = take(link, priority);
    Packet& packet = item->packet;
    Link::Queue& queue = link.queues[priority];
    queue.deficit -= packet.wire_bytes;
    if (marks_at_dequeue_ && packet.ecn_capable && is_marked(link, priority)) {
        packet.marked = true;
        ++queue.counts.marked;
    }
    return item;
}

/// A packet out of a queue that is not empty, and out of the switch's memory.
Item* PacketNetwork::take(Link& link, Priority priority) {
    Item* const item = dequeue(link, priority);
    const std::int64_t bytes = item->packet.wire_bytes;
    link.queues[priority].counts.queue_integral += static_cast<std::uint64_t>(bytes) * queue_time();
    const std::uint32_t port = item->packet.ingress_port;
    SharedBuffer& buffer = *nodes_[link.from].buffer;
    buffer.release(port, priority, bytes, link.from_port);
    if (buffer.may_resume(port, priority)) [[unlikely]] {
        buffer.set_paused(port, priority, false);
        send_pause(ports_[link.from][port], priority, false);
    }
    return item;
}

// Links of a PacketNetwork: when a transmission begins, and of which priority; pauses.

/// Something to send may have come: now, or when the link is free.
void PacketNetwork::kick(LinkIndex index) {
    Link& link = links_[index];
    link.from_switch ? kick_switch(link) : kick_host(link);
}

/// Whether the link may begin with a packet; if it only has to become free, there will be an event.
bool PacketNetwork::may_begin(Link& link) {
    if (link.waiting || link.down) {
        return false;
    }
    if (link.free_at > now_) {
        wait_for(link);
        return false;
    }
    return true;
}

void PacketNetwork::wait_for(Link& link) {
    link.waiting = true;
    events_.push(link.free_at, link.transmitted);
}

void PacketNetwork::kick_switch(Link& link) {
    if (!may_begin(link)) {
        return;
    }
    const auto candidates = static_cast<PrioritySet>(link.nonempty & ~link.paused);
    if (candidates == 0) {
        return;
    }
    begin(link, next_of_switch(link, candidates));
    if (link.nonempty != 0) {
        wait_for(link);
    }
}

void PacketNetwork::kick_host(Link& link) {
    if (!may_begin(link)) {
        return;
    }
    Item* const item = next_of_host(link);
    if (item == nullptr) {
        return;
    }
    begin(link, item);
    sent_by_host(link, item->packet);
    follow_up(link);
}

/// The link's transmission of the packet has just begun.
void PacketNetwork::sent_by_host(Link& link, const Packet& packet) {
    if (packet.datagram && packet.last) {
        push(link.free_at, Item::Kind::left, packet.flow.value);
    }
    link.free_at = std::max(link.free_at, now_ + host_times_.send_time);
}

/// The transmission of a packet, and its way over the cable.
void PacketNetwork::begin(Link& link, Item* item) {
    item->kind = link.arrives;
    item->index = link.index;
    const std::uint64_t bytes = item->packet.wire_bytes;
    const Picoseconds free_at =
        now_ + Picoseconds{static_cast<std::int64_t>(bytes) * link.picoseconds_per_byte_fixed >> 16};
    link.free_at = free_at;
    LinkCounts& counted = link.queues[item->packet.priority].counts;
    ++counted.packets;
    counted.bytes += bytes;
    ++transmissions_;
    events_.push(free_at + link.delay, item);
}

void PacketNetwork::enqueue(Link& link, Item* item) {
    const Priority priority = item->packet.priority;
    Link::Queue& queue = link.queues[priority];
    link.takes_turns ? link.turns[priority].push(item) : queue.packets.push(item);
    queue.bytes += item->packet.wire_bytes;
    link.nonempty |= core::mask_of(priority);
}

/// From a queue that is not empty.
Item* PacketNetwork::dequeue(Link& link, Priority priority) {
    Link::Queue& queue = link.queues[priority];
    Item* const item = link.takes_turns ? link.turns[priority].pop() : queue.packets.pop();
    queue.bytes -= item->packet.wire_bytes;
    if (link.takes_turns ? link.turns[priority].empty() : queue.packets.empty()) {
        link.nonempty &= static_cast<PrioritySet>(~core::mask_of(priority));
    }
    return item;
}

/// Of those that could send: strict priorities first, then the others by weight.
Priority PacketNetwork::choose_priority(Link& link, PrioritySet candidates, PrioritySet strict) {
    if (const std::uint32_t first = candidates & strict; first != 0) [[unlikely]] {
        return static_cast<Priority>(std::bit_width(first) - 1);
    }
    if ((candidates & (candidates - 1U)) != 0) {
        return weigh(link, candidates);
    }
    const auto only = static_cast<Priority>(std::countr_zero(std::uint32_t{candidates}));
    // A queue alone may send without limit, and that is not charged to it when others have packets.
    link.queues[only].deficit = 1;
    return only;
}

/// Deficit round robin (Shreedhar and Varghese, 1995).
Priority PacketNetwork::weigh(Link& link, PrioritySet candidates) {
    for (;;) {
        const Priority priority = link.turn;
        if ((candidates & core::mask_of(priority)) != 0 && link.queues[priority].deficit > 0) {
            return priority;
        }
        link.turn = static_cast<std::uint8_t>((link.turn + 1) % priority_count);
        constexpr std::int64_t quantum = 4096;
        if ((candidates & core::mask_of(link.turn)) != 0) {
            link.queues[link.turn].deficit += quantum * switches_.weights[link.turn];
        } else {
            link.queues[link.turn].deficit = 0;
        }
    }
}

// Pauses: of a priority (PFC, IEEE 802.1Qbb) or of a whole link (IEEE 802.3x), which is counted for priority
// 0

/// On a link from a switch, ahead of everything that waits for it.
void PacketNetwork::send_pause(LinkIndex index, Priority priority, bool on) {
    if (switches_.pauses_whole_links) {
        priority = 0;  // of all of them
    }
    Link& link = links_[index];
    if (cables_[index / 2].cut_by != no_failure) {
        return;
    }
    link.free_at =
        std::max(link.free_at, now_) + Picoseconds{pause_frame_bytes * link.picoseconds_per_byte_fixed >> 16};
    push(link.free_at + link.delay, on ? Item::Kind::pause : Item::Kind::resume, index, priority);
    ++transmissions_;
    count(index, priority).pauses_sent += on ? 1 : 0;
    if (on && (link.refreshing & core::mask_of(priority)) == 0) {
        link.refreshing |= core::mask_of(priority);
        const Picoseconds renewed{core::pause_renewed_after.count * link.picoseconds_per_byte_fixed >> 16};
        push(now_ + renewed, Item::Kind::refresh, index, priority);
    }
}

void PacketNetwork::refresh(LinkIndex index, Priority priority) {
    Link& link = links_[index];
    link.refreshing &= static_cast<PrioritySet>(~core::mask_of(priority));
    const bool pauses = link.from_switch ? nodes_[link.from].buffer->paused(link.from_port, priority)
                                         : host_queues_[link.from].holds_switch();
    if (pauses) {
        send_pause(index, priority, true);
    }
}

void PacketNetwork::pause_arrived(LinkIndex index, Priority priority, bool on) {
    const LinkIndex held = index ^ 1U;
    Link& link = links_[held];
    const PrioritySet paused = switches_.pauses_whole_links ? every_priority : core::mask_of(priority);
    const bool was_paused = (link.paused & core::mask_of(priority)) != 0;
    LinkCounts& counted = count(held, priority);
    watch_pause(held, priority, on);
    if (on) {
        ++counted.pauses;
        if ((link.ignoring & core::mask_of(priority)) != 0) {
            return;
        }
        link.paused |= paused;
        if (!was_paused) {
            link.queues[priority].paused_from = now_;
            examine_later();
        }
    } else if (was_paused) {
        link.paused &= static_cast<PrioritySet>(~paused);
        counted.paused += now_ - link.queues[priority].paused_from;
        kick(held);
    }
}

}  // namespace weir::packet
