#include "simulation/datagram_links.hpp"

#include <array>
#include <vector>

#include "catch.hpp"

using namespace weir::core;
using weir::simulation::DatagramLinks;

namespace {

/// Two producers (nodes 1 and 2) on links of a byte per microsecond, one consumer (node 3) on a link twice as
/// slow.
DatagramLinks network_with(std::int64_t port_buffer) {
    Plan plan;
    plan.producers = 2;
    plan.consumers = 1;
    plan.transport = TransportKind::datagram;
    NetworkPlan network;
    network.producer_link = {8000000};
    network.consumer_link = {4000000};
    network.framing = Framing::none;
    network.mtu = {1500};
    network.latency = Duration::microseconds(7);
    network.port_buffer = {port_buffer};
    return {plan, network};
}

Instant at_us(std::int64_t us) {
    return Instant{} + Duration::microseconds(us);
}

/// When what is in the network passes its link, until nothing moves any more.
std::vector<Instant> ends_of(DatagramLinks& network) {
    std::vector<Instant> ends;
    while (network.next_end() != Instant::never()) {
        ends.push_back(network.next_end());
        network.pop_next();
    }
    return ends;
}

}  // namespace

TEST_CASE("A producer's link takes datagrams one after the other") {
    DatagramLinks network = network_with(1000);
    network.hand_over(at_us(0), 1, 7, {100});
    network.hand_over(at_us(0), 1, 8, {100});
    network.hand_over(at_us(0), 2, 9, {150});
    for (const auto& [node, datagram, us] : {std::array{1, 7, 100}, {2, 9, 150}, {1, 8, 200}}) {
        REQUIRE(network.next_end() == at_us(us));
        const DatagramLinks::Passed passed = network.pop_next();
        CHECK(passed.node == static_cast<std::uint32_t>(node));
        CHECK(passed.datagram == static_cast<std::uint32_t>(datagram));
    }
    CHECK(network.next_end() == Instant::never());
    network.hand_over(at_us(500), 1, 7, {100});
    CHECK(network.next_end() == at_us(600));
}

TEST_CASE("A port delivers at the speed of its link and drops what its buffer does not hold") {
    DatagramLinks network = network_with(250);
    CHECK(network.reach_port(at_us(0), 3, 1, {100}));
    CHECK(network.reach_port(at_us(0), 3, 2, {100}));
    CHECK_FALSE(network.reach_port(at_us(0), 3, 3, {100}));
    CHECK(network.reach_port(at_us(0), 3, 4, {50}));
    CHECK_FALSE(network.reach_port(at_us(150), 3, 5, {100}));  // 175 bytes are left
    CHECK(network.reach_port(at_us(200), 3, 6, {100}));
    CHECK(ends_of(network) == std::vector{at_us(200), at_us(400), at_us(500), at_us(700)});
}

TEST_CASE("No time is lost between datagrams that end within a nanosecond") {
    DatagramLinks network = network_with(1000000);
    network.set_factor(at_us(0), 3, 0.75);  // 3 b/us: a byte takes 2666.6 ns
    for (std::uint32_t datagram = 0; datagram < 3000; ++datagram) {
        CHECK(network.reach_port(at_us(0), 3, datagram, {1}));
    }
    const std::vector<Instant> ends = ends_of(network);
    REQUIRE(ends.size() == 3000);
    CHECK(ends[0] == Instant{2667});
    CHECK(ends[1] == Instant{5334});
    CHECK(ends[2] == at_us(8));
    CHECK(ends[2999] == at_us(8000));
}

TEST_CASE("What is queued goes at the speed that the link has meanwhile") {
    DatagramLinks network = network_with(1000);
    for (std::uint32_t datagram = 0; datagram < 3; ++datagram) {
        network.hand_over(at_us(0), 1, datagram, {100});
    }
    network.set_factor(at_us(50), 1, 0.5);  // 50 bytes are left of the first: 100 us
    CHECK(network.next_end() == at_us(150));
    network.pop_next();
    network.set_factor(at_us(250), 1, 1);  // 50 bytes are left of the second
    CHECK(ends_of(network) == std::vector{at_us(300), at_us(400)});
}

TEST_CASE("A link that stands still carries nothing, and as much as before afterwards") {
    DatagramLinks network = network_with(250);
    network.hand_over(at_us(0), 1, 1, {100});
    network.set_factor(at_us(40), 1, 0);
    network.hand_over(at_us(50), 1, 2, {100});
    CHECK(network.next_end() == Instant::never());
    network.set_factor(at_us(1000000), 1, 1);
    CHECK(ends_of(network) == std::vector{at_us(1000060), at_us(1000160)});

    SECTION("a port's buffer is full meanwhile, and not longer") {
        network.set_factor(at_us(0), 3, 0);
        CHECK(network.reach_port(at_us(0), 3, 1, {200}));
        CHECK_FALSE(network.reach_port(at_us(900), 3, 2, {100}));
        network.set_factor(at_us(1000), 3, 1);
        CHECK_FALSE(network.reach_port(at_us(1000), 3, 3, {100}));
        CHECK(network.reach_port(at_us(1100), 3, 4, {100}));  // 50 bytes have gone
        CHECK(ends_of(network) == std::vector{at_us(1400), at_us(1600)});
    }
    SECTION("what has all moved when the link is taken away has left") {
        network.hand_over(at_us(2000000), 1, 3, {100});
        network.set_factor(at_us(2000100), 1, 0);
        CHECK(network.next_end() == at_us(2000100));
    }
}
