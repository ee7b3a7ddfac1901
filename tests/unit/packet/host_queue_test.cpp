// Rings and sockets of hosts, plain flow control, and traffic of others.
#include "packet/host_queue.hpp"

#include "catch.hpp"
#include "host_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

/// Plain flow control: a port may hold 20 frames before it pauses its sender, and as many then.
core::SwitchPlan paused_links() {
    core::SwitchPlan switches;
    switches.pool = {std::int64_t{1} << 40};
    switches.pauses_whole_links = true;
    switches.ingress_threshold = {20'000};
    switches.headroom_at_100g = {100 * 20'000};
    return switches;
}

}  // namespace

TEST_CASE("A host that needs 20 us for a packet receives 50000 in a second") {
    HostRig rig({.plan = {.receive_time = core::Duration::microseconds(20)}});
    rig.send(0, 1, 1000, 500);
    rig.run();
    REQUIRE(rig.arrived == 500);
    CHECK((rig.arrivals.back() - rig.arrivals.front()) == microsecond * 20 * 499);

    SECTION("and so one that needs it for the bytes") {
        HostRig copies({.plan = {.receive_rate = {giga * 4 / 10}}});
        copies.send(0, 1, 1000, 500);
        copies.run();
        REQUIRE(copies.arrived == 500);
        CHECK((copies.arrivals.back() - copies.arrivals.front()) == microsecond * 20 * 499);
    }
}

TEST_CASE("A host that needs 20 us to send a packet sends 50000 in a second") {
    HostRig rig({.plan = {.send_time = core::Duration::microseconds(20)}});
    rig.send(0, 1, 1000, 1000);
    rig.run_to(millisecond * 10);
    CHECK(rig.left == 500);
}

TEST_CASE("A full ring drops packets, a full socket datagrams, and both are counted") {
    HostRig ring({.plan = {.ring_packets = 50, .receive_time = core::Duration::microseconds(16)}});
    ring.send(0, 1, 1000, 1000);
    ring.run();
    // It takes every second one; 50 wait in the end.
    const HostQueueCounts& at_ring = ring.network.queue_counts({1});
    CHECK(at_ring.ring_dropped == static_cast<std::uint64_t>(ring.lost));
    CHECK(at_ring.peak_ring_packets == 50);
    CHECK(ring.arrived + ring.lost == 1000);
    CHECK(ring.arrived == Approx(550).margin(2));

    HostRig socket({.plan = {.socket_buffer = {50'000}, .read_time = core::Duration::microseconds(16)}});
    socket.send(0, 1, 1000, 1000);
    socket.run();
    const HostQueueCounts& at_socket = socket.network.queue_counts({1});
    CHECK(at_socket.socket_dropped == static_cast<std::uint64_t>(socket.lost));
    CHECK(at_socket.peak_socket_bytes == 50'000);
    CHECK(at_socket.ring_dropped == 0);
    CHECK(socket.arrived == Approx(550).margin(2));
}

TEST_CASE("What the kernel charges for a frame takes room in the socket") {
    HostRig rig({.plan = {.socket_buffer = {50'000}, .socket_overhead = {250}}, .reads = false});
    rig.send(0, 1, 2000, 100);
    rig.run();
    // 2500 bytes each; the program has read one, and does not go on.
    CHECK(rig.arrived == 1);
    CHECK(rig.lost == 80);
    CHECK(rig.network.queue_counts({1}).peak_socket_bytes == 50'000);
}

TEST_CASE("Interrupts that wait delay the first packet of a burst only") {
    HostRig rig({.plan = {.interrupt_delay = core::Duration::microseconds(100),
                          .receive_time = core::Duration::microseconds(1)}});
    rig.send(0, 1, 1000, 50);
    rig.run();
    REQUIRE(rig.arrived == 50);
    CHECK(rig.arrivals.front() > microsecond * 117);
    // The ring has been emptied when the last ones come, one by one.
    CHECK(rig.arrivals.back() < microsecond * (50 * 8 + 8 + 8 + 1 + 2 + 101));
}

TEST_CASE("With plain flow control nothing is lost, in the switch or in a slow host") {
    for (const std::uint32_t ring_packets : {0U, 64U}) {
        core::HostPlan plan;
        if (ring_packets > 0) {
            plan = {.ring_packets = ring_packets,
                    .receive_time = core::Duration::microseconds(16),
                    .pause_above = ring_packets / 2,
                    .resume_at = ring_packets / 4};
        }
        HostRig rig({.hosts = 5, .switches = paused_links(), .plan = plan});
        for (std::uint32_t from = 0; from < 4; ++from) {
            rig.send(from, 4, 1000, 500);
        }
        rig.run();
        CHECK(rig.arrived == 2000);
        CHECK(rig.lost == 0);
        for (std::uint32_t from = 0; from < 4; ++from) {
            CHECK(rig.network.counts(2 * from, 0).pauses > 0);
        }
        // The switch's link to the slow host.
        CHECK((rig.network.counts(9, 0).pauses > 0) == (ring_packets > 0));
        const double frame_us = ring_packets > 0 ? 16 : 8;
        CHECK(rig.arrivals.back().seconds() == Approx(2000 * frame_us * 1e-6).epsilon(0.01));
    }
}

TEST_CASE("A pause of a link stops all priorities, also what it does not fill") {
    HostRig rig({.hosts = 3, .switches = paused_links()});
    rig.send(0, 2, 1000, 400);
    rig.send(1, 2, 1000, 400);
    // Another class, to an idle port.
    rig.network.add_background({.rate = {giga / 10}, .packet = {1000}, .priority = 5}, {0}, {{1}});
    rig.run_to(millisecond * 6);
    CHECK(rig.lost == 0);
    CHECK(rig.network.counts(0, 0).paused.seconds() > 0.001);
    // Half of the 6 ms the link stands still; what came due meanwhile is sent when it does not.
    CHECK(rig.network.counts(3, 5).dropped == 0);
    CHECK(rig.network.counts(3, 5).packets > 60);
}

TEST_CASE("Traffic of others takes its share and is counted apart") {
    HostRig rig({.hosts = 3});
    const core::BackgroundPlan others{.rate = {giga / 5}, .packet = {1000}, .priority = 1};
    rig.network.add_background(others, {0}, {{2}});
    rig.network.add_background(others, {1}, {{2}});
    rig.send(0, 2, 1000, 2000);
    rig.run_to(millisecond * 10);
    const std::uint64_t sent = rig.network.counts(0, 1).packets + rig.network.counts(2, 1).packets;
    CHECK(sent == Approx(2 * 250).margin(4));
    CHECK(rig.network.counts(5, 1).dropped == 0);
    CHECK(sent - rig.network.counts(5, 1).packets < 20);
    // Less than half of the receiver's link, its share; data have the rest.
    CHECK(rig.arrived == Approx(1250 - 500).margin(25));
    CHECK(rig.network.counts(0, 1).packets == Approx(250).margin(2));
}

TEST_CASE("Traffic of others that finds no room is lost, and no data with it") {
    core::SwitchPlan switches;
    switches.egress_threshold = {20'000};
    HostRig rig({.hosts = 4, .switches = switches});
    for (std::uint32_t from = 0; from < 3; ++from) {
        rig.network.add_background({.rate = {giga / 2}, .packet = {1000}, .priority = 1}, {from}, {{3}});
    }
    rig.run_to(millisecond * 10);
    const auto& counts = rig.network.counts(7, 1);
    CHECK(static_cast<double>(counts.dropped) / static_cast<double>(counts.dropped + counts.packets) ==
          Approx(1.0 / 3).margin(0.03));
    CHECK(rig.lost == 0);
}
