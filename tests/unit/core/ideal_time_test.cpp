#include "core/ideal_time.hpp"

#include "catch.hpp"

using namespace weir::core;

namespace {

Plan four_by_four() {
    Plan plan;
    plan.producers = 4;
    plan.consumers = 4;
    return plan;
}

/// 1 byte per ns, packets of 1000 bytes with nothing added, 10 us from host to host.
NetworkPlan network_of(NetworkModel model) {
    NetworkPlan network;
    network.model = model;
    network.producer_link = network.consumer_link = {8'000'000'000};
    network.framing = Framing::roce;
    network.mtu = Bytes{1000};
    network.packet_overhead = Bytes{0};
    network.latency = Duration::microseconds(10);
    return network;
}

}  // namespace

TEST_CASE("A fluid transfer that is alone takes the latency and its bytes on the slower link") {
    NetworkPlan network = network_of(NetworkModel::fluid);
    network.own_consumer_links = {{2, 3, {4'000'000'000}}};
    const IdealTimes ideals(four_by_four(), network);
    CHECK(ideals.of({0}, {1}, Bytes{5000}) == Duration::microseconds(15));
    CHECK(ideals.of({0}, {2}, Bytes{5000}) == Duration::microseconds(20));
}

TEST_CASE(
    "A fluid transfer through a fabric is as fast as its slowest cable, or all over which it is spread") {
    NetworkPlan network = network_of(NetworkModel::fluid);
    network.fluid_fabric = true;
    network.fabric.topology = {
        .kind = TopologyKind::leaf_spine, .leaves = 3, .spines = 2, .uplink_rate = {2'000'000'000}};
    // Scheduler and producers 0 and 1; producers 2 and 3 and consumer 0; consumers 1 to 3.
    CHECK(IdealTimes(four_by_four(), network).of({2}, {0}, Bytes{5000}) == Duration::microseconds(15));
    // Four cables of 5 us.
    CHECK(IdealTimes(four_by_four(), network).of({0}, {0}, Bytes{5000}) == Duration::microseconds(40));
    network.fabric.switches.balancing.kind = BalancingKind::spray;
    CHECK(IdealTimes(four_by_four(), network).of({0}, {0}, Bytes{5000}) == Duration::microseconds(30));
    network.fabric.topology.uplink_delay = Duration::microseconds(1);
    CHECK(IdealTimes(four_by_four(), network).of({0}, {0}, Bytes{5000}) == Duration::microseconds(22));
    network.fabric.placement.kind = PlacementKind::by_worker;
    network.fabric.placement.memory_rate = {40'000'000'000};
    CHECK(IdealTimes(four_by_four(), network).of({0}, {0}, Bytes{5000}) == Duration::nanoseconds(1500));
}

TEST_CASE("Packets that are alone are stored and forwarded: one packet time more for each switch") {
    NetworkPlan network = network_of(NetworkModel::packet);
    const IdealTimes ideals(four_by_four(), network);
    // One packet on two links; five packets; five and a short one, which waits for the full one before it.
    CHECK(ideals.of({0}, {1}, Bytes{1000}) == Duration::microseconds(12));
    CHECK(ideals.of({0}, {1}, Bytes{5000}) == Duration::microseconds(16));
    CHECK(ideals.of({0}, {1}, Bytes{5100}) == Duration::nanoseconds(10'000 + 5'100 + 1'000));
    CHECK(ideals.of({0}, {1}, Bytes{1}) == Duration::nanoseconds(10'002));

    // Half as fast behind the switch: five packets there, after the first one has come.
    network.own_consumer_links = {{0, 0, {4'000'000'000}}};
    CHECK(IdealTimes(four_by_four(), network).of({0}, {0}, Bytes{5000}) ==
          Duration::microseconds(10 + 1 + 10));
    // Half as fast before it: the last one is sent on at twice the speed.
    network.own_consumer_links.clear();
    network.own_producer_links = {{0, 0, {4'000'000'000}}};
    CHECK(IdealTimes(four_by_four(), network).of({0}, {0}, Bytes{5000}) ==
          Duration::microseconds(10 + 10 + 1));
    // What is added to each packet.
    network = network_of(NetworkModel::packet);
    network.packet_overhead = Bytes{100};
    CHECK(IdealTimes(four_by_four(), network).of({0}, {0}, Bytes{2000}) ==
          Duration::nanoseconds(10'000 + 3 * 1100));
}

TEST_CASE("To another leaf there are four cables and three switches") {
    NetworkPlan network = network_of(NetworkModel::packet);
    network.fabric.topology = {
        .kind = TopologyKind::leaf_spine, .leaves = 3, .spines = 2, .uplink_rate = {8'000'000'000}};
    // Scheduler and producers 0 and 1; producers 2 and 3 and consumer 0; consumers 1 to 3.
    const IdealTimes ideals(four_by_four(), network);
    CHECK(ideals.of({2}, {0}, Bytes{5000}) == Duration::microseconds(10 + 5 + 1));
    CHECK(ideals.of({0}, {0}, Bytes{5000}) == Duration::microseconds(20 + 5 + 3));
}

TEST_CASE("Packets that are spread take all cables to other leaves, and one by one no more than their own") {
    NetworkPlan network = network_of(NetworkModel::packet);
    // A quarter as fast as hosts: 4 us for a packet.
    network.fabric.topology = {
        .kind = TopologyKind::leaf_spine, .leaves = 3, .spines = 2, .uplink_rate = {2'000'000'000}};
    const auto ideal = [&](BalancingKind kind, std::int64_t bytes) {
        network.fabric.switches.balancing.kind = kind;
        return IdealTimes(four_by_four(), network).of({0}, {0}, Bytes{bytes});
    };
    CHECK(ideal(BalancingKind::ecmp, 5000) == Duration::microseconds(20 + 1 + 4 + 4 + 1 + 4 * 4));
    CHECK(ideal(BalancingKind::flowlets, 5000) == ideal(BalancingKind::ecmp, 5000));
    // Of two ways, the fifth packet is the third on its own.
    CHECK(ideal(BalancingKind::spray, 5000) == Duration::microseconds(20 + 1 + 4 + 4 + 1 + 2 * 4));
    CHECK(ideal(BalancingKind::adaptive, 5000) == ideal(BalancingKind::spray, 5000));
    CHECK(ideal(BalancingKind::spray, 1000) == ideal(BalancingKind::ecmp, 1000));
    // Hosts send a packet in 1 us.
    const auto with_gap = [&](Duration gap) {
        network.fabric.switches.balancing.gap = network.fabric.switches.balancing.adaptive_gap = gap;
    };
    with_gap(Duration::microseconds(1));
    CHECK(ideal(BalancingKind::flowlets, 5000) == ideal(BalancingKind::spray, 5000));
    CHECK(ideal(BalancingKind::adaptive, 5000) == ideal(BalancingKind::spray, 5000));
    with_gap(Duration::nanoseconds(1002));
    CHECK(ideal(BalancingKind::flowlets, 5000) == ideal(BalancingKind::ecmp, 5000));
    CHECK(ideal(BalancingKind::adaptive, 5000) == ideal(BalancingKind::ecmp, 5000));
    // Enough of them: hosts are the limit.
    network.fabric.topology.uplinks = 4;
    CHECK(ideal(BalancingKind::spray, 50'000) == Duration::microseconds(20 + 1 + 4 + 4 + 1 + 49));
}

TEST_CASE("Packets that come far enough apart only behind a slow cable are spread from there on") {
    NetworkPlan network = network_of(NetworkModel::packet);
    // Packets reach the leaf 1 us apart, and the spine 4 us.
    network.fabric.topology = {
        .kind = TopologyKind::leaf_spine, .leaves = 3, .spines = 2, .uplink_rate = {2'000'000'000}};
    network.fabric.switches.balancing.gap = Duration::microseconds(2);
    const auto ideal = [&](BalancingKind kind) {
        network.fabric.switches.balancing.kind = kind;
        return IdealTimes(four_by_four(), network).of({0}, {0}, Bytes{5100});
    };
    // Five packets on one cable, and the short one behind them.
    const Duration five = Duration::microseconds(20 + 1 + 4 + 4 + 1 + 4 * 4);
    CHECK(ideal(BalancingKind::ecmp) == five + Duration::nanoseconds(100));
    // The spine has one cable to each leaf.
    CHECK(ideal(BalancingKind::flowlets) == ideal(BalancingKind::ecmp));
    // By the other cable of the spine the short one comes before the fifth.
    network.fabric.topology.uplinks = 2;
    CHECK(ideal(BalancingKind::ecmp) == five + Duration::nanoseconds(100));
    CHECK(ideal(BalancingKind::flowlets) == five);
}

TEST_CASE("Packets that are spread take all cores, and those that are not take one") {
    NetworkPlan network = network_of(NetworkModel::packet);
    network.fabric.topology = {.kind = TopologyKind::three_tier,
                               .leaves = 4,
                               .spines = 2,
                               .uplink_rate = {8'000'000'000},
                               .pods = 2,
                               .cores = 4,
                               .core_rate = {2'000'000'000},
                               .core_links = 1};
    const auto ideal = [&](BalancingKind kind) {
        network.fabric.switches.balancing.kind = kind;
        return IdealTimes(four_by_four(), network).of({0}, {3}, Bytes{9000});
    };
    // Six cables of 5 us. On one core, nine packets of 4 us; of four, each carries the ninth as its third at
    // most.
    const Duration first = Duration::microseconds(30 + 4 * 1 + 2 * 4);
    CHECK(ideal(BalancingKind::ecmp) == first + Duration::microseconds(8 * 4));
    CHECK(ideal(BalancingKind::spray) == first + Duration::microseconds(2 * 4));
}
