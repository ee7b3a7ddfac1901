#include "core/ideal_time.hpp"

#include <memory>
#include <vector>

#include "catch.hpp"

using namespace weir::core;

namespace {

/// Bytes that each worker sends to each other one; with_own: to itself, too.
Plan all_to_all(std::uint32_t workers, std::int64_t bytes, bool with_own = false) {
    Plan plan;
    plan.producers = plan.consumers = workers;
    plan.interval = Duration::seconds(1);
    std::vector<TrafficPlan::Entry> entries;
    for (std::uint32_t from = 0; from < workers; ++from) {
        for (std::uint32_t to = 0; to < workers; ++to) {
            if (from != to || with_own) {
                entries.push_back({{from}, {{}, {to}, 0, Bytes{bytes}}});
            }
        }
    }
    plan.traffic = std::make_shared<const TrafficPlan>(
        workers, workers, std::vector<TrafficPhase>{{"all", {}, plan.interval}}, entries);
    return plan;
}

/// Links of 1 byte per ns without headers.
NetworkPlan network_of(const TopologyPlan& topology, PlacementKind kind = PlacementKind::by_worker) {
    NetworkPlan network;
    network.model = NetworkModel::packet;
    network.producer_link = network.consumer_link = {8'000'000'000};
    network.framing = Framing::none;
    network.mtu = Bytes{1000};
    network.latency = Duration::microseconds(1);
    network.fabric.topology = topology;
    network.fabric.placement.kind = kind;
    return network;
}

std::int64_t ideal_ns(const Plan& plan, const NetworkPlan& network) {
    return ideal_phase_times(plan, network).at(0).ns;
}

TopologyPlan leaf_spine(std::uint32_t spines) {
    return {.kind = TopologyKind::leaf_spine, .leaves = 4, .spines = spines, .uplink_rate = {8'000'000'000}};
}

}  // namespace

TEST_CASE(
    "The ideal of all-to-all is the hosts' or, where leaves are oversubscribed, that of their uplinks") {
    const Plan plan = all_to_all(16, 1000);
    CHECK(ideal_ns(plan, network_of({})) == 15 * 1000);
    // Four hosts of a leaf send to 12 others each.
    CHECK(ideal_ns(plan, network_of(leaf_spine(4))) == 15 * 1000);
    CHECK(ideal_ns(plan, network_of(leaf_spine(2))) == 4 * 12 * 1000 / 2);
    CHECK(ideal_ns(plan, network_of(leaf_spine(1))) == 4 * 12 * 1000);
    // As many cables to fewer spines carry the same.
    TopologyPlan doubled = leaf_spine(1);
    doubled.uplinks = 2;
    CHECK(ideal_ns(plan, network_of(doubled)) == 4 * 12 * 1000 / 2);
}

TEST_CASE("A fluid with a fabric has its uplinks, without one the links of ranks only") {
    const Plan plan = all_to_all(16, 1000);
    NetworkPlan fluid = network_of(leaf_spine(1));
    fluid.model = NetworkModel::fluid;
    CHECK(ideal_ns(plan, fluid) == 15 * 1000);
    fluid.fluid_fabric = true;
    CHECK(ideal_ns(plan, fluid) == 4 * 12 * 1000);
}

TEST_CASE("What stays within a leaf, or within a host, needs no uplinks") {
    Plan plan = all_to_all(16, 1000);
    std::vector<TrafficPlan::Entry> entries;
    for (std::uint32_t from = 0; from < 16; ++from) {
        entries.push_back({{from}, {{}, {from ^ 1U}, 0, Bytes{1000}}});
    }
    plan.traffic = std::make_shared<const TrafficPlan>(
        16, 16, std::vector<TrafficPhase>{{"all", {}, plan.interval}}, entries);
    CHECK(ideal_ns(plan, network_of(leaf_spine(1))) == 1000);
    // Both on one host: its memory copies one after the other.
    NetworkPlan network = network_of(leaf_spine(1));
    network.fabric.placement.per_host = 2;
    network.fabric.placement.memory_rate = {4'000'000'000};
    CHECK(ideal_ns(plan, network) == 4000);
    network.fabric.placement.per_host = 1;
    CHECK(ideal_ns(all_to_all(4, 1000, true), network) == 3 * 1 * 1000);
}

TEST_CASE("Workers that share a host share its NICs") {
    const Plan plan = all_to_all(8, 1000);
    NetworkPlan network = network_of({});
    network.fabric.placement.per_host = 2;
    CHECK(ideal_ns(plan, network) == 2 * 6 * 1000);
    network.fabric.topology.nics = 2;
    CHECK(ideal_ns(plan, network) == 6 * 1000);
}

TEST_CASE("Cables of a pod limit what leaves it") {
    TopologyPlan topology = leaf_spine(2);
    topology.kind = TopologyKind::three_tier;
    topology.pods = 2;
    topology.cores = 2;
    topology.core_rate = {8'000'000'000};
    // Eight workers of a pod send to the eight others: over 2 cables of cores. A leaf: 4 x 12 over 2 cables.
    const Plan plan = all_to_all(16, 1000);
    CHECK(ideal_ns(plan, network_of(topology)) == 8 * 8 * 1000 / 2);
    topology.cores = 4;
    CHECK(ideal_ns(plan, network_of(topology)) == 4 * 12 * 1000 / 2);
}

TEST_CASE("By rail a leaf has the traffic of its rail; else the leaves of a host have it together") {
    // Two groups of two hosts with two NICs: leaves 0 and 1, and leaves 2 and 3, each with one uplink.
    const TopologyPlan rails{.kind = TopologyKind::rail_optimized,
                             .leaves = 4,
                             .spines = 1,
                             .uplink_rate = {8'000'000'000},
                             .nics = 2};
    Plan plan = all_to_all(8, 1000);
    // By rail: of each NIC the six of its worker to other hosts, of each leaf two workers' four to the
    // others.
    CHECK(ideal_ns(plan, network_of(rails, PlacementKind::by_rail)) == 8 * 1000);
    NetworkPlan network = network_of(rails);
    network.fabric.placement.per_host = 2;
    CHECK(ideal_ns(plan, network) == 4 * 4 * 1000 / 2);
    // All of the traffic is that of rail 0.
    plan.traffic = std::make_shared<const TrafficPlan>(
        8, 8, std::vector<TrafficPhase>{{"all", {}, plan.interval}},
        std::vector<TrafficPlan::Entry>{{{0}, {{}, {4}, 0, Bytes{1000}}}, {{2}, {{}, {6}, 0, Bytes{1000}}}});
    CHECK(ideal_ns(plan, network_of(rails, PlacementKind::by_rail)) == 2000);
    CHECK(ideal_ns(plan, network) == 1000);
}

TEST_CASE("A fluid network has the links of ranks") {
    NetworkPlan network = network_of(leaf_spine(1));
    network.model = NetworkModel::fluid;
    network.own_consumer_links = {{3, 3, {4'000'000'000}}};
    CHECK(ideal_ns(all_to_all(16, 1000), network) == 2 * 15 * 1000);
}
