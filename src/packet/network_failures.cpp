// Failures of a PacketNetwork: cables that are cut or slow or lose packets, the routes that follow, and hosts
// that pause their switch for ever.
#include <algorithm>
#include <utility>

#include "core/assertion.hpp"
#include "packet/packet_network.hpp"

namespace weir::packet {

namespace {

std::uint64_t key_of(const Packet& packet) {
    return std::uint64_t{packet.flow.value} << 32U | packet.to.value;
}

}  // namespace

std::uint32_t PacketNetwork::add_failure(FabricFailure failure) {
    WEIR_ASSERT(failure.kind != FabricFailure::Kind::storm || !topology_->is_switch(failure.host));
    failures_.push_back({std::move(failure)});
    return static_cast<std::uint32_t>(failures_.size() - 1);
}

void PacketNetwork::set_failed(Picoseconds now, std::uint32_t failure, bool on) {
    set_now(now);
    // Within advance(), because packets that are lost are reported.
    push(std::max(now, now_), Item::Kind::failure, failure, on ? 1 : 0);
}

FailureCosts PacketNetwork::failure_costs(std::uint32_t failure, Picoseconds until) const {
    FailureCosts costs = failures_[failure].costs;
    for (const auto& [key, gap] : gaps_) {
        if (gap.failure == failure) {
            ++costs.open_gaps;
            costs.longest_gap = std::max(costs.longest_gap, until - gap.since);
        }
    }
    return costs;
}

void PacketNetwork::change_failure(std::uint32_t index, bool on) {
    FailureState& changed = failures_[index];
    changed.lasting = on;
    if (changed.what.kind == FabricFailure::Kind::storm) {
        set_storm(changed.what.host);
        return;
    }
    std::vector<CableIndex> cut;
    std::vector<CableIndex> mended;
    for (const CableIndex cable : changed.what.cables) {
        const bool was_cut = cables_[cable].cut_by != no_failure;
        combine_failures(cable);
        const bool is_cut = cables_[cable].cut_by != no_failure;
        if (was_cut != is_cut) {
            (is_cut ? cut : mended).push_back(cable);
        }
        set_condition(2 * cable);
        set_condition(2 * cable + 1);
    }
    lose_on_links(cut);
    for (const CableIndex cable : cut) {
        cut_link(2 * cable);
        cut_link(2 * cable + 1);
    }
    for (const CableIndex cable : mended) {
        mend_link(2 * cable);
        mend_link(2 * cable + 1);
    }
    if (!cut.empty() || !mended.empty()) {
        unrouted_.push({on ? std::move(cut) : std::move(mended), index, !on});
        push(now_ + Picoseconds::of(switches_.convergence), Item::Kind::converge, 0);
    }
}

/// What all failures together make of a cable.
void PacketNetwork::combine_failures(CableIndex cable) {
    CableState& state = cables_[cable];
    state.cut_by = state.errors_by = no_failure;
    state.speed = 1;
    double kept = 1;
    for (std::uint32_t index = 0; index < failures_.size(); ++index) {
        const FabricFailure& failure = failures_[index].what;
        const auto& cables = failure.cables;
        if (!failures_[index].lasting || std::find(cables.begin(), cables.end(), cable) == cables.end()) {
            continue;
        }
        if (failure.kind == FabricFailure::Kind::cut) {
            state.cut_by = std::min(state.cut_by, index);
        } else if (failure.kind == FabricFailure::Kind::slow) {
            state.speed = std::min(state.speed, failure.share);
        } else {
            state.errors_by = std::min(state.errors_by, index);
            kept *= 1 - failure.share;
        }
    }
    state.error_share = 1 - kept;
}

/// After a change of what holds for its cable.
void PacketNetwork::set_condition(LinkIndex index) {
    Link& link = links_[index];
    const CableState& cable = cables_[index / 2];
    const double factor = std::min(cable.speed, cable.speed_of_host);
    const bool is_cut = cable.cut_by != no_failure;
    link.down = is_cut || factor <= 0;
    link.error_share = cable.error_share;
    const Item::Kind usual =
        link.leads_to_switch ? Item::Kind::arrives_at_switch : Item::Kind::arrives_at_host;
    link.arrives = link.error_share > 0 ? Item::Kind::may_have_errors : usual;
    link.refusing = is_cut ? every_priority : dropped_by_watchdog(index);
    if (factor > 0) {
        link.picoseconds_per_byte_fixed =
            static_cast<std::int64_t>(static_cast<double>(link.full_speed_fixed) / factor);
    }
    kick(index);
}

void PacketNetwork::set_speed(Picoseconds now, NodeIndex host, double factor) {
    set_now(now);
    const LinkIndex uplink = nodes_[host.value].uplink;
    cables_[uplink / 2].speed_of_host = factor;
    set_condition(uplink);
    set_condition(uplink ^ 1U);
}

// Cuts

/// Packets and PAUSE frames that are on the cables.
void PacketNetwork::lose_on_links(const std::vector<CableIndex>& cut) {
    if (cut.empty()) {
        return;
    }
    std::vector<bool> is_cut(cables_.size());
    for (const CableIndex cable : cut) {
        is_cut[cable] = true;
    }
    for (Item& item : items_.all()) {
        const bool frame = item.kind == Item::Kind::pause || item.kind == Item::Kind::resume;
        if ((!frame && !item.on_link()) || !is_cut[item.index / 2]) {
            continue;
        }
        item.kind = Item::Kind::lost;
        if (!frame) {
            losses_[item.index].on_link.add(item.packet);
            const std::uint32_t failure = cables_[item.index / 2].cut_by;
            failures_[failure].costs.on_links.add(item.packet);
            lose(Packet(item.packet), failure);
        }
    }
}

void PacketNetwork::cut_link(LinkIndex index) {
    Link& link = links_[index];
    end_pauses(index);
    const std::uint32_t failure = cables_[index / 2].cut_by;
    for (std::size_t priority = 0; priority < priority_count; ++priority) {
        lose_queue(index, static_cast<Priority>(priority), failures_[failure].costs.in_queues, failure);
    }
    if (link.leads_to_switch) {
        for (std::size_t priority = 0; priority < priority_count; ++priority) {
            nodes_[link.to].buffer->set_paused(link.to_port, static_cast<Priority>(priority), false);
        }
    }
}

void PacketNetwork::mend_link(LinkIndex index) {
    const Link& link = links_[index];
    if (!link.from_switch && host_queues_[link.from].holds_switch()) {
        pause_switch({link.from});
    }
    kick(index);
}

/// What was paused by the other end of a cable goes on.
void PacketNetwork::end_pauses(LinkIndex index) {
    Link& link = links_[index];
    for (std::size_t place = 0; place < priority_count; ++place) {
        const auto priority = static_cast<Priority>(place);
        if ((link.paused & core::mask_of(priority)) != 0) {
            count(index, priority).paused += now_ - link.queues[priority].paused_from;
            // Pauses of whole links are counted for priority 0.
            link.paused &= switches_.pauses_whole_links ? PrioritySet{0}
                                                        : static_cast<PrioritySet>(~core::mask_of(priority));
        }
        watch_pause(index, priority, false);
    }
}

void PacketNetwork::lose_queue(LinkIndex index, Priority priority, Carried& sum, std::uint32_t failure) {
    Link& link = links_[index];
    while ((link.nonempty & core::mask_of(priority)) != 0) {
        Item* const item = link.from_switch ? take(link, priority) : dequeue(link, priority);
        const Packet packet = item->packet;
        items_.remove(item);
        losses_[index].before_link.add(packet);
        sum.add(packet);
        lose(packet, failure);
    }
}

/// A packet comes for a queue that takes none, or there is no way.
void PacketNetwork::turn_away(const Link& link, LinkIndex out, Item* item) {
    const Packet packet = item->packet;
    items_.remove(item);
    if (out == NetworkEvent::no_link) {
        without_way_[link.to].add(packet);
        failures_[routed_by_].costs.without_way.add(packet);
        lose(packet, routed_by_);
        return;
    }
    losses_[out].before_link.add(packet);
    const std::uint32_t failure = cables_[out / 2].cut_by;
    (failure == no_failure ? watchdogs_.dropped : failures_[failure].costs.sent_to_cut).add(packet);
    lose(packet, failure);
}

/// At the other end of a link with errors.
void PacketNetwork::check_errors(Item* item) {
    const LinkIndex index = item->index;
    Link& link = links_[index];
    // The errors may have ended meanwhile; then the packet came through.
    const std::uint32_t failure = cables_[index / 2].errors_by;
    if (failure != no_failure && link.errors.uniform() < link.error_share) {
        const Packet packet = item->packet;
        items_.remove(item);
        losses_[index].on_link.add(packet);
        failures_[failure].costs.by_errors.add(packet);
        lose(packet, failure);
    } else if (link.leads_to_switch) {
        receive_at_switch(link, item);
    } else {
        arrive_at_host(item);
    }
}

// Routes

void PacketNetwork::converge() {
    const Unrouted change = unrouted_.pop();
    routed_by_ = change.failure;
    unused_.resize(cables_.size());
    for (const CableIndex cable : change.cables) {
        unused_[cable] = !change.mended;
    }
    find_ways();
    note({.kind = NetworkEvent::Kind::converged, .at = now_});
}

/// Every switch gets one more entry in its ways.
void PacketNetwork::add_gateway(NodeIndex gateway) {
    const std::vector<std::vector<LinkIndex>> ways = topology_->ways_to(gateway, unused_);
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
        if (topology_->is_switch({node})) {
            const auto count = static_cast<std::uint32_t>(ways[node].size());
            nodes_[node].ways.push_back(
                {count, count == 1 ? ways[node].front() : static_cast<std::uint32_t>(ways_.size())});
            ways_.insert(ways_.end(), ways[node].begin(), ways[node].end());
        }
    }
}

