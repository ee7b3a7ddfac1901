// Deadlocks of a lossless network: links between switches that are paused and wait for each other in a
// circle. Packets that wait in a switch keep memory of the link on which they came, and so pause it. If the
// routes make such links wait in a circle, a deadlock is possible (Dally and Seitz, 1987; Hu et al.,
// "Deadlocks in Datacenter Networks: Why Do They Form, and How to Avoid Them", HotNets 2016: necessary, and
// not sufficient).
#include <algorithm>
#include <map>
#include <utility>

#include "packet/packet_network.hpp"

namespace weir::packet {

namespace {

/// A deadlock is found so long after it began at most.
constexpr Picoseconds examination_delay = Picoseconds::nanoseconds(1'000'000);

/// By links, of a priority: the links for which packets wait that came on it.
using AwaitedLinks = std::map<std::pair<LinkIndex, Priority>, std::vector<LinkIndex>>;

/// Takes away the links that need not wait for ever, until none is left or each waits for others that are.
/// `for_all`: it goes on as soon as one goes on for which it waits; else when all do.
void keep_stuck(AwaitedLinks& waiting, bool for_all) {
    const auto goes_on = [&](const auto& one) {
        const auto& [stopped, awaited] = one;
        const auto is_stuck = [&, priority = stopped.second](LinkIndex link) {
            return waiting.contains({link, priority});
        };
        return awaited.empty() || !(for_all ? std::all_of(awaited.begin(), awaited.end(), is_stuck)
                                            : std::any_of(awaited.begin(), awaited.end(), is_stuck));
    };
    while (std::erase_if(waiting, goes_on) > 0) {
    }
}

/// Of links that are stuck, those of a circle.
std::vector<LinkIndex> circle_of(const AwaitedLinks& stuck) {
    std::vector<LinkIndex> circle;
    if (stuck.empty()) {
        return circle;
    }
    auto [at, priority] = stuck.begin()->first;
    auto again = circle.end();
    for (; (again = std::find(circle.begin(), circle.end(), at)) == circle.end();) {
        circle.push_back(at);
        const std::vector<LinkIndex>& awaited = stuck.at({at, priority});
        at = *std::find_if(awaited.begin(), awaited.end(),
                           [&, of = priority](LinkIndex link) { return stuck.contains({link, of}); });
    }
    circle.erase(circle.begin(), again);
    return circle;
}

/// Adds what links between switches may wait for because of packets from all other hosts to this one.
void follow_packets(const Topology& topology, NodeIndex host, const std::vector<bool>& unused,
                    AwaitedLinks& waiting) {
    const std::vector<std::vector<LinkIndex>> ways = topology.ways_to(host, unused);
    std::vector<bool> reached(topology.nodes());
    std::vector<NodeIndex> open;
    const auto reach = [&](NodeIndex node) {
        if (topology.is_switch(node) && !reached[node.value]) {
            reached[node.value] = true;
            open.push_back(node);
        }
    };
    for (std::uint32_t from = 0; from < topology.nodes(); ++from) {
        if (!topology.is_switch({from}) && from != host.value) {
            for (const LinkIndex up : ways[from]) {
                reach(topology.links()[up].to);
            }
        }
    }
    while (!open.empty()) {
        const NodeIndex at = open.back();
        open.pop_back();
        for (const LinkIndex link : ways[at.value]) {
            const NodeIndex to = topology.links()[link].to;
            reach(to);
            for (const LinkIndex next : topology.is_switch(to) ? ways[to.value] : std::vector<LinkIndex>{}) {
                std::vector<LinkIndex>& awaited = waiting[{link, 0}];
                if (topology.is_switch(topology.links()[next].to) &&
                    std::find(awaited.begin(), awaited.end(), next) == awaited.end()) {
                    awaited.push_back(next);
                }
            }
        }
    }
}

}  // namespace

std::vector<LinkIndex> buffer_cycle(const Topology& topology, const std::vector<bool>& unused) {
    AwaitedLinks waiting;
    std::vector<bool> followed(topology.nodes());
    for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
        if (topology.is_switch({node}) || followed[topology.gateway({node}).value]) {
            continue;  // links between switches wait alike for all hosts of a switch
        }
        const bool is_used = unused.empty() || !unused[topology.ports({node}).front() / 2];
        followed[topology.gateway({node}).value] = is_used;
        follow_packets(topology, {node}, unused, waiting);
    }
    keep_stuck(waiting, false);
    return circle_of(waiting);
}

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
    if (link.takes_turns) {
        return link.turns[priority].has(port);
    }
    const PacketQueue& queue = link.queues[priority].packets;
    for (const Item* item = queue.empty() ? nullptr : queue.first(); item != nullptr; item = item->next) {
        if (item->packet.ingress_port == port) {
            return true;
        }
    }
    return false;
}

/// A pause ends when a packet leaves that came on the link. So those links are stuck of which all packets
/// wait for links that are stuck.
void PacketNetwork::examine() {
    examining_ = false;
    AwaitedLinks stuck = stopped_links();
    keep_stuck(stuck, true);
    if (stuck.empty() == !deadlocked_) {
        return;
    }
    deadlocked_ = !stuck.empty();
    if (!deadlocked_) {
        note({.kind = NetworkEvent::Kind::resolved, .at = now_});
        return;
    }
    NetworkEvent found{.kind = NetworkEvent::Kind::deadlocked,
                       .at = {},
                       .priority = stuck.begin()->first.second,
                       .cycle = circle_of(stuck)};
    for (const LinkIndex link : found.cycle) {
        found.at = std::max(found.at, links_[link].queues[found.priority].paused_from);
    }
    note(std::move(found));
}

}  // namespace weir::packet
