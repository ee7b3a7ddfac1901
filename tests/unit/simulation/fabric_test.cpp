// Ranks on hosts, and hosts in fabrics: what shares a NIC, what reaches none, and what a fabric carries.
#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "core/fabric_layout.hpp"
#include "simulation/network.hpp"
#include "simulation/switched_counters.hpp"
#include "transfers.hpp"

using namespace weir::core;
using namespace weir::simulation;
using weir::simulation::test::chunk_bytes;
using weir::simulation::test::line;
using weir::simulation::test::Transfers;

namespace fabric_test {

NetworkPlan network_of(const TopologyPlan& topology, const PlacementPlan& placement) {
    NetworkPlan network{.model = NetworkModel::packet,
                        .producer_link = line,
                        .consumer_link = line,
                        .framing = Framing::none,
                        .mtu = {1000},
                        .latency = Duration::microseconds(1),
                        .scheduler_time = {}};
    network.fabric.topology = topology;
    network.fabric.placement = placement;
    network.fabric.switches.pool = {std::int64_t{1} << 40};
    network.fabric.nics.dcqcn.on = false;
    network.fabric.nics.ack_bytes = {1};
    return network;
}

/// Of clocks that are up to 100 ppm slow, first packets, and latencies.
Approx near(double share) {
    return Approx(share).epsilon(0.01);
}

}  // namespace fabric_test

using namespace fabric_test;

TEST_CASE("Two producers on one host share its NIC: each has half of it") {
    for (const std::uint32_t per_host : {1U, 2U}) {
        // By list, so that consumers are on hosts of their own.
        const PlacementPlan placement{.kind = PlacementKind::listed,
                                      .hosts = per_host == 1 ? std::vector<std::uint32_t>{0, 1, 2, 3}
                                                             : std::vector<std::uint32_t>{0, 0, 2, 3}};
        Transfers transfers(2, 2, network_of({}, placement));
        transfers.send(0, 0, 20);
        transfers.send(1, 1, 20);
        transfers.run();
        CHECK(transfers.rate_to(0) == near(1.0 / per_host));
        CHECK(transfers.rate_to(1) == near(1.0 / per_host));
    }
}

TEST_CASE("The two directions of a NIC carry the line rate each") {
    Transfers transfers(2, 2, network_of({}, {.kind = PlacementKind::by_worker}));
    transfers.send(0, 1, 20);
    transfers.send(1, 0, 20);
    transfers.run();
    CHECK(transfers.rate_to(0) == near(1));
    CHECK(transfers.rate_to(1) == near(1));
}

