// Switches of a PacketNetwork: admission, queues, marks.

#include "packet/packet_network.hpp"

namespace weir::packet {

namespace {

constexpr std::int64_t pause_frame_bytes = 84;

}  // namespace

LinkIndex PacketNetwork::way(const NodeState& node, const Packet& packet) {
    const Ways ways = node.ways[packet.to.value];
    if (ways.count == 1) {
        return ways.first;
    }
    if (ways.count == 0) {
        return NetworkEvent::no_link;
    }
    // A flow may have several receivers, and its replies take a way of their own.
    const std::uint64_t path = flows_[packet.flow.value]->ends().path + nodes_[packet.to.value].identity;
    return node.balancer->choose({.flow = packet.flow,
                                  .to = packet.to,
                                  .priority = packet.priority,
                                  .path = path,
                                  .now = now_,
                                  .ways = {&ways_[ways.first], ways.count}},
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

void PacketNetwork::receive_at_switch(Link& link, LinkIndex index, ItemIndex item) {
    const Packet& packet = items_[item].packet;
    if (packet.datagram && nodes_[packet.to.value].flooded) {
        flood(link, index, Packet(packet));
    }
    admit(link, index, item);
}

/// A copy to each other host of the switch.
void PacketNetwork::flood(Link& link, LinkIndex index, const Packet& packet) {
    for (const LinkIndex port : ports_[link.to]) {
        const Link& out = links_[port];
        if (!out.leads_to_switch && out.to != packet.to.value && out.to != link.from) {
            const ItemIndex item = items_.add(Item::Kind::queued, port);
            items_[item].packet = packet;
            items_[item].packet.to = {out.to};
            items_[item].packet.copy = true;
            admit(link, index, item);
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
    const Item& last = items_[queue.packets.last()];
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
void PacketNetwork::refuse(const Link& link, Link& out, ItemIndex item) {
    Packet& packet = items_[item].packet;
    const Priority priority = packet.priority;
    Link::Queue& queue = out.queues[priority];
    if (!nodes_[link.to].buffer->lossless(priority) && takes_last_place(link, out, priority, packet)) {
        Packet& last = items_[queue.packets.last()].packet;
        packet.marked = packet.marked || (last.marked && packet.ecn_capable);
        std::swap(last, packet);
    }
    discard(queue, item);
}

/// A packet that does not get into this queue.
void PacketNetwork::discard(Link::Queue& queue, ItemIndex item) {
    const Packet& packet = items_[item].packet;
    ++queue.counts.dropped;
    queue.counts.dropped_bytes += packet.wire_bytes;
    drop(packet);
    items_.remove(item);
}

/// A packet for which there is no way, or whose queue takes none, or loses it early (WRED), is lost.
bool PacketNetwork::keep_out(const Link& link, LinkIndex out_index, ItemIndex item) {
    const Packet& packet = items_[item].packet;
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
void PacketNetwork::admit(Link& link, LinkIndex index, ItemIndex item) {
    NodeState& node = nodes_[link.to];
    Packet& packet = items_[item].packet;
    const LinkIndex out_index = way(node, packet);
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
    packet.ingress_port = static_cast<std::uint16_t>(link.to_port);
    if (!buffer.admit(link.to_port, priority, packet.wire_bytes, out.from_port)) {
        refuse(link, out, item);
    } else {
        if (switches_.ecn.on && switches_.ecn.at_enqueue && packet.ecn_capable && is_marked(out, priority)) {
            packet.marked = true;
            ++queue.counts.marked;
        }
        items_[item].kind = Item::Kind::queued;
        items_[item].at = now_;
        queue.counts.queue_integral -= packet.wire_bytes * queue_time();
        enqueue(out, item);
        queue.counts.peak_queue_bytes = std::max(queue.counts.peak_queue_bytes, queue.bytes);
        kick_switch(out, out_index);
    }
    if (buffer.must_pause(link.to_port, priority)) {
        buffer.set_paused(link.to_port, priority, true);
        send_pause(index ^ 1U, priority, true);
    }
}

ItemIndex PacketNetwork::next_of_switch(Link& link) {
    const int chosen =
        choose_priority(link, static_cast<PriorityMask>(link.nonempty & ~link.paused), switches_.strict);
    if (chosen < 0) {
        return no_item;
    }
    const auto priority = static_cast<Priority>(chosen);
    const ItemIndex item = take(link, priority);
    Packet& packet = items_[item].packet;
    Link::Queue& queue = link.queues[priority];
    queue.deficit -= packet.wire_bytes;
    if (switches_.ecn.on && !switches_.ecn.at_enqueue && packet.ecn_capable && is_marked(link, priority)) {
        packet.marked = true;
        ++queue.counts.marked;
    }
    return item;
}

/// A packet out of a queue that is not empty, and out of the switch's memory.
ItemIndex PacketNetwork::take(Link& link, Priority priority) {
    const ItemIndex item = dequeue(link, priority);
    const Packet& packet = items_[item].packet;
    link.queues[priority].counts.queue_integral += packet.wire_bytes * queue_time();
    const std::uint32_t port = packet.ingress_port;
    SharedBuffer& buffer = *nodes_[link.from].buffer;
    buffer.release(port, priority, packet.wire_bytes, link.from_port);
    if (buffer.may_resume(port, priority)) {
        buffer.set_paused(port, priority, false);
        send_pause(ports_[link.from][port], priority, false);
    }
    return item;
}

// Links of a PacketNetwork: when a transmission begins, and of which priority; pauses.

/// Something to send may have come: now, or when the link is free.
void PacketNetwork::kick(LinkIndex index) {
    Link& link = links_[index];
    link.from_switch ? kick_switch(link, index) : kick_host(link, index);
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

void PacketNetwork::kick_switch(Link& link, LinkIndex index) {
    if (!may_begin(link)) {
        return;
    }
    const ItemIndex item = next_of_switch(link);
    if (item == no_item) {
        return;
    }
    begin(link, index, item);
    events_.push(link.free_at + link.delay, item);
    if (link.nonempty != 0) {
        wait_for(link);
    }
}

void PacketNetwork::kick_host(Link& link, LinkIndex index) {
    if (!may_begin(link)) {
        return;
    }
    const ItemIndex item = next_of_host(link);
    if (item == no_item) {
        return;
    }
    begin(link, index, item);
    events_.push(link.free_at + link.delay, item);
    sent_by_host(link, items_[item].packet);
    follow_up(link);
}

/// The link's transmission of the packet has just begun.
void PacketNetwork::sent_by_host(Link& link, const Packet& packet) {
    if (packet.datagram && packet.last) {
        push(link.free_at, Item::Kind::left, packet.flow.value);
    }
    link.free_at = std::max(link.free_at, now_ + host_times_.send_time);
}

/// The transmission of a packet.
void PacketNetwork::begin(Link& link, LinkIndex index, ItemIndex transmitted) {
    Item& item = items_[transmitted];
    item.kind = link.arrives;
    item.index = index;
    const std::int64_t duration_ps = item.packet.wire_bytes * link.picoseconds_per_byte_fixed >> 16;
    link.free_at = now_ + Picoseconds{duration_ps};
    LinkCounts& counted = link.queues[item.packet.priority].counts;
    ++counted.packets;
    counted.bytes += item.packet.wire_bytes;
    ++transmissions_;
}

void PacketNetwork::enqueue(Link& link, ItemIndex item) {
    const Packet& packet = items_[item].packet;
    Link::Queue& queue = link.queues[packet.priority];
    if (takes_turns(link)) {
        link.turns[packet.priority].push(items_, item);
    } else {
        queue.packets.push(items_, item);
    }
    queue.bytes += packet.wire_bytes;
    link.nonempty |= core::mask_of(packet.priority);
}

/// From a queue that is not empty.
ItemIndex PacketNetwork::dequeue(Link& link, Priority priority) {
    Link::Queue& queue = link.queues[priority];
    const bool turns = takes_turns(link);
    const ItemIndex item = turns ? link.turns[priority].pop(items_) : queue.packets.pop(items_);
    queue.bytes -= items_[item].packet.wire_bytes;
    if (turns ? link.turns[priority].empty() : queue.packets.empty()) {
        link.nonempty &= static_cast<std::uint8_t>(~core::mask_of(priority));
    }
    return item;
}

/// Strict priorities first, then the others by deficit round robin (Shreedhar and Varghese, 1995). -1: none.
int PacketNetwork::choose_priority(Link& link, PriorityMask candidates, PriorityMask strict) {
    if (candidates == 0) {
        return -1;
    }
    if (const std::uint32_t first = candidates & strict; first != 0) {
        return static_cast<int>(std::bit_width(first)) - 1;
    }
    if ((candidates & (candidates - 1U)) == 0) {
        const int only = std::countr_zero(candidates);
        // A queue alone may send without limit, and that is not charged to it when others have packets.
        link.queues[static_cast<std::size_t>(only)].deficit = 1;
        return only;
    }
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
    link.refreshing &= static_cast<std::uint8_t>(~core::mask_of(priority));
    const bool pauses = link.from_switch ? nodes_[link.from].buffer->paused(link.from_port, priority)
                                         : host_queues_[link.from].holds_switch();
    if (pauses) {
        send_pause(index, priority, true);
    }
}

void PacketNetwork::pause_arrived(LinkIndex index, Priority priority, bool on) {
    const LinkIndex held = index ^ 1U;
    Link& link = links_[held];
    const PriorityMask paused = switches_.pauses_whole_links ? every_priority : core::mask_of(priority);
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
        link.paused &= static_cast<std::uint8_t>(~paused);
        counted.paused += now_ - link.queues[priority].paused_from;
        kick(held);
    }
}

}  // namespace weir::packet
