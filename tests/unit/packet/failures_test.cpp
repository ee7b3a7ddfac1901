// Failures of a packet network against closed forms: what a cut loses, when routes converge, errors within
// binomial bounds, pauses of storms, times of watchdogs.
#include <cmath>
#include <numeric>

#include "catch.hpp"
#include "leaf_spine.hpp"
#include "star_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

/// Two leaves and two spines, `hosts` of 10 Gb/s shared by the leaves.
class FabricRig {
  public:
    explicit FabricRig(std::uint32_t hosts, const core::SwitchPlan& switches, std::uint64_t seed = 1,
                       core::BitRate between = {10 * giga})
        : topology(leaf_spine({.leaves = 2,
                               .spines = 2,
                               .hosts = std::vector<core::BitRate>(hosts, {10 * giga}),
                               .between = between,
                               .delay = core::Duration::nanoseconds(500)})),
          network({.topology = topology, .switches = switches, .nics = plain_nic(), .seed = seed}),
          hosts_(hosts) {}

    std::vector<PacketNetwork::Report> run_to(Picoseconds until) {
        std::vector<PacketNetwork::Report> all;
        while (network.next_time() != Picoseconds::never() && network.next_time() <= until) {
            const auto& reports = network.advance(until);
            all.insert(all.end(), reports.begin(), reports.end());
        }
        return all;
    }
    /// Cable between a leaf and a spine.
    [[nodiscard]] CableIndex cable(std::uint32_t leaf, std::uint32_t spine) const {
        return hosts_ + 2 * leaf + spine;
    }
    /// The spine by which the most bytes left leaf 0.
    [[nodiscard]] std::uint32_t busy_spine() const {
        return bytes(2 * cable(0, 0)) > bytes(2 * cable(0, 1)) ? 0 : 1;
    }
    [[nodiscard]] std::uint64_t bytes(LinkIndex link) const {
        std::uint64_t sum = 0;
        for (std::size_t priority = 0; priority < priority_count; ++priority) {
            sum += network.counts(link, static_cast<Priority>(priority)).bytes;
        }
        return sum;
    }
    /// Constant traffic from one host to another one, whatever becomes of it.
    FlowIndex constant(std::uint32_t from, std::uint32_t to, std::int64_t rate_bps) {
        network.add_background({.rate = {rate_bps}, .packet = {1000}, .priority = 0}, {from}, {{to}});
        return {network.flows() - 1};
    }
    [[nodiscard]] const Flow::WireBytes& traffic(FlowIndex flow) const { return network.flow(flow).traffic; }

    Topology topology;
    PacketNetwork network;

  private:
    std::uint32_t hosts_;
};

core::SwitchPlan converging_in(Picoseconds time) {
    core::SwitchPlan switches = plain_switch();
    switches.convergence = core::Duration{time.count / 1000};
    return switches;
}

std::vector<Picoseconds> times_of(const PacketNetwork& network, NetworkEvent::Kind kind) {
    std::vector<Picoseconds> times;
    for (const NetworkEvent& event : network.network_events()) {
        if (event.kind == kind) {
            times.push_back(event.at);
        }
    }
    return times;
}

}  // namespace

