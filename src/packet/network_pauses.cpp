// Pauses of a PacketNetwork: of a priority (PFC, IEEE 802.1Qbb) or of a whole link (IEEE 802.3x), which is
// counted for priority 0.
#include "packet/packet_network.hpp"

#include <algorithm>

namespace weir::packet {

namespace {

constexpr std::int64_t pause_frame_bytes = 84;

}  // namespace

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
