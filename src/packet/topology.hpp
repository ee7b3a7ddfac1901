// Which hosts and switches there are, how they are connected, and which way packets take: a graph, and the
// shortest paths in it. Of several equally short ones, each flow takes one, by a hash of what it is (ECMP).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/fabric_layout.hpp"
#include "core/units.hpp"
#include "packet/packet.hpp"

namespace weir::packet {

/// One direction of a cable: 2 x cable from its first end to the second one, 2 x cable + 1 back.
using LinkIndex = std::uint32_t;

class Topology {
  public:
    NodeIndex add_host() { return add_node(false); }
    NodeIndex add_switch() { return add_node(true); }
    /// Both directions. Returns the link from `a` to `b`; the other one is that ^ 1.
    LinkIndex connect(NodeIndex a, NodeIndex b, core::BitRate rate, core::Duration delay);

    struct Link {
        NodeIndex from;
        NodeIndex to;
        std::uint32_t from_port = 0;  ///< each node numbers its cables 0, 1, ...
        std::uint32_t to_port = 0;
        core::BitRate rate;
        core::Duration delay;
        std::uint32_t parallel = 0;  ///< of several cables between the same nodes: 0, 1, ...
    };
    [[nodiscard]] std::size_t nodes() const { return is_switch_.size(); }
    [[nodiscard]] bool is_switch(NodeIndex node) const { return is_switch_[node.value]; }
    [[nodiscard]] const std::vector<Link>& links() const { return links_; }
    /// Links that leave a node, by its ports.
    [[nodiscard]] const std::vector<LinkIndex>& ports(NodeIndex node) const { return ports_[node.value]; }

    /// By which number a node draws random numbers and is hashed: each has one of its own. It is that of a
    /// host among hosts or of a switch among switches, unless a caller gives one that is the same in another
    /// network: then a host that is added changes nothing for the others. Less than 2^31.
    [[nodiscard]] std::uint32_t identity(NodeIndex node) const { return identities_[node.value]; }
    void set_identity(NodeIndex host, std::uint32_t identity);

    /// A static route: packets for `host` leave this switch by `link`, whatever the shortest path is. Routes
    /// must not form a loop.
    void set_way(NodeIndex from, NodeIndex host, LinkIndex link);

    /// From each node, the links on the way to `to`, by a static route or on the shortest paths; empty
    /// where there is none. Hosts do not forward. Without the cables marked in `unused`, by number; empty:
    /// with all.
    [[nodiscard]] std::vector<std::vector<LinkIndex>> ways_to(NodeIndex to,
                                                              const std::vector<bool>& unused = {}) const;

    /// The ways to a host are those to this node, and then its own cable: its switch, which other hosts
    /// share; the host itself where it has several cables or static routes.
    [[nodiscard]] NodeIndex gateway(NodeIndex host) const;

    /// Links of a switch that are ways to the same host, where there are several; each set once, in the order
    /// of switches.
    [[nodiscard]] std::vector<std::vector<LinkIndex>> parallel_links() const;

  private:
    struct StaticRoute {
        NodeIndex from;
        NodeIndex host;
        LinkIndex link = 0;
    };
    NodeIndex add_node(bool is_switch);

    std::vector<bool> is_switch_;
    std::vector<std::uint32_t> identities_;
    std::uint32_t switches_ = 0;
    std::vector<Link> links_;
    std::vector<std::vector<LinkIndex>> ports_;
    std::vector<StaticRoute> routes_;
};

/// Ports are hosts 0 .. n-1, then come the switches, in the order of the layout; so do cables, those of ports
/// first.
Topology built(const core::FabricLayout& layout);

/// One switch in the middle. Hosts are nodes 0 .. n-1, the switch is node n.
Topology star(const std::vector<core::BitRate>& hosts, core::Duration delay);

/// Switches in a ring, host i at switch i. Hosts are nodes 0 .. n-1, switches n .. 2n-1; cables 0 .. n-1 go
/// from the hosts to their switches, cable n + i from switch i to switch i + 1. At least three.
Topology ring(const std::vector<core::BitRate>& hosts, core::BitRate between, core::Duration delay);

}  // namespace weir::packet
