#include "simulation/datagram_network.hpp"

#include "catch.hpp"

using namespace weir::core;
using weir::simulation::DatagramNetwork;

namespace {

/// Two producers (nodes 1 and 2) on links of a byte per microsecond, one consumer (node 3) on a link twice as
/// slow.
DatagramNetwork network_with(std::int64_t port_buffer) {
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

}  // namespace

TEST_CASE("A producer's link takes datagrams one after the other") {
    DatagramNetwork network = network_with(1000);
    CHECK(network.leaves_at(at_us(0), 1, {100}) == at_us(100));
    CHECK(network.leaves_at(at_us(0), 1, {100}) == at_us(200));
    CHECK(network.leaves_at(at_us(0), 2, {100}) == at_us(100));
    CHECK(network.leaves_at(at_us(500), 1, {100}) == at_us(600));
}

TEST_CASE("A port delivers at the speed of its link and drops what its buffer does not hold") {
    DatagramNetwork network = network_with(250);
    CHECK(network.arrives_at(at_us(0), 3, {100}) == at_us(207));
    CHECK(network.arrives_at(at_us(0), 3, {100}) == at_us(407));
    CHECK_FALSE(network.arrives_at(at_us(0), 3, {100}));
    CHECK(network.arrives_at(at_us(0), 3, {50}) == at_us(507));
    CHECK_FALSE(network.arrives_at(at_us(150), 3, {100}));
    CHECK(network.arrives_at(at_us(200), 3, {100}) == at_us(707));
}

TEST_CASE("A link that fails is very slow, and as before afterwards") {
    DatagramNetwork network = network_with(1000);
    network.set_factor(1, 0.5);
    CHECK(network.leaves_at(at_us(0), 1, {100}) == at_us(200));
    network.set_factor(1, 0);
    CHECK(network.leaves_at(at_us(200), 1, {1}) == at_us(8200));
    network.set_factor(1, 1);
    CHECK(network.leaves_at(at_us(10000), 1, {100}) == at_us(10100));
}
