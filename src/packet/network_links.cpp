// Links of a PacketNetwork: when a transmission begins, and of which priority; pauses.
#include "packet/packet_network.hpp"

#include <algorithm>
#include <bit>

namespace weir::packet {

namespace {

constexpr std::int64_t pause_frame_bytes = 84;

}  // namespace

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
