// Deadlocks of a PacketNetwork: links between switches that are paused and wait for each other in a circle.
#include <algorithm>
#include <map>
#include <utility>

#include "packet/packet_network.hpp"

namespace weir::packet {

namespace {

/// A deadlock is found so long after it began at most.
constexpr Picoseconds examination_delay = Picoseconds::nanoseconds(1'000'000);

}  // namespace

/// A link between switches was paused. Only where the routes allow deadlocks.
void PacketNetwork::examine_later() {
    if (!examining_ && !buffer_cycle_.empty()) {
        examining_ = true;
        push(now_ + examination_delay, Item::Kind::examine, 0);
    }
}

/// By links that are paused: the links for which packets wait that came on it and keep it paused.
std::map<PacketNetwork::Stopped, std::vector<LinkIndex>> PacketNetwork::stopped_links() const {
    std::map<Stopped, std::vector<LinkIndex>> stopped;
    for (LinkIndex index = 0; index < links_.size(); ++index) {
        const Link& link = links_[index];
        if (!link.from_switch || !link.leads_to_switch || link.paused == 0) {
            continue;
        }
        for (std::size_t place = 0; place < priority_count; ++place) {
            const auto priority = static_cast<Priority>(place);
            if ((link.paused & core::mask_of(priority)) == 0 ||
                !nodes_[link.to].buffer->paused(link.to_port, priority)) {
                continue;
            }
            std::vector<LinkIndex>& awaited = stopped[{index, priority}];
            for (const LinkIndex out : ports_[link.to]) {
                if (holds_packets_of(links_[out], priority, link.to_port)) {
                    awaited.push_back(out);
                }
            }
        }
    }
    return stopped;
}

/// Whether packets wait for `link` that came by this port.
bool PacketNetwork::holds_packets_of(const Link& link, Priority priority, std::uint32_t port) const {
    if (takes_turns(link)) {
        return link.turns[priority].has(port);
    }
    const PacketQueue& queue = link.queues[priority].packets;
    for (ItemIndex item = queue.empty() ? no_item : queue.first(); item != no_item;
         item = items_[item].next) {
        if (items_[item].packet.ingress_port == port) {
            return true;
        }
    }
    return false;
}

/// A pause ends when a packet leaves that came on the link. So those links are stuck of which all packets
/// wait for links that are stuck.
void PacketNetwork::examine() {
    examining_ = false;
    std::map<Stopped, std::vector<LinkIndex>> stuck = stopped_links();
    const auto moves = [&](const auto& one) {
        const auto& [stopped, awaited] = one;
        const auto is_stuck = [&, priority = stopped.second](LinkIndex out) {
            return stuck.contains({out, priority});
        };
        return awaited.empty() || !std::all_of(awaited.begin(), awaited.end(), is_stuck);
    };
    while (std::erase_if(stuck, moves) > 0) {
    }
    if (stuck.empty() == !deadlocked_) {
        return;
    }
    deadlocked_ = !stuck.empty();
    if (!deadlocked_) {
        note({.kind = NetworkEvent::Kind::resolved, .at = now_});
        return;
    }
    NetworkEvent found{.kind = NetworkEvent::Kind::deadlocked, .at = {}};
    Stopped at = stuck.begin()->first;
    found.priority = at.second;
    while (std::find(found.cycle.begin(), found.cycle.end(), at.first) == found.cycle.end()) {
        found.cycle.push_back(at.first);
        at.first = stuck.at(at).front();
    }
    found.cycle.erase(found.cycle.begin(), std::find(found.cycle.begin(), found.cycle.end(), at.first));
    for (const LinkIndex link : found.cycle) {
        found.at = std::max(found.at, links_[link].queues[found.priority].paused_from);
    }
    note(std::move(found));
}

}  // namespace weir::packet