TEST_CASE("A cut loses what is on the cable and in its queues, to the byte") {
    FabricRig rig(4, converging_in(millisecond));
    // Two senders of 10 Gb/s behind one leaf: where both take one spine, there is a queue.
    for (std::uint32_t from = 0; from < 2; ++from) {
        rig.constant(from, 2 + from, 9 * giga);
    }
    rig.run_to(millisecond + Picoseconds{4'321});
    const CableIndex cable = rig.cable(0, rig.busy_spine());
    const auto on_the_way = rig.network.on_the_way();
    std::int64_t queued = 0;
    for (std::size_t priority = 0; priority < priority_count; ++priority) {
        queued += rig.network.queued_bytes(2 * cable, static_cast<Priority>(priority));
    }
    const std::uint64_t lost = on_the_way[2 * cable].sum().bytes;
    REQUIRE(lost > 0);
    const std::uint32_t failure =
        rig.network.add_failure({.kind = FabricFailure::Kind::cut, .cables = {cable}});
    const Picoseconds at = millisecond + Picoseconds{5'000};
    REQUIRE(rig.network.next_time() > at);
    rig.network.set_failed(at, failure, true);
    rig.run_to(at);
    const FailureCosts costs = rig.network.failure_costs(failure, rig.network.now());
    CHECK(costs.on_links.bytes == lost + on_the_way[2 * cable + 1].sum().bytes);
    CHECK(costs.in_queues.bytes == static_cast<std::uint64_t>(queued));
    CHECK(costs.sent_to_cut.packets == 0);
    CHECK(rig.network.queued_bytes(2 * cable, 0) == 0);
    // Nothing goes over the cable any more.
    const std::uint64_t before = rig.bytes(2 * cable) + rig.bytes(2 * cable + 1);
    rig.run_to(millisecond * 5);
    CHECK(rig.bytes(2 * cable) + rig.bytes(2 * cable + 1) == before);
}

TEST_CASE("Routes converge exactly when they should, and until then packets for the cable are lost") {
    const Picoseconds convergence = GENERATE(Picoseconds{}, microsecond * 300, millisecond * 2);
    FabricRig rig(4, converging_in(convergence));
    const FlowIndex flow = rig.constant(0, 2, 8 * giga);  // a packet in each microsecond
    rig.run_to(millisecond);
    const CableIndex cable = rig.cable(0, rig.busy_spine());
    const std::uint32_t failure =
        rig.network.add_failure({.kind = FabricFailure::Kind::cut, .cables = {cable}});
    rig.network.set_failed(millisecond, failure, true);
    rig.network.set_failed(millisecond * 6, failure, false);
    rig.run_to(millisecond * 5);
    REQUIRE(times_of(rig.network, NetworkEvent::Kind::converged) ==
            std::vector<Picoseconds>{millisecond + convergence});
    const FailureCosts costs = rig.network.failure_costs(failure, rig.network.now());
    const auto expected = static_cast<double>(convergence / microsecond);
    CHECK(static_cast<double>(costs.sent_to_cut.packets) == Approx(expected).margin(1));
    CHECK(rig.traffic(flow).dropped == costs.lost().bytes);
    const std::uint64_t dropped = rig.traffic(flow).dropped;
    rig.run_to(millisecond * 20);
    CHECK(rig.traffic(flow).dropped == dropped);  // mending loses nothing
    CHECK(times_of(rig.network, NetworkEvent::Kind::converged).back() == millisecond * 6 + convergence);
    // The flow is back where it was.
    const std::uint64_t before = rig.bytes(2 * cable);
    rig.run_to(millisecond * 21);
    CHECK(rig.bytes(2 * cable) - before >= 998'000);
}

TEST_CASE(
    "A connection recovers from a cut, and the gap of its delivery is the convergence time and a turn") {
    FabricRig rig(4, converging_in(millisecond * 2));
    const FlowIndex flow = rig.network.connect({0}, {2}, 0);
    rig.network.post({}, flow, 0, {20'000'000});
    rig.run_to(millisecond);
    const std::uint32_t failure = rig.network.add_failure(
        {.kind = FabricFailure::Kind::cut, .cables = {rig.cable(0, rig.busy_spine())}});
    rig.network.set_failed(millisecond, failure, true);
    bool arrived = false;
    for (const PacketNetwork::Report& report : rig.run_to(millisecond * 400)) {
        arrived = arrived || report.kind == PacketNetwork::Report::Kind::arrived;
    }
    CHECK(arrived);
    const FailureCosts costs = rig.network.failure_costs(failure, rig.network.now());
    CHECK(costs.gaps == 1);
    CHECK(costs.open_gaps == 0);
    CHECK(costs.longest_gap >= millisecond * 2 - microsecond * 5);
    CHECK(costs.longest_gap <= millisecond * 2 + microsecond * 60);
}

TEST_CASE("A switch that dies loses all that it stores, and hosts without a way get nothing") {
    FabricRig rig(4, converging_in(microsecond * 100));
    rig.constant(0, 2, 9 * giga);
    const FlowIndex flow = rig.network.connect({1}, {3}, 0);
    rig.network.post({}, flow, 0, endless);
    rig.run_to(millisecond);
    const NodeIndex leaf{5};
    const auto stored = static_cast<std::uint64_t>(rig.network.buffer(leaf).used());
    std::vector<CableIndex> cables;
    for (const LinkIndex link : rig.topology.ports(leaf)) {
        cables.push_back(link / 2);
    }
    const std::uint32_t failure =
        rig.network.add_failure({.kind = FabricFailure::Kind::cut, .cables = std::move(cables)});
    rig.network.set_failed(millisecond, failure, true);
    rig.run_to(millisecond);
    CHECK(rig.network.failure_costs(failure, millisecond).in_queues.bytes >= stored);
    CHECK(rig.network.buffer(leaf).used() == 0);
    rig.run_to(millisecond * 3);
    const FailureCosts costs = rig.network.failure_costs(failure, rig.network.now());
    CHECK(costs.without_way.packets > 3000);  // two senders, 1.9 ms, a packet in each 0.9 us
    CHECK(costs.open_gaps == 1);              // background traffic has no order
    CHECK(costs.longest_gap.seconds() == Approx(0.002).margin(1e-5));
}

TEST_CASE("Errors lose a share of packets within binomial bounds, by the seed") {
    const auto lost_of = [](std::uint64_t seed) {
        FabricRig rig(2, converging_in({}), seed);
        const FlowIndex flow = rig.constant(0, 1, 8 * giga);
        const std::uint32_t failure =
            rig.network.add_failure({.kind = FabricFailure::Kind::errors, .cables = {0}, .share = 0.01});
        rig.network.set_failed(millisecond, failure, true);
        rig.network.set_failed(millisecond * 51, failure, false);
        rig.run_to(millisecond * 60);
        const FailureCosts costs = rig.network.failure_costs(failure, rig.network.now());
        CHECK(costs.lost().packets == costs.by_errors.packets);
        CHECK(rig.traffic(flow).dropped == costs.by_errors.bytes);
        CHECK(rig.network.losses(0).on_link.sum().packets == costs.by_errors.packets);
        return costs.by_errors.packets;
    };
    const std::uint64_t lost = lost_of(1);
    // 50 000 packets: 500, and four standard deviations of 22.2.
    CHECK(std::abs(static_cast<double>(lost) - 500) < 89);
    CHECK(lost_of(1) == lost);
    CHECK(lost_of(2) != lost);
}

TEST_CASE("A cable that is slow carries its share and loses nothing") {
    FabricRig rig(2, plain_switch(), 1, {40 * giga});
    const std::uint32_t failure =
        rig.network.add_failure({.kind = FabricFailure::Kind::slow, .cables = {0}, .share = 0.25});
    rig.network.set_failed({}, failure, true);
    const FlowIndex flow = rig.network.connect({0}, {1}, 0);
    rig.network.post({}, flow, 0, endless);
    rig.run_to(millisecond * 10);
    CHECK(rig.network.flow(flow).expected() == Approx(10e-3 * 2.5e9 / 8000).epsilon(0.01));
    CHECK(rig.network.failure_costs(failure, rig.network.now()).lost().packets == 0);
}

namespace {

core::SwitchPlan lossless_switch() {
    core::SwitchPlan switches = plain_switch();
    switches.lossless = core::mask_of(0);
    switches.ingress_threshold = {20'000};
    return switches;
}

/// A storm of host 1 from 1 ms on for `length`; its frames reach the switch 500 ns and their own time later.
std::uint32_t storm(StarRig& rig, Picoseconds length) {
    const std::uint32_t failure = rig.network.add_failure({.kind = FabricFailure::Kind::storm, .host = {1}});
    rig.network.set_failed(millisecond, failure, true);
    rig.network.set_failed(millisecond + length, failure, false);
    return failure;
}

}  // namespace

TEST_CASE("A storm pauses the port for exactly as long as it lasts") {
    StarRig rig(2, lossless_switch(), plain_nic());
    rig.network.add_background({.rate = {giga}, .packet = {1000}, .priority = 0}, {0}, {{1}});
    storm(rig, millisecond * 30);
    rig.run_to(millisecond * 50);
    CHECK(rig.network.paused(StarRig::down(1), 0, rig.network.now()) == millisecond * 30);
    // One at its beginning, and one for each half of 65535 quanta, 1.678 ms.
    CHECK(rig.network.counts(StarRig::down(1), 0).pauses == 1 + 17);
    CHECK(rig.network.watchdogs().detected == 0);
}

TEST_CASE("A watchdog finds a storm after its detection time, and restores the queue after the other one") {
    const auto action = GENERATE(core::WatchdogAction::drop, core::WatchdogAction::forward);
    core::SwitchPlan switches = lossless_switch();
    switches.watchdog = {.on = true,
                         .detection = core::Duration::milliseconds(5),
                         .action = action,
                         .restoration = core::Duration::milliseconds(3)};
    StarRig rig(2, switches, plain_nic());
    rig.network.add_background({.rate = {giga}, .packet = {1000}, .priority = 0}, {0}, {{1}});
    storm(rig, millisecond * 30);
    rig.run_to(millisecond * 50);
    CHECK(rig.network.watchdogs().detected == 1);
    CHECK(rig.network.watchdogs().restored == 1);
    const Picoseconds found = times_of(rig.network, NetworkEvent::Kind::detected).front();
    const Picoseconds restored = times_of(rig.network, NetworkEvent::Kind::restored).front();
    // 84 bytes at 10 Gb/s and 500 ns; the clock is up to 100 ppm slow.
    CHECK(found >= millisecond * 6 + Picoseconds::nanoseconds(567));
    CHECK(found <= millisecond * 6 + Picoseconds::nanoseconds(568));
    CHECK(restored - found == millisecond * (30 - 5 + 3));
    // A packet of 1000 bytes in 8 us: until the watchdog acts they wait, then for 28 ms they are lost or
    // sent.
    const Flow::WireBytes& traffic = rig.network.flow({0}).traffic;
    const bool drops = action == core::WatchdogAction::drop;
    CHECK(traffic.dropped == rig.network.watchdogs().dropped.bytes);
    CHECK((traffic.dropped > 0) == drops);
    if (drops) {
        // 20 kB waited, for the sender was paused then; after them, what the sender held back comes at once.
        CHECK(static_cast<double>(traffic.dropped) == Approx(33e-3 * 1e9 / 8).epsilon(0.02));
    }
    CHECK(traffic.arrived + traffic.dropped + rig.network.bytes_inside()[0] == traffic.sent);
}

TEST_CASE("A watchdog that polls sees what it looks for at the next poll") {
    core::SwitchPlan switches = lossless_switch();
    switches.watchdog = {.on = true,
                         .detection = core::Duration::milliseconds(5),
                         .restoration = core::Duration::milliseconds(3),
                         .polling = core::Duration::milliseconds(4)};
    StarRig rig(2, switches, plain_nic());
    rig.network.add_background({.rate = {giga}, .packet = {1000}, .priority = 0}, {0}, {{1}});
    storm(rig, millisecond * 30);  // of 1 ms to 31 ms
    rig.run_to(millisecond * 50);
    CHECK(times_of(rig.network, NetworkEvent::Kind::detected) == std::vector{millisecond * 8});
    CHECK(times_of(rig.network, NetworkEvent::Kind::restored) == std::vector{millisecond * 36});
}

TEST_CASE("A watchdog lets a storm pass that is shorter than its detection time") {
    core::SwitchPlan switches = lossless_switch();
    switches.watchdog.on = true;
    StarRig rig(2, switches, plain_nic());
    rig.network.add_background({.rate = {giga}, .packet = {1000}, .priority = 0}, {0}, {{1}});
    storm(rig, millisecond * 199);
    rig.run_to(millisecond * 600);
    CHECK(rig.network.watchdogs().detected == 0);
    CHECK(rig.network.flow({0}).traffic.dropped == 0);
}

TEST_CASE("Each transfer whose tail a cut takes waits for one time-out, however many there were before") {
    StarRig rig(2, converging_in(millisecond * 10'000), plain_nic());
    const FlowIndex flow = rig.network.connect({0}, {1}, 0);
    const std::uint32_t cut = rig.network.add_failure({.kind = FabricFailure::Kind::cut, .cables = {1}});
    for (int transfer = 0; transfer < 5; ++transfer) {
        const Picoseconds begin = millisecond * 2000 * transfer + millisecond;
        rig.run_to(begin);
        rig.network.post(begin, flow, 0, {4'000'000});  // 3.2 ms
        rig.run_to(begin + millisecond * 3);
        rig.network.set_failed(begin + millisecond * 3, cut, true);
        rig.run_to(begin + millisecond * 4);
        rig.network.set_failed(begin + millisecond * 4, cut, false);
        const auto reports = rig.run_to(begin + millisecond * 1999);
        REQUIRE(reports.size() == 2);
        const double took_ms = static_cast<double>((reports.front().at - begin).count) / 1e9;
        CAPTURE(transfer, took_ms);
        CHECK(took_ms > 67.1 + 3);
        CHECK(took_ms < 67.2 + 4);
    }
}

TEST_CASE("Go-back-N over a lossy link: W packets again for a lost one, and a time-out for a lost NAK") {
    const double share = GENERATE(1e-4, 1e-3, 1.0 / 256);
    StarRig rig(2, converging_in({}), plain_nic(), 1, {}, 40 * giga);
    const std::uint32_t errors =
        rig.network.add_failure({.kind = FabricFailure::Kind::errors, .cables = {1}, .share = share});
    rig.network.set_failed({}, errors, true);
    const FlowIndex flow = rig.network.connect({0}, {1}, 0);
    const double packets = 250'000;
    rig.network.post({}, flow, 0, {250'000'000});
    const auto reports = rig.run_to(millisecond * 20'000);
    REQUIRE(!reports.empty());
    const Flow& found = rig.network.flow(flow);
    const double stood_s = static_cast<double>(found.timeouts) * 67.108864e-3;
    const double moved_s = static_cast<double>(reports.front().at.count) * 1e-12 - stood_s;
    const double packet_s = 1000 * 8 / 40e9;
    // From a packet that is sent until its NAK is there: four cables of 500 ns and three packets behind each
    // other, a short one on the way back, and half of the longest delay of a NIC that turns back.
    const double round_trip_s = 4 * 500e-9 + 2 * packet_s + 2 * 84 * 8 / 40e9 + 4 * packet_s;
    CAPTURE(share, found.timeouts, stood_s);
    CHECK(moved_s == Approx(packets * (packet_s + share * round_trip_s)).epsilon(0.02));
    // One NAK in 1/share is lost.
    const double lost_naks = packets * share * share;
    CHECK(std::abs(static_cast<double>(found.timeouts) - lost_naks) < 4 * std::sqrt(lost_naks) + 1);
}
