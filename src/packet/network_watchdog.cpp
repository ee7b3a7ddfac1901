// Watchdogs of switches in a PacketNetwork: queues that a peer pauses for too long.
#include "packet/packet_network.hpp"

namespace weir::packet {

PacketNetwork::Watch* PacketNetwork::watch_of(LinkIndex index, Priority priority) {
    return watches_.empty() || !links_[index].from_switch ? nullptr
                                                          : &watches_[index * priority_count + priority];
}

/// The peer has paused a queue, or let it go on.
void PacketNetwork::watch_pause(LinkIndex index, Priority priority, bool on) {
    Watch* const watch = watch_of(index, priority);
    if (watch == nullptr || watch->paused == on) {
        return;
    }
    watch->paused = on;
    watch->since = now_;
    look_later(index, priority);
}

/// An event for when there is something to do if nothing changes, unless one that comes before is pending.
void PacketNetwork::look_later(LinkIndex index, Priority priority) {
    Watch& watch = *watch_of(index, priority);
    if (watch.pending || watch.paused == watch.acts) {
        return;
    }
    watch.pending = true;
    const core::WatchdogPlan& plan = switches_.watchdog;
    push(watch.since + Picoseconds::of(watch.acts ? plan.restoration : plan.detection), Item::Kind::watch,
         index, priority);
}

void PacketNetwork::look_at_queue(LinkIndex index, Priority priority) {
    Watch& watch = *watch_of(index, priority);
    watch.pending = false;
    if (watch.paused == watch.acts) {
        return;
    }
    const core::WatchdogPlan& plan = switches_.watchdog;
    if (now_ - watch.since < Picoseconds::of(watch.acts ? plan.restoration : plan.detection)) {
        look_later(index, priority);
        return;
    }
    watch.acts = !watch.acts;
    ++(watch.acts ? watchdogs_.detected : watchdogs_.restored);
    note({.kind = watch.acts ? NetworkEvent::Kind::detected : NetworkEvent::Kind::restored,
          .at = now_,
          .link = index,
          .priority = priority});
    act_on_queue(index, priority, watch.acts);
}

void PacketNetwork::act_on_queue(LinkIndex index, Priority priority, bool on) {
    Link& link = links_[index];
    const PriorityMask mask = core::mask_of(priority);
    if (switches_.watchdog.action == core::WatchdogAction::drop) {
        set_condition(index);
        if (on) {
            lose_queue(index, priority, watchdogs_.dropped, no_failure);
        }
    } else if (on) {
        link.ignoring |= mask;
        if ((link.paused & mask) != 0) {
            link.paused &= static_cast<PriorityMask>(~mask);
            count(index, priority).paused += now_ - link.queues[priority].paused_from;
        }
    } else {
        link.ignoring &= static_cast<PriorityMask>(~mask);
    }
    kick(index);
    if (on) {
        examine_later();
    }
}

PriorityMask PacketNetwork::dropped_by_watchdog(LinkIndex index) const {
    PriorityMask dropped = 0;
    if (!watches_.empty() && switches_.watchdog.action == core::WatchdogAction::drop) {
        for (std::size_t priority = 0; priority < priority_count; ++priority) {
            if (watches_[index * priority_count + priority].acts) {
                dropped |= core::mask_of(static_cast<Priority>(priority));
            }
        }
    }
    return dropped;
}

/// Of a link that was cut: its peer's pauses are over.
void PacketNetwork::forget_pauses(LinkIndex index) {
    for (std::size_t priority = 0; priority < priority_count; ++priority) {
        watch_pause(index, static_cast<Priority>(priority), false);
    }
}

}  // namespace weir::packet
