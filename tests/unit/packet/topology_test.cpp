#include "packet/topology.hpp"

#include <set>

#include "catch.hpp"
#include "leaf_spine.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

constexpr core::BitRate rate{25'000'000'000};
constexpr core::Duration delay = core::Duration::nanoseconds(500);

/// The switches that a packet goes through, by the first of the ways.
std::vector<std::uint32_t> path(const Topology& topology, NodeIndex from, NodeIndex to) {
    const auto ways = topology.ways_to(to);
    std::vector<std::uint32_t> switches;
    NodeIndex node = from;
    while (node != to) {
        REQUIRE(switches.size() < topology.nodes());
        node = topology.links()[ways[node.value].front()].to;
        if (node != to) {
            switches.push_back(node.value);
        }
    }
    return switches;
}

}  // namespace

TEST_CASE("In a star every way goes through the switch") {
    const Topology topology = star({rate, rate, rate}, delay);
    REQUIRE(topology.nodes() == 4);
    CHECK(topology.is_switch({3}));
    CHECK_FALSE(topology.is_switch({2}));
    CHECK(path(topology, {0}, {2}) == std::vector<std::uint32_t>{3});
    const auto ways = topology.ways_to({1});
    CHECK(ways[3] == std::vector<LinkIndex>{3});  // cable 1, from the switch
    CHECK(ways[1].empty());
    for (const Topology::Link& link : topology.links()) {
        CHECK(topology.ports(link.from)[link.from_port] == (&link - topology.links().data()));
    }
}

TEST_CASE("From leaf to leaf there are as many ways as spines, within a leaf there is one") {
    const Topology topology =
        leaf_spine({.leaves = 3, .spines = 4, .hosts = {7, rate}, .between = rate, .delay = delay});
    REQUIRE(topology.nodes() == 7 + 3 + 4);
    // Seven hosts on three leaves: 3, 2, 2.
    const std::uint32_t leaf_of[] = {7, 7, 7, 8, 8, 9, 9};
    for (std::uint32_t to = 0; to < 7; ++to) {
        const auto ways = topology.ways_to({to});
        for (std::uint32_t from = 0; from < 7; ++from) {
            if (from == to) {
                continue;
            }
            REQUIRE(topology.links()[ways[from].front()].to.value == leaf_of[from]);
            CHECK(ways[leaf_of[from]].size() == (leaf_of[from] == leaf_of[to] ? 1 : 4));
        }
    }
    std::set<std::uint32_t> spines;
    const auto ways_to_last = topology.ways_to({6});
    for (const LinkIndex link : ways_to_last[7]) {
        spines.insert(topology.links()[link].to.value);
    }
    CHECK(spines == std::set<std::uint32_t>{10, 11, 12, 13});
}

TEST_CASE("In a ring the shorter way is taken, unless a route is given") {
    Topology topology = ring({4, rate}, rate, delay);
    CHECK(path(topology, {0}, {3}) == std::vector<std::uint32_t>{4, 7});
    for (std::uint32_t at = 0; at < 3; ++at) {
        topology.set_way({4 + at}, {3}, 2 * (4 + at));
    }
    CHECK(path(topology, {0}, {3}) == std::vector<std::uint32_t>{4, 5, 6, 7});
    CHECK(path(topology, {3}, {0}) == std::vector<std::uint32_t>{7, 4});
}

TEST_CASE("A host that no way leads to is found, and hosts do not forward") {
    Topology topology;
    const NodeIndex a = topology.add_host();
    const NodeIndex b = topology.add_host();
    const NodeIndex c = topology.add_host();
    const NodeIndex left = topology.add_switch();
    const NodeIndex right = topology.add_switch();
    topology.connect(a, left, rate, delay);
    topology.connect(b, left, rate, delay);
    topology.connect(c, right, rate, delay);
    CHECK(topology.ways_to(c)[a.value].empty());
    CHECK(topology.ways_to(c)[left.value].empty());
    topology.connect(b, right, rate, delay);  // a second cable of a host is no bridge
    CHECK(topology.ways_to(c)[a.value].empty());
    topology.connect(left, right, rate, delay);
    CHECK_FALSE(topology.ways_to(c)[a.value].empty());
}

TEST_CASE("Hosts of a switch share its ways, unless one has another cable or a static route") {
    Topology topology =
        leaf_spine({.leaves = 3, .spines = 2, .hosts = {6, rate}, .between = rate, .delay = delay});
    const auto shared = topology.ways_to(topology.gateway({4}));
    CHECK(topology.gateway({4}) == topology.gateway({5}));
    for (const std::uint32_t host : {4U, 5U}) {
        const auto own = topology.ways_to({host});
        for (std::uint32_t node = 6; node < topology.nodes(); ++node) {
            CHECK((own[node] == shared[node] || topology.gateway({host}).value == node));
        }
    }
    topology.set_way({6}, {5}, topology.ports({6}).back());
    CHECK(topology.gateway({5}) == NodeIndex{5});
    topology.connect({4}, {6}, rate, delay);
    CHECK(topology.gateway({4}) == NodeIndex{4});
}
