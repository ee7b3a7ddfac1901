#include "core/fabric_layout.hpp"

#include <algorithm>

#include "catch.hpp"

using namespace weir::core;

namespace {

NetworkPlan network_with(PlacementPlan placement, std::uint32_t nics = 1, std::uint32_t hosts = 0) {
    NetworkPlan network;
    network.producer_link = {100};
    network.consumer_link = {25};
    network.fabric.placement = std::move(placement);
    network.fabric.topology.nics = nics;
    network.fabric.topology.hosts = hosts;
    return network;
}

std::vector<std::uint32_t> hosts_of(const Placement& placement, std::uint32_t ranks) {
    std::vector<std::uint32_t> hosts;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        hosts.push_back(placement.host_of(rank));
    }
    return hosts;
}

using Hosts = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("In rows each rank has a host, or several in a row share one") {
    const Placement rows(network_with({}), 2, 3, 1);
    CHECK(hosts_of(rows, 6) == Hosts{0, 1, 2, 3, 4, 5});
    CHECK(rows.shared_out() == 6);
    CHECK(rows.hosts()[2].rate == BitRate{100});
    CHECK(rows.hosts()[3].rate == BitRate{25});
    CHECK(rows.name(0) == "scheduler");
    CHECK(rows.name(3) == "consumer-0");
    const Placement pairs(network_with({.kind = PlacementKind::rows, .per_host = 2}), 2, 3, 1);
    CHECK(hosts_of(pairs, 6) == Hosts{0, 0, 1, 1, 2, 2});
    CHECK(pairs.name(1) == "host-1");
    CHECK(pairs.most_consumers() == 2);
}

TEST_CASE(
    "By worker, producer and consumer share a host, and the scheduler has one that leaves do not count") {
    const Placement placement(network_with({.kind = PlacementKind::by_worker}), 2, 3, 1);
    CHECK(hosts_of(placement, 6) == Hosts{3, 0, 1, 0, 1, 2});
    CHECK(placement.shared_out() == 3);
    CHECK(placement.hosts().size() == 4);
    CHECK(placement.name(1) == "worker-1");
    CHECK(placement.name(2) == "consumer-2");
    CHECK(placement.hosts()[1].rate == BitRate{100});  // of the faster one
    CHECK(placement.on_one_host(1, 3));
    CHECK_FALSE(placement.on_one_host(1, 4));
    const Placement shared(
        network_with({.kind = PlacementKind::by_worker, .per_host = 2, .scheduler_shares = true}, 1, 5), 3, 3,
        1);
    CHECK(hosts_of(shared, 7) == Hosts{0, 0, 0, 1, 0, 0, 1});
    CHECK(shared.hosts().size() == 5);
    CHECK(shared.hosts()[4].ranks.empty());
}

TEST_CASE("By rail a flow leaves and enters by the sender's rail, and the scheduler is on the first one") {
    const Placement placement(network_with({.kind = PlacementKind::by_rail}, 4), 8, 8, 1);
    CHECK(placement.shared_out() == 2);
    CHECK(placement.ports() == 9);
    const auto producer = [](std::uint32_t index) { return 1 + index; };
    const auto consumer = [](std::uint32_t index) { return 9 + index; };
    CHECK(placement.ports(producer(2), consumer(7), 0) == Placement::Ports{2, 6});
    CHECK(placement.ports(producer(5), consumer(0), 0) == Placement::Ports{5, 1});
    CHECK(placement.on_one_host(producer(2), consumer(3)));
    CHECK(placement.ports(producer(5), 0, 1) == Placement::Ports{4, 8});
    CHECK(placement.ports(0, consumer(2), 1) == Placement::Ports{8, 0});
}

TEST_CASE("Without rails the NICs of a flow are drawn, each as often and always alike") {
    const Placement placement(network_with({.kind = PlacementKind::by_worker}, 2), 100, 100, 7);
    std::uint32_t first = 0;
    for (std::uint32_t worker = 1; worker < 100; ++worker) {
        const Placement::Ports ports = placement.ports(1, 101 + worker, 0);
        CHECK(ports == placement.ports(1, 101 + worker, 0));
        CHECK(ports.from / 2 == 0);
        CHECK(ports.to / 2 == worker);
        first += ports.to % 2;
    }
    CHECK(first > 30);
    CHECK(first < 70);
}

TEST_CASE("Traffic of others goes from each host of a producer to all others that have consumers") {
    const Placement rows(network_with({}), 2, 3, 1);
    CHECK(rows.receivers_of_others(0).empty());
    CHECK(rows.receivers_of_others(2) == Hosts{3, 4, 5});
    CHECK(rows.receivers_of_others(3).empty());
    // Two workers on each host, then one.
    const Placement workers(network_with({.kind = PlacementKind::by_worker, .per_host = 2}), 3, 3, 1);
    CHECK(workers.receivers_of_others(0) == Hosts{1});
    CHECK(workers.receivers_of_others(1) == Hosts{0});
    CHECK(workers.receivers_of_others(2).empty());  // the scheduler
    const Placement one(network_with({.kind = PlacementKind::by_worker, .per_host = 3}), 3, 3, 1);
    CHECK(one.receivers_of_others(0).empty());
}

TEST_CASE("A list names the host of each worker, or of each producer and each consumer") {
    const Placement workers(network_with({.kind = PlacementKind::listed, .hosts = {4, 1, 1}}), 3, 3, 1);
    CHECK(hosts_of(workers, 7) == Hosts{5, 4, 1, 1, 4, 1, 1});
    const Placement ranks(network_with({.kind = PlacementKind::listed, .hosts = {0, 2, 1}}), 1, 2, 1);
    CHECK(hosts_of(ranks, 4) == Hosts{3, 0, 2, 1});
}

TEST_CASE("A random placement follows from its seed, and uses all hosts") {
    const auto drawn = [](std::uint32_t own_seed, std::uint64_t seed) {
        return hosts_of(
            Placement(network_with({.kind = PlacementKind::random, .seed = own_seed}, 1, 64), 32, 32, seed),
            65);
    };
    CHECK(drawn(0, 1) == drawn(0, 1));
    CHECK(drawn(0, 1) != drawn(0, 2));
    CHECK(drawn(5, 1) == drawn(5, 2));
    Hosts hosts = drawn(0, 1);
    for (std::uint32_t worker = 0; worker < 32; ++worker) {
        CHECK(hosts[1 + worker] == hosts[33 + worker]);
    }
    std::sort(hosts.begin() + 1, hosts.begin() + 33);
    CHECK(std::adjacent_find(hosts.begin() + 1, hosts.begin() + 33) == hosts.begin() + 33);
    CHECK(hosts[32] >= 48);  // of 64, the highest of 32
    // More of one role: each rank for itself.
    const Placement apart(network_with({.kind = PlacementKind::random}), 3, 5, 1);
    CHECK(apart.shared_out() == 8);
    CHECK(apart.most_producers() == 1);
}