void PacketNetwork::find_ways() {
    ways_.clear();
    for (NodeState& node : nodes_) {
        node.ways.assign(1, Ways{});
        node.gateway = 0;
    }
    std::uint32_t gateways = 0;
    for (std::uint32_t host = 0; host < nodes_.size(); ++host) {
        if (topology_->is_switch({host})) {
            continue;
        }
        const NodeIndex gateway = topology_->gateway({host});
        const LinkIndex uplink = nodes_[host].uplink;
        PacketAddress& address = addresses_[host];
        address.gateway = 0;
        if (gateway.value != host && !routes_use(uplink / 2)) {
            continue;
        }
        std::uint32_t& number = nodes_[gateway.value].gateway;
        if (number == 0) {
            number = ++gateways;
            add_gateway(gateway);
        }
        address.gateway = number;
        address.last = uplink ^ 1U;
    }
    buffer_cycle_ = switches_.lossless == 0 && !switches_.pauses_whole_links
                        ? std::vector<LinkIndex>{}
                        : buffer_cycle(*topology_, unused_);
}

// Storms

void PacketNetwork::set_storm(NodeIndex node) {
    HostQueue& host = host_queues_[node.value];
    const bool held = host.holds_switch();
    host.storms = std::any_of(failures_.begin(), failures_.end(), [&](const FailureState& state) {
        return state.lasting && state.what.kind == FabricFailure::Kind::storm && state.what.host == node;
    });
    if (host.holds_switch() != held) {
        pause_switch(node);
    }
}

