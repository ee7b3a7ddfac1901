#include "core/fabric_layout.hpp"

#include <map>
#include <set>

#include "catch.hpp"

using namespace weir::core;

namespace {

constexpr BitRate rate{100};

NetworkPlan network_with(const TopologyPlan& topology, PlacementKind kind = PlacementKind::by_worker) {
    NetworkPlan network;
    network.producer_link = network.consumer_link = rate;
    network.latency = Duration::nanoseconds(1000);
    network.fabric.topology = topology;
    network.fabric.placement.kind = kind;
    return network;
}

FabricLayout layout_of(const NetworkPlan& network, std::uint32_t workers) {
    return fabric_layout(network, Placement(network, workers, workers, 1));
}

FabricLayout layout_of(const TopologyPlan& topology, std::uint32_t workers,
                       PlacementKind kind = PlacementKind::by_worker) {
    return layout_of(network_with(topology, kind), workers);
}

}  // namespace

TEST_CASE("A star carries what its hosts send") {
    const FabricLayout layout = layout_of(TopologyPlan{}, 8);
    CHECK(layout.switches == std::vector<SwitchName>{{Tier::leaf, 0}});
    CHECK(oversubscription(layout, Tier::leaf) == 0);
    CHECK(bisection(layout).bandwidth == BitRate{400});
    CHECK(bisection(layout).of_hosts == BitRate{400});
}

TEST_CASE(
    "Leaves and spines: oversubscription is hosts over uplinks, and half of the uplinks is between halves") {
    // Four leaves with eight hosts each, and 2 x 2 uplinks of 50.
    const FabricLayout layout = layout_of(
        {.kind = TopologyKind::leaf_spine, .leaves = 4, .spines = 2, .uplink_rate = {50}, .uplinks = 2}, 32);
    CHECK(layout.ports[31].leaf == 3);
    CHECK(layout.ports[32].leaf == 0);  // the scheduler's
    CHECK(layout.cables.size() == 16);
    CHECK(oversubscription(layout, Tier::leaf) == Approx(800.0 / 200));
    CHECK(oversubscription(layout, Tier::spine) == 0);
    CHECK(bisection(layout).bandwidth == BitRate{400});
    CHECK(bisection(layout).of_hosts == BitRate{1600});
    // Twice the uplinks, twice the bandwidth, until the hosts are the limit.
    const auto of_uplinks = [](std::int64_t uplink) {
        return bisection(layout_of({.kind = TopologyKind::leaf_spine,
                                    .leaves = 4,
                                    .spines = 2,
                                    .uplink_rate = {uplink},
                                    .uplinks = 2},
                                   32))
            .bandwidth;
    };
    CHECK(of_uplinks(100) == BitRate{800});
    CHECK(of_uplinks(400) == BitRate{1600});
}

TEST_CASE("A fat tree of switches with k ports has k^3/4 hosts and no oversubscription") {
    for (const std::uint32_t k : {4U, 8U}) {
        const TopologyPlan fat_tree{.kind = TopologyKind::three_tier,
                                    .leaves = k * k / 2,
                                    .spines = k / 2,
                                    .uplink_rate = rate,
                                    .pods = k,
                                    .cores = k * k / 4,
                                    .core_rate = rate};
        const FabricLayout layout = layout_of(fat_tree, k * k * k / 4);
        CHECK(layout.switches.size() == 5 * k * k / 4);
        CHECK(layout.cables.size() == 2 * (k * k * k / 4));
        CHECK(oversubscription(layout, Tier::leaf) == 1);
        CHECK(oversubscription(layout, Tier::spine) == 1);
        CHECK(bisection(layout).bandwidth == bisection(layout).of_hosts);
        CHECK(bisection(layout).of_hosts == BitRate{100 * k * k * k / 8});
        // Every core reaches every pod by one cable.
        std::map<std::uint32_t, std::set<std::uint32_t>> pods;
        for (const FabricLayout::Cable& cable : layout.cables) {
            if (layout.switches[cable.upper].tier == Tier::core) {
                pods[cable.upper].insert(layout.switches[cable.lower].index / fat_tree.spines);
            }
        }
        REQUIRE(pods.size() == fat_tree.cores);
        for (const auto& [core, reached] : pods) {
            CHECK(reached.size() == k);
        }
    }
    // Half of the cores: spines are oversubscribed by two, and so are the halves.
    const FabricLayout half = layout_of({.kind = TopologyKind::three_tier,
                                         .leaves = 8,
                                         .spines = 2,
                                         .uplink_rate = rate,
                                         .pods = 4,
                                         .cores = 2,
                                         .core_rate = rate},
                                        16);
    CHECK(oversubscription(half, Tier::spine) == 2);
    CHECK(bisection(half).bandwidth == BitRate{400});
    CHECK(bisection(half).of_hosts == BitRate{800});
}

TEST_CASE("In rails NIC r of each host is at leaf r, and nothing but the hosts limits traffic within rails") {
    const TopologyPlan rails{.kind = TopologyKind::rail_optimized, .leaves = 4, .spines = 0, .nics = 4};
    const FabricLayout layout = layout_of(rails, 32, PlacementKind::by_rail);
    REQUIRE(layout.ports.size() == 33);
    for (std::uint32_t port = 0; port < 32; ++port) {
        CHECK(layout.ports[port].leaf == port % 4);
        CHECK(layout.ports[port].host == port / 4);
    }
    CHECK(layout.cables.empty());
    CHECK(bisection(layout).bandwidth == BitRate{1600});
    // Two groups of hosts: what crosses goes over spines.
    const FabricLayout groups = layout_of(
        {.kind = TopologyKind::rail_optimized, .leaves = 8, .spines = 1, .uplink_rate = {200}, .nics = 4}, 32,
        PlacementKind::by_rail);
    CHECK(groups.ports[15].leaf == 3);
    CHECK(groups.ports[16].leaf == 4);
    CHECK(bisection(groups).bandwidth == BitRate{800});
    CHECK(oversubscription(groups, Tier::leaf) == Approx(400.0 / 200));
}

TEST_CASE("Single cables have speeds of their own, and tiers their delays") {
    NetworkPlan network = network_with({.kind = TopologyKind::leaf_spine,
                                        .leaves = 2,
                                        .spines = 2,
                                        .uplink_rate = rate,
                                        .uplink_delay = Duration::nanoseconds(70),
                                        .own_cables = {{{Tier::leaf, 1}, {Tier::spine, 0}, {10}}}});
    const FabricLayout layout = layout_of(network, 4);
    CHECK(layout.cables[2].rate == BitRate{10});
    CHECK(layout.cables[3].rate == rate);
    CHECK(layout.cables[0].delay == Duration::nanoseconds(70));
    CHECK(layout.ports[0].delay == Duration::nanoseconds(500));
    CHECK(oversubscription(layout, Tier::leaf) == Approx(200.0 / 110));
    CHECK(bisection(layout).bandwidth == BitRate{110});
    CHECK(switch_text({Tier::spine, 3}) == "spine-3");
}
