#include "packet/udp_socket.hpp"

#include "catch.hpp"
#include "core/datagram_frames.hpp"
#include "host_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

core::SwitchPlan ports_of(std::int64_t bytes) {
    core::SwitchPlan switches;
    switches.pool = {std::int64_t{1} << 40};
    switches.egress_threshold = {bytes};
    return switches;
}

}  // namespace

TEST_CASE("A datagram takes the frames that IP makes of it") {
    for (const std::int64_t payload : {1, 18, 1472, 1473, 4096, 65507}) {
        INFO(payload);
        HostRig rig({.framing = {.mtu = {1500}}});
        rig.send(0, 1, payload);
        rig.run();
        const LinkCounts& counts = rig.network.counts(0, 3);
        const core::WireCost cost = core::wire_cost(payload, 1500);
        CHECK(counts.packets == static_cast<std::uint64_t>(cost.frames));
        CHECK(counts.bytes == static_cast<std::uint64_t>(cost.bytes));
        CHECK(rig.left == 1);
        CHECK(rig.arrived == 1);
    }
}

TEST_CASE("Datagrams leave in order and keep the link busy, whoever they are for") {
    HostRig rig({.hosts = 4});
    for (int round = 0; round < 10; ++round) {
        for (std::uint32_t to = 1; to < 4; ++to) {
            rig.send(0, to, 1000);
        }
    }
    // 8 us for each frame, and up to as much before the first one.
    rig.run_to(microsecond * 249);
    CHECK(rig.left == 30);
    rig.run();
    CHECK(rig.arrived == 30);
    CHECK(rig.lost == 0);
}

TEST_CASE("Of what comes to a port, so much is lost as its link does not take and its buffer does not hold") {
    HostRig rig({.hosts = 3, .switches = ports_of(10'000)});
    rig.send(0, 2, 1000, 100);
    rig.send(1, 2, 1000, 100);
    rig.run();
    // In 800 us 200 frames come; 100 go, 10 stay, and one may be between.
    CHECK(rig.arrived + rig.lost == 200);
    CHECK(rig.arrived >= 108);
    CHECK(rig.arrived <= 113);
    CHECK(rig.network.counts(5, 3).dropped == static_cast<std::uint64_t>(rig.lost));
    CHECK(rig.network.counts(5, 3).peak_queue_bytes <= 10'000);
}

TEST_CASE("A lost fragment loses its datagram, which is reported once") {
    HostRig rig({.hosts = 3, .switches = ports_of(10'000)});
    rig.send(0, 2, 5000, 40);
    rig.send(1, 2, 5000, 40);
    rig.run();
    const LinkCounts& counts = rig.network.counts(5, 3);
    CHECK(rig.left == 80);
    CHECK(rig.arrived + rig.lost == 80);
    CHECK(counts.packets + counts.dropped == 400);
    // Each that was lost lost one frame at least, and those of it that arrived did for nothing.
    CHECK(counts.dropped >= static_cast<std::uint64_t>(rig.lost));
    CHECK(counts.packets >= static_cast<std::uint64_t>(5 * rig.arrived));
    CHECK(rig.arrived < 30);
    for (const std::uint64_t bytes : rig.network.bytes_inside()) {
        CHECK(bytes == 0);
    }
}

TEST_CASE("Two senders share the loss evenly") {
    HostRig rig({.hosts = 4, .switches = ports_of(20'000)});
    rig.send(0, 3, 1000, 4000);
    rig.send(1, 3, 1000, 4000);
    rig.run();
    const auto& first = rig.network.flow({0}).traffic;
    const auto& second = rig.network.flow({1}).traffic;
    const double share =
        static_cast<double>(first.dropped) / static_cast<double>(first.dropped + second.dropped);
    CHECK(share > 0.4);
    CHECK(share < 0.6);
}

TEST_CASE("A switch that has forgotten a port copies what is for it to all other hosts") {
    HostRig rig({.hosts = 4});
    const auto sent_to = [&](std::uint32_t host) { return rig.network.counts(2 * host + 1, 3).packets; };
    rig.send(0, 1, 1000, 10);
    rig.run();
    CHECK(sent_to(2) + sent_to(3) == 0);
    rig.network.set_flooded({1}, true);
    rig.send(0, 1, 1000, 10);
    rig.send(0, 2, 1000, 10);
    rig.run();
    CHECK(sent_to(0) == 0);
    CHECK(sent_to(1) == 20);
    CHECK(sent_to(2) == 20);
    CHECK(sent_to(3) == 10);
    rig.network.set_flooded({1}, false);
    rig.send(0, 1, 1000, 10);
    rig.run();
    CHECK(sent_to(3) == 10);
    // Copies are nobody's datagrams.
    CHECK(rig.left == 40);
    CHECK(rig.arrived == 40);
    CHECK(rig.lost == 0);
}

TEST_CASE("Copies of a flood take the room of others at their ports") {
    HostRig rig({.hosts = 4, .switches = ports_of(10'000)});
    rig.network.set_flooded({1}, true);
    rig.send(0, 1, 1000, 1000);
    rig.send(3, 2, 1000, 1000);
    rig.run();
    // The port of host 2 gets twice what it takes: half of what is for it is lost, and nothing of host 1's.
    CHECK(rig.left == 2000);
    CHECK(rig.arrived + rig.lost == 2000);
    CHECK(rig.lost > 400);
    CHECK(rig.lost < 600);
    CHECK(rig.network.flow({0}).traffic.dropped == 0);
    for (const std::uint64_t bytes : rig.network.bytes_inside()) {
        CHECK(bytes == 0);
    }
}