// Gaps

/// Of a packet that a failure or a watchdog lost (no_failure).
void PacketNetwork::lose(const Packet& packet, std::uint32_t failure) {
    drop(packet);
    if (packet.copy || packet.kind != Packet::Kind::data || failure == no_failure) {
        return;
    }
    Flow& flow = *flows_[packet.flow.value];
    if (flow.unnumbered || (!packet.datagram && packet.sequence < flow.expected())) {
        return;  // not known, or the receiver has it
    }
    const auto [known, added] = gaps_.try_emplace(key_of(packet));
    Gap& gap = known->second;
    if (added) {
        gap = {failure, packet.sequence, flow.expected(), now_};
        flow.lacks_packets = true;
        ++failures_[failure].costs.gaps;
    } else if (static_cast<std::int32_t>(packet.sequence - gap.missing) < 0) {
        gap.missing = packet.sequence;
    }
}

/// A packet of a flow that lacks some has arrived at its host.
void PacketNetwork::arrived_after_loss(const Packet& packet) {
    const auto found = gaps_.find(key_of(packet));
    if (found == gaps_.end()) {
        return;
    }
    Flow& flow = *flows_[packet.flow.value];
    Gap& gap = found->second;
    const std::uint32_t reached = packet.datagram ? packet.sequence : flow.expected();
    if (!packet.datagram && reached == gap.expected) {
        return;
    }
    gap.expected = reached;
    if (static_cast<std::int32_t>(reached - gap.missing) <= 0) {
        gap.since = now_;  // it was ahead of what was lost
        return;
    }
    FailureCosts& costs = failures_[gap.failure].costs;
    costs.longest_gap = std::max(costs.longest_gap, now_ - gap.since);
    gaps_.erase(found);
    flow.lacks_packets = std::any_of(gaps_.begin(), gaps_.end(), [&](const auto& other) {
        return other.first >> 32U == packet.flow.value;
    });
}

void PacketNetwork::note(NetworkEvent event) {
    if (network_events_.size() < NetworkEvent::most_kept) {
        network_events_.push_back(std::move(event));
    }
}

// Watchdogs: queues that a peer pauses for too long

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
    Picoseconds at = watch.since + Picoseconds::of(watch.acts ? plan.restoration : plan.detection);
    if (plan.polling.ns > 0) {
        const std::int64_t poll = Picoseconds::of(plan.polling).count;
        at.count = (at.count + poll - 1) / poll * poll;
    }
    push(at, Item::Kind::watch, index, priority);
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
    const PrioritySet mask = core::mask_of(priority);
    if (switches_.watchdog.action == core::WatchdogAction::drop) {
        set_condition(index);
        if (on) {
            lose_queue(index, priority, watchdogs_.dropped, no_failure);
        }
    } else if (on) {
        link.ignoring |= mask;
        if ((link.paused & mask) != 0) {
            link.paused &= static_cast<PrioritySet>(~mask);
            count(index, priority).paused += now_ - link.queues[priority].paused_from;
        }
    } else {
        link.ignoring &= static_cast<PrioritySet>(~mask);
    }
    kick(index);
    if (on) {
        examine_later();
    }
}

PrioritySet PacketNetwork::dropped_by_watchdog(LinkIndex index) const {
    PrioritySet dropped = 0;
    if (!watches_.empty() && switches_.watchdog.action == core::WatchdogAction::drop) {
        for (std::size_t priority = 0; priority < priority_count; ++priority) {
            if (watches_[index * priority_count + priority].acts) {
                dropped |= core::mask_of(static_cast<Priority>(priority));
            }
        }
    }
    return dropped;
}

}  // namespace weir::packet