TEST_CASE("What ranks of one host send each other takes memory's time, in order, and reaches no NIC") {
    PlacementPlan placement{.kind = PlacementKind::by_worker};
    placement.memory_rate = {80'000'000'000};
    placement.memory_delay = Duration::nanoseconds(300);
    Transfers transfers(2, 2, network_of({}, placement));
    transfers.send(0, 0, 3);
    transfers.network().send_message(transfers.now(), 1, 3, {1000}, 7);
    transfers.run();
    CHECK(transfers.last_[0] == Instant{} + Duration::nanoseconds(3 * 10'000 + 300));
    CHECK(transfers.received_[0] == 3);
    CHECK(transfers.left_ == 3);
    CHECK(transfers.messages_ == std::vector<std::uint32_t>{7});
    CHECK(transfers.now() == Instant{} + Duration::nanoseconds(3 * 10'000 + 100 + 300));
    std::vector<std::uint64_t> values;
    for (std::size_t host = 0; host < 2; ++host) {
        transfers.network().counters()->read_host(transfers.now(), host, values);
        CHECK(std::all_of(values.begin(), values.end(), [](std::uint64_t value) { return value == 0; }));
    }
}

TEST_CASE(
    "A permutation reaches line rate where the fabric carries what hosts send, and in rails without spines") {
    const TopologyPlan leaves{.kind = TopologyKind::leaf_spine,
                              .leaves = 4,
                              .spines = 1,
                              .uplink_rate = {line.bits_per_second * 4}};
    const TopologyPlan rails{.kind = TopologyKind::rail_optimized, .leaves = 4, .spines = 0, .nics = 4};
    for (const auto& [topology, kind] : {std::pair{leaves, PlacementKind::by_worker},
                                         {leaves, PlacementKind::random},
                                         {rails, PlacementKind::by_rail}}) {
        Transfers transfers(16, 16, network_of(topology, {.kind = kind}));
        for (std::uint32_t worker = 0; worker < 16; ++worker) {
            transfers.send(worker, (worker + 5) % 16, 20);
        }
        transfers.run();
        for (std::uint32_t worker = 0; worker < 16; ++worker) {
            CHECK(transfers.rate_to(worker) == near(1));
        }
    }
}

TEST_CASE("Uplinks of a quarter of what hosts send carry a quarter of it") {
    Transfers transfers(8, 8,
                        network_of({.kind = TopologyKind::leaf_spine, .leaves = 2, .uplink_rate = line},
                                   {.kind = PlacementKind::by_worker}));
    for (std::uint32_t worker = 0; worker < 8; ++worker) {
        transfers.send(worker, (worker + 4) % 8, 20);
    }
    transfers.run();
    for (std::uint32_t worker = 0; worker < 8; ++worker) {
        CHECK(transfers.rate_to(worker) == near(0.25).epsilon(0.03));
    }
}

TEST_CASE("Between pods a packet passes six cables and five switches, each with its delay") {
    const NetworkPlan network = network_of({.kind = TopologyKind::three_tier,
                                            .leaves = 4,
                                            .spines = 1,
                                            .uplink_rate = line,
                                            .pods = 2,
                                            .cores = 1,
                                            .core_rate = line,
                                            .host_delay = Duration::nanoseconds(100),
                                            .uplink_delay = Duration::nanoseconds(1'000),
                                            .core_delay = Duration::nanoseconds(10'000)},
                                           {.kind = PlacementKind::by_worker});
    // To the own leaf, the own pod, and another one; 99 packets behind the first one.
    for (const auto& [to, cables] : {std::pair{1U, 2}, {2U, 4}, {7U, 6}}) {
        Transfers transfers(8, 8, network);
        transfers.send(0, to, 1);
        transfers.run();
        const std::int64_t delay = 200 + (cables > 2 ? 2'000 : 0) + (cables > 4 ? 20'000 : 0);
        const auto expected = static_cast<double>(chunk_bytes + 1000 * (cables - 1) + delay);
        // The first packet waits for up to its own time.
        CHECK(static_cast<double>((transfers.last_[to] - Instant{}).ns) ==
              Approx(expected + 500).margin(510 + expected / 10'000));
    }
}

TEST_CASE("Other names for the hosts of a star change nothing") {
    const auto arrivals = [](std::vector<std::uint32_t> hosts) {
        Transfers transfers(4, 4, network_of({}, {.kind = PlacementKind::listed, .hosts = std::move(hosts)}));
        for (std::uint32_t worker = 0; worker < 4; ++worker) {
            transfers.send(worker, (worker + 1) % 4, 5);
            transfers.send(worker, (worker + 2) % 4, 5);
        }
        transfers.run();
        return transfers.last_;
    };
    CHECK(arrivals({0, 1, 2, 3}) == arrivals({2, 3, 0, 1}));
    CHECK(arrivals({0, 1, 2, 3}) == arrivals({9, 3, 5, 1}));
}

TEST_CASE(
    "A host's links are as slow as the slowest of its ranks, and work on while one of them stands still") {
    Transfers transfers(2, 2, network_of({}, {.kind = PlacementKind::by_worker}));
    transfers.network().set_link(transfers.now(), 1, 0.5);
    transfers.network().set_link(transfers.now(), 3, 1);
    CHECK_FALSE(transfers.network().links_stop_with(1));
    CHECK(transfers.network().links_stop_with(0));
    transfers.send(0, 1, 20);
    transfers.run();
    CHECK(transfers.rate_to(1) == near(0.5));
}
