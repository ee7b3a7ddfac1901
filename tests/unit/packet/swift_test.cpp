#include "packet/swift.hpp"

#include <cmath>

#include "catch.hpp"
#include "star_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

core::NicPlan with_swift() {
    core::NicPlan nic = plain_nic();
    nic.control = core::PairControl::swift;
    return nic;
}

/// A window with the network in the test's hands.
class Window {
  public:
    explicit Window(const core::NicPlan& settings) : plan(settings), control(plan, {10 * giga}, 0) {}

    void acknowledge_after(Picoseconds delay) {
        Packet packet{.sequence = next_++};
        control.on_sent(packet, 0, now);
        now += delay;
        control.on_reply({.sequence = next_, .detail = packet.sequence, .kind = Packet::Kind::ack}, 1, false,
                         now);
    }
    [[nodiscard]] std::uint32_t packets() { return control.window(); }

    core::NicPlan plan;
    SwiftWindow control;
    Picoseconds now;

  private:
    std::uint32_t next_ = 0;
};

}  // namespace

TEST_CASE(
    "Swift begins with what the link sends in the time of the target, and grows by a packet in a round "
    "trip") {
    Window window(with_swift());
    // 20 us at 10 Gb/s are 25 kB, and one packet more.
    CHECK(window.packets() == 26);
    for (int cut = 0; cut < 8; ++cut) {
        window.acknowledge_after(millisecond);
    }
    CHECK(window.packets() == 1);
    CHECK(window.control.cuts() == 8);
    for (std::uint32_t from = 5; from < 20; ++from) {
        while (window.packets() < from) {
            window.acknowledge_after(microsecond * 10);
        }
        for (std::uint32_t reply = 0; reply < from; ++reply) {
            window.acknowledge_after(microsecond * 10);
        }
        CHECK(window.packets() <= from + 1);
        window.acknowledge_after(microsecond * 10);
        CHECK(window.packets() == from + 1);
    }
}

TEST_CASE("Swift cuts by how much a round trip is above the target, by half at most, once in a round trip") {
    core::NicPlan nic = with_swift();
    nic.swift.range = {};
    Window window(nic);
    window.acknowledge_after(microsecond * 25);
    // 1 - 0.8 x (25 - 20) / 25
    CHECK(window.packets() == static_cast<std::uint32_t>(26 * 0.84));
    window.control.on_reply({.kind = Packet::Kind::nak}, 0, false, window.now + microsecond);
    CHECK(window.packets() == static_cast<std::uint32_t>(26 * 0.84));
    window.acknowledge_after(millisecond);
    CHECK(window.packets() == static_cast<std::uint32_t>(26 * 0.84 / 2));
}

TEST_CASE("Swift's target is longer for a small window: all of the range at 0.1 packets, nothing at 100") {
    core::NicPlan nic = with_swift();
    Window window(nic);
    const auto longer_ns = [](double packets) {
        const double at_most = 1 / std::sqrt(100.0);
        return 100'000 * (1 / std::sqrt(packets) - at_most) / (1 / std::sqrt(0.1) - at_most);
    };
    CHECK(window.control.target().seconds() * 1e9 == Approx(20'000 + longer_ns(26)));
    for (int cut = 0; cut < 40; ++cut) {
        window.acknowledge_after(millisecond);
    }
    CHECK(window.control.target() == Picoseconds::nanoseconds(120'000));
    // Packets are further apart than a round trip: the least window is a hundredth of one.
    Packet packet{.sequence = 100, .wire_bytes = 1000};
    CHECK(window.control.on_sent(packet, 0, window.now) == millisecond * 100);
}

TEST_CASE("Flows with Swift fill a port, share it, and keep round trips near the target") {
    constexpr std::uint32_t senders = 4;
    core::NicPlan nic = with_swift();
    nic.swift.target = core::Duration::microseconds(50);
    StarRig rig(senders + 1, plain_switch(), nic);
    for (std::uint32_t sender = 0; sender < senders; ++sender) {
        rig.stream(sender, senders);
    }
    rig.run_to(millisecond * 10);
    const LinkIndex port = StarRig::down(senders);
    const std::uint64_t before = rig.network.counts(port, 0).bytes;
    const std::uint64_t queue_before = rig.network.queue_integral(port, 0, millisecond * 10);
    std::vector<double> arrived;
    for (std::uint32_t flow = 0; flow < senders; ++flow) {
        arrived.push_back(-rig.arrived({flow}));
    }
    rig.run_to(millisecond * 60);
    const double sent = static_cast<double>(rig.network.counts(port, 0).bytes - before);
    CHECK(sent == Approx(10e9 / 8 * 0.05).epsilon(0.01));
    CHECK(rig.network.counts(port, 0).dropped == 0);
    for (std::uint32_t flow = 0; flow < senders; ++flow) {
        CHECK((arrived[flow] + rig.arrived({flow})) * 1000 == Approx(sent / senders).epsilon(0.1));
    }
    const double mean_queue =
        static_cast<double>(rig.network.queue_integral(port, 0, millisecond * 60) - queue_before) * 1024 /
        static_cast<double>((millisecond * 50).count);
    // Windows of a fourth of the round trip's bytes; what the queue adds to 4 us of cables and transmissions.
    const double round_trip_us = 4 + mean_queue / 10e9 * 8e6;
    const double packets = round_trip_us * 10e3 / 8 / 1000 / senders;
    const double target_us = 50 + 100 * (1 / std::sqrt(packets) - 0.1) / (1 / std::sqrt(0.1) - 0.1);
    CHECK(round_trip_us == Approx(target_us).epsilon(0.1));
}
