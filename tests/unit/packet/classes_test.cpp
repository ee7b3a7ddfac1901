// Several classes of traffic at one port: who gets how much of it, who loses packets, who is marked.
#include "catch.hpp"
#include "star_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace classes_test {

/// Hosts, each with one class of constant rate, that all send to the last one over 10 Gb/s.
class OnePort {
  public:
    struct Demand {
        Priority priority;
        double gigabits;
        core::BackgroundPlan::Kind kind = core::BackgroundPlan::Kind::packets;
    };
    OnePort(const core::SwitchPlan& switches, std::vector<Demand> demands)
        : demands_(std::move(demands)),
          rig_(static_cast<std::uint32_t>(demands_.size() + 1), switches, plain_nic(), 1, quick_tcp()) {
        for (std::uint32_t host = 0; host < demands_.size(); ++host) {
            const core::BackgroundPlan traffic{
                .rate = {static_cast<std::int64_t>(demands_[host].gigabits * giga)},
                .packet = {1000},
                .priority = demands_[host].priority,
                .kind = demands_[host].kind,
                .message = {100'000}};
            rig_.network.add_background(traffic, {host}, {{last()}}, 1U + traffic.priority);
        }
        rig_.run_to(begin);
        for (Priority priority = 0; priority < priority_count; ++priority) {
            before_.at(priority) = counts(priority);
        }
        rig_.run_to(end);
    }
    /// Gb/s that a class got.
    [[nodiscard]] double rate_of(Priority priority) const {
        return static_cast<double>(counts(priority).bytes - before_.at(priority).bytes) * 8 /
               (end - begin).seconds() / giga;
    }
    /// Of what came for the port.
    [[nodiscard]] double lost_share(Priority priority) const {
        const auto lost = static_cast<double>(counts(priority).dropped - before_.at(priority).dropped);
        return lost / (lost + static_cast<double>(counts(priority).packets - before_.at(priority).packets));
    }
    [[nodiscard]] double paused_share(std::uint32_t host, Priority priority) const {
        return rig_.network.paused(StarRig::up(host), priority, end).seconds() / end.seconds();
    }

  private:
    static constexpr Picoseconds begin = millisecond * 10;
    static constexpr Picoseconds end = millisecond * 40;
    static core::TcpPlan quick_tcp() {
        core::TcpPlan tcp;
        tcp.initial_timeout = tcp.least_timeout = core::Duration::milliseconds(1);
        return tcp;
    }
    [[nodiscard]] std::uint32_t last() const { return static_cast<std::uint32_t>(demands_.size()); }
    [[nodiscard]] const LinkCounts& counts(Priority priority) const {
        return rig_.network.counts(StarRig::down(last()), priority);
    }

    std::vector<Demand> demands_;
    StarRig rig_;
    std::array<LinkCounts, priority_count> before_{};
};

}  // namespace classes_test

using classes_test::OnePort;

TEST_CASE("Classes share what the strict one leaves by their weights, and what one does not need") {
    core::SwitchPlan switches = plain_switch();
    switches.egress_threshold = {50'000};
    switches.weights = {1, 3, 1, 1, 1, 1, 1, 1};
    // 8 Gb/s are left: 2 and 6 of them, and each loses the rest.
    const OnePort all(switches, {{urgent, 2}, {0, 4}, {1, 9}});
    CHECK(all.rate_of(urgent) == Approx(2).epsilon(0.005));
    CHECK(all.rate_of(0) == Approx(2).epsilon(0.01));
    CHECK(all.rate_of(1) == Approx(6).epsilon(0.01));
    CHECK(all.lost_share(urgent) == 0);
    CHECK(all.lost_share(0) == Approx(1 - 2.0 / 4).margin(0.01));
    CHECK(all.lost_share(1) == Approx(1 - 6.0 / 9).margin(0.01));
    // One needs less than its share: the other has what is left.
    const OnePort modest(switches, {{urgent, 2}, {0, 1}, {1, 9}});
    CHECK(modest.rate_of(0) == Approx(1).epsilon(0.005));
    CHECK(modest.rate_of(1) == Approx(7).epsilon(0.01));
    CHECK(modest.lost_share(0) == 0);
    CHECK(modest.lost_share(1) == Approx(1 - 7.0 / 9).margin(0.01));
}

TEST_CASE("A lossless class waits where a lossy one loses, and each has its half of the port") {
    core::SwitchPlan switches = plain_switch();
    switches.lossless = core::mask_of(3);
    switches.ingress_threshold = {50'000};
    switches.egress_threshold = {50'000};
    switches.headroom_at_100g = {200'000};
    const OnePort port(switches, {{3, 8}, {3, 8}, {1, 8}, {1, 8}});
    CHECK(port.rate_of(3) == Approx(5).epsilon(0.01));
    CHECK(port.rate_of(1) == Approx(5).epsilon(0.01));
    CHECK(port.lost_share(3) == 0);
    CHECK(port.lost_share(1) == Approx(1 - 5.0 / 16).margin(0.01));
    // Each of two senders of 2.5 Gb/s has a link of 10: it stands still for three quarters of the time. With
    // 8 Gb/s to send it is free for 2.5 / 10 at least, and idle for no more than 2.
    CHECK(port.paused_share(0, 3) > 0.5);
    CHECK(port.paused_share(2, 1) == 0);
}

TEST_CASE("Others with connections give way, and take what their class has") {
    using Kind = core::BackgroundPlan::Kind;
    core::SwitchPlan switches = plain_switch();
    switches.egress_threshold = {100'000};
    const Kind kind = GENERATE(Kind::tcp, Kind::rdma);
    if (kind == Kind::rdma) {
        switches.lossless = core::mask_of(0);
        switches.ingress_threshold = {50'000};
        switches.headroom_at_100g = {200'000};
    }
    // More than there is room for: half of the port.
    const OnePort full(switches, {{0, 9, kind}, {1, 9}});
    CHECK(full.rate_of(0) > 4);
    CHECK(full.rate_of(0) < 5.05);
    CHECK(full.rate_of(1) > 4.95);
    CHECK(full.lost_share(0) < 0.02);
    // What one message after the other asks for, with its headers.
    const OnePort modest(switches, {{0, 2, kind}, {1, 9}});
    CHECK(modest.rate_of(0) == Approx(kind == Kind::tcp ? 2 * 1538.0 / 1448 : 2).epsilon(0.03));
}

TEST_CASE("A class is marked by thresholds of its own, or never") {
    core::SwitchPlan switches = plain_switch();
    switches.lossless = core::mask_of(0) | core::mask_of(1) | core::mask_of(2);
    switches.ingress_threshold = {75'000};
    switches.ecn.on = true;
    switches.ecn.none_below = {1'000};
    switches.ecn.all_above = {10'000};
    switches.own_ecn[1] = switches.ecn;
    switches.own_ecn[1]->none_below = switches.own_ecn[1]->all_above = {1'000'000};
    switches.own_ecn[2] = switches.ecn;
    switches.own_ecn[2]->on = false;
    StarRig rig(3, switches, plain_nic());  // senders without DCQCN: the queues stay full
    for (Priority priority = 0; priority < 3; ++priority) {
        rig.stream(0, 2, priority);
        rig.stream(1, 2, priority);
    }
    rig.run_to(millisecond * 10);
    const auto marked = [&](Priority priority) {
        const LinkCounts& counts = rig.network.counts(StarRig::down(2), priority);
        return static_cast<double>(counts.marked) / static_cast<double>(counts.packets);
    };
    CHECK(marked(0) > 0.95);
    CHECK(marked(1) == 0);
    CHECK(marked(2) == 0);
}
