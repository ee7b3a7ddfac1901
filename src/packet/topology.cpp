#include "packet/topology.hpp"

#include <deque>
#include <set>

namespace weir::packet {

namespace {

constexpr std::uint32_t identity_of_switch = 1U << 31U;

}  // namespace

NodeIndex Topology::add_node(bool is_switch) {
    const auto hosts = static_cast<std::uint32_t>(is_switch_.size()) - switches_;
    identities_.push_back(is_switch ? identity_of_switch | switches_++ : hosts);
    is_switch_.push_back(is_switch);
    ports_.emplace_back();
    return {static_cast<std::uint32_t>(is_switch_.size() - 1)};
}

LinkIndex Topology::connect(NodeIndex a, NodeIndex b, core::BitRate rate, core::Duration delay) {
    WEIR_ASSERT(a != b && a.value < nodes() && b.value < nodes() && rate.bits_per_second > 0);
    const auto index = static_cast<LinkIndex>(links_.size());
    const auto port_a = static_cast<std::uint32_t>(ports_[a.value].size());
    const auto port_b = static_cast<std::uint32_t>(ports_[b.value].size());
    const bool fewer_at_a = port_a < port_b;
    const std::vector<LinkIndex>& fewer = ports_[(fewer_at_a ? a : b).value];
    const auto parallel = static_cast<std::uint32_t>(std::count_if(
        fewer.begin(), fewer.end(), [&](LinkIndex link) { return links_[link].to == (fewer_at_a ? b : a); }));
    links_.push_back({a, b, port_a, port_b, rate, delay, parallel});
    links_.push_back({b, a, port_b, port_a, rate, delay, parallel});
    ports_[a.value].push_back(index);
    ports_[b.value].push_back(index + 1);
    return index;
}

std::vector<std::vector<LinkIndex>> Topology::ways_to(NodeIndex to, const std::vector<bool>& unused) const {
    const auto is_used = [&](LinkIndex link) { return unused.empty() || !unused[link / 2]; };
    constexpr auto far = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> distance(nodes(), far);
    std::vector<std::vector<LinkIndex>> ways(nodes());
    std::deque<NodeIndex> waiting{to};
    distance[to.value] = 0;
    while (!waiting.empty()) {
        const NodeIndex node = waiting.front();
        waiting.pop_front();
        for (const LinkIndex leaving : ports_[node.value]) {
            const NodeIndex neighbour = links_[leaving].to;
            if (!is_used(leaving)) {
                continue;
            }
            if (distance[neighbour.value] == far) {
                distance[neighbour.value] = distance[node.value] + 1;
                if (is_switch(neighbour)) {
                    waiting.push_back(neighbour);
                }
            }
            if (distance[neighbour.value] == distance[node.value] + 1) {
                ways[neighbour.value].push_back(leaving ^ 1U);
            }
        }
    }
    for (const StaticRoute& route : routes_) {
        if (route.host == to) {
            ways[route.from.value] = is_used(route.link) ? std::vector{route.link} : std::vector<LinkIndex>{};
        }
    }
    return ways;
}

NodeIndex Topology::gateway(NodeIndex host) const {
    const std::vector<LinkIndex>& cables = ports_[host.value];
    const bool shares = cables.size() == 1 && is_switch(links_[cables.front()].to) &&
                        std::none_of(routes_.begin(), routes_.end(),
                                     [&](const StaticRoute& one) { return one.host == host; });
    return shares ? links_[cables.front()].to : host;
}

std::vector<std::vector<LinkIndex>> Topology::parallel_links() const {
    std::set<std::pair<std::uint32_t, std::vector<LinkIndex>>> found;
    std::vector<bool> seen(nodes());
    for (std::uint32_t host = 0; host < nodes(); ++host) {
        if (is_switch({host}) || seen[gateway({host}).value]) {
            continue;
        }
        seen[gateway({host}).value] = true;
        std::vector<std::vector<LinkIndex>> ways = ways_to(gateway({host}));
        for (std::uint32_t node = 0; node < nodes(); ++node) {
            if (is_switch({node}) && ways[node].size() > 1) {
                std::sort(ways[node].begin(), ways[node].end());
                found.emplace(node, std::move(ways[node]));
            }
        }
    }
    std::vector<std::vector<LinkIndex>> all;
    all.reserve(found.size());
    for (const auto& [node, links] : found) {
        all.push_back(links);
    }
    return all;
}

void Topology::set_identity(NodeIndex host, std::uint32_t identity) {
    WEIR_ASSERT(!is_switch(host) && identity < identity_of_switch);
    identities_[host.value] = identity;
}

void Topology::set_way(NodeIndex from, NodeIndex host, LinkIndex link) {
    WEIR_ASSERT(is_switch(from) && !is_switch(host) && links_[link].from == from);
    routes_.push_back({from, host, link});
}

Topology built(const core::FabricLayout& layout) {
    Topology topology;
    const auto ports = static_cast<std::uint32_t>(layout.ports.size());
    for (std::size_t node = 0; node < ports + layout.switches.size(); ++node) {
        node < ports ? topology.add_host() : topology.add_switch();
    }
    for (std::uint32_t port = 0; port < ports; ++port) {
        const core::FabricLayout::Port& cable = layout.ports[port];
        topology.connect({port}, {ports + cable.leaf}, cable.rate, cable.delay);
    }
    for (const core::FabricLayout::Cable& cable : layout.cables) {
        topology.connect({ports + cable.lower}, {ports + cable.upper}, cable.rate, cable.delay);
    }
    return topology;
}

Topology star(const std::vector<core::BitRate>& hosts, core::Duration delay) {
    Topology topology;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
        topology.add_host();
    }
    const NodeIndex middle = topology.add_switch();
    for (std::uint32_t host = 0; host < hosts.size(); ++host) {
        topology.connect({host}, middle, hosts[host], delay);
    }
    return topology;
}

Topology ring(const std::vector<core::BitRate>& hosts, core::BitRate between, core::Duration delay) {
    const auto count = static_cast<std::uint32_t>(hosts.size());
    WEIR_ASSERT(count >= 3);
    Topology topology;
    for (std::uint32_t node = 0; node < 2 * count; ++node) {
        node < count ? topology.add_host() : topology.add_switch();
    }
    for (std::uint32_t host = 0; host < count; ++host) {
        topology.connect({host}, {count + host}, hosts[host], delay);
    }
    for (std::uint32_t host = 0; host < count; ++host) {
        topology.connect({count + host}, {count + (host + 1) % count}, between, delay);
    }
    return topology;
}

}  // namespace weir::packet
