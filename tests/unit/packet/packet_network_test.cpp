#include "packet/packet_network.hpp"

#include <numeric>

#include "catch.hpp"
#include "leaf_spine.hpp"
#include "star_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

core::SwitchPlan pause_above(std::int64_t threshold_bytes) {
    core::SwitchPlan switches = plain_switch();
    switches.lossless = core::mask_of(0);
    switches.ingress_threshold = {threshold_bytes};
    return switches;
}

double share_of(const StarRig& rig, LinkIndex link, Priority priority) {
    double all = 0;
    for (Priority other = 0; other < priority_count; ++other) {
        all += static_cast<double>(rig.network.counts(link, other).bytes);
    }
    return static_cast<double>(rig.network.counts(link, priority).bytes) / all;
}

}  // namespace

TEST_CASE("A message takes its transmissions and delays, and no time besides") {
    StarRig rig(2, plain_switch(), plain_nic());
    const FlowIndex flow = rig.network.connect({0}, {1}, 0);
    rig.network.post({}, flow, 42, {10'000});
    const auto reports = rig.run_to(Picoseconds::never());
    REQUIRE(reports.size() == 2);
    CHECK(reports[0].kind == PacketNetwork::Report::Kind::arrived);
    CHECK(reports[1].kind == PacketNetwork::Report::Kind::sent);
    CHECK(reports[0].message == 42);
    // 10 packets of 800 ns, one more on the second link, two cables of 500 ns; up to a packet's time in the
    // host. Clocks are up to 100 ppm slow.
    CHECK(reports[0].at >= Picoseconds::nanoseconds(9'800));
    CHECK(reports[0].at <= Picoseconds::nanoseconds(9'800 + 801));
    // The acknowledgement of 84 bytes.
    CHECK(reports[1].at - reports[0].at <= Picoseconds::nanoseconds(3 * 67 + 1000 + 2));
}

TEST_CASE("A host without a way to another one is refused") {
    struct Refused {};
    Topology topology;
    const NodeIndex a = topology.add_host();
    const NodeIndex b = topology.add_host();
    topology.connect(a, topology.add_switch(), {giga}, {});
    topology.connect(b, topology.add_switch(), {giga}, {});
    PacketNetwork network({.topology = topology, .switches = {}, .nics = {}});
    core::set_assertion_handler([](const char*, const char*, int) { throw Refused{}; });
    CHECK_THROWS_AS(network.connect(a, b, 0), Refused);
    core::set_assertion_handler(nullptr);
}

TEST_CASE("Strict priorities go first, the others share by weight") {
    core::SwitchPlan switches = plain_switch();
    switches.weights = {1, 3, 1, 1, 1, 1, 1, 1};
    switches.pool = {giga};  // no losses
    StarRig rig(5, switches, plain_nic());
    // Each sender has its own priority, and each of them could fill the link.
    const FlowIndex one = rig.stream(0, 4, 0);
    rig.stream(1, 4, 1);
    rig.run_to(millisecond * 20);
    CHECK(share_of(rig, StarRig::down(4), 0) == Approx(0.25).margin(0.01));
    CHECK(share_of(rig, StarRig::down(4), 1) == Approx(0.75).margin(0.01));
    const double before = rig.arrived(one);
    rig.stream(2, 4, urgent);
    rig.run_to(millisecond * 22);
    CHECK(rig.arrived(one) - before < 30);  // what had left its queue by then
}

TEST_CASE("A class that was alone for long does not pay for it when another one comes") {
    StarRig rig(3, plain_switch(), plain_nic());
    const FlowIndex old = rig.stream(0, 2, 0);
    rig.run_to(millisecond * 50);
    const double before = rig.arrived(old);
    const FlowIndex fresh = rig.stream(1, 2, 1);
    rig.run_to(millisecond * 60);
    // 10 ms of 10 Gb/s are 12500 packets.
    CHECK(rig.arrived(old) - before == Approx(6250).epsilon(0.1));
    CHECK(rig.arrived(fresh) == Approx(6250).epsilon(0.1));
}

TEST_CASE("With pauses nothing is lost while the headroom suffices, and something is when it does not") {
    const bool enough = GENERATE(true, false);
    core::SwitchPlan switches = pause_above(20'000);
    // Two cables of 500 ns at 10 Gb/s are 1250 B; then come three packets and the frame. A port of 10 Gb/s
    // has a quarter of it. From the PAUSE frame (67 ns) until its sender's last packet is there, 1.07 us
    // pass, and one of 800 ns has begun on each side of it: two packets come, and the second finds no room in
    // less.
    switches.headroom_at_100g = {enough ? 10 * (1250 + 3084 + 84) : 4 * 1900};
    StarRig rig(5, switches, plain_nic());
    for (std::uint32_t source = 0; source < 4; ++source) {
        rig.stream(source, 4);
    }
    rig.run_to(millisecond * 20);
    const LinkCounts& counts = rig.network.counts(StarRig::down(4), 0);
    CHECK((counts.dropped == 0) == enough);
    CHECK(counts.bytes == Approx(10e9 / 8 * 0.02).epsilon(0.01));
    for (std::uint32_t source = 0; source < 4; ++source) {
        const LinkCounts& up = rig.network.counts(StarRig::up(source), 0);
        CHECK(up.pauses > 100);
        CHECK(up.paused.seconds() > 0.005);
    }
}

TEST_CASE("A pause stops its own priority only") {
    core::SwitchPlan switches = pause_above(20'000);
    switches.lossless = core::mask_of(0) | core::mask_of(1);
    StarRig rig(5, switches, plain_nic());
    rig.stream(0, 3, 0);
    rig.stream(1, 3, 0);
    const FlowIndex other = rig.stream(0, 4, 1);
    rig.run_to(millisecond * 10);
    CHECK(rig.network.counts(StarRig::up(0), 0).pauses > 0);
    CHECK(rig.network.counts(StarRig::up(0), 1).pauses == 0);
    CHECK(rig.arrived(other) > 0.49 * 12'500);
}

TEST_CASE("A long pause is renewed before its 65535 quanta end") {
    core::SwitchPlan switches = pause_above(20'000);
    StarRig rig(2, switches, plain_nic());
    rig.stream(0, 1);
    rig.run_to(millisecond);
    rig.network.set_speed(rig.network.now(), {1}, 0);  // its link carries nothing: a receiver that hangs
    const std::uint64_t before = rig.network.counts(StarRig::up(0), 0).pauses;
    rig.run_to(millisecond * 101);
    // 65535 x 512 bits are 3.355 ms at 10 Gb/s; a frame for each half of it.
    const auto frames = static_cast<double>(rig.network.counts(StarRig::up(0), 0).pauses - before);
    CHECK(frames == Approx(100 / (3.355 / 2)).margin(2));
    const double stopped = rig.arrived({0});
    rig.network.set_speed(rig.network.now(), {1}, 1);
    rig.run_to(millisecond * 111);
    CHECK(rig.arrived({0}) - stopped > 12'000);
}

TEST_CASE("Two senders that do the same share the losses") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{6}));
    core::SwitchPlan switches = plain_switch();
    switches.egress_threshold = {100'000};
    core::NicPlan nics = plain_nic();
    nics.recovery = GENERATE(core::LossRecovery::go_back_n, core::LossRecovery::selective);
    CAPTURE(seed, static_cast<int>(nics.recovery));
    StarRig rig(3, switches, nics, seed);
    const FlowIndex a = rig.stream(0, 2);
    const FlowIndex b = rig.stream(1, 2);
    rig.run_to(millisecond * 100);
    const auto lost_a = static_cast<double>(rig.network.flow(a).traffic.dropped);
    const auto lost_b = static_cast<double>(rig.network.flow(b).traffic.dropped);
    CHECK(lost_a + lost_b > 1e6);
    CHECK(lost_a / (lost_a + lost_b) > 0.4);
    CHECK(lost_a / (lost_a + lost_b) < 0.6);
}

TEST_CASE(
    "Packets of a host arrive as far apart as its link sends them, after one delay of less than a packet") {
    core::SwitchPlan switches = plain_switch();
    const core::NicPlan nics = plain_nic();
    std::vector<double> delays;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        StarRig rig(2, switches, nics, seed);
        // 800 ns for each packet on a link that may be 100 ppm slow; there are two, of 500 ns of delay.
        const FlowIndex flow = rig.network.connect({0}, {1}, 0);
        rig.network.post({}, flow, 0, {40'000});
        std::vector<Picoseconds> arrivals;
        while (arrivals.size() < 40) {
            rig.network.advance(rig.network.next_time());
            while (static_cast<double>(arrivals.size()) < rig.arrived(flow)) {
                arrivals.push_back(rig.network.now());
            }
        }
        const Picoseconds packet = Picoseconds::nanoseconds(800);
        for (std::size_t index = 1; index < arrivals.size(); ++index) {
            const Picoseconds apart = arrivals[index] - arrivals[index - 1];
            REQUIRE(apart >= packet);
            REQUIRE(apart <= packet + Picoseconds{200'000});
        }
        const Picoseconds unhindered = packet * 41 + Picoseconds::nanoseconds(1000);
        delays.push_back((arrivals.back() - unhindered).seconds() / packet.seconds());
    }
    std::sort(delays.begin(), delays.end());
    // Uniform in 0..1: of 60, the mean is 0.5 within 0.11 (three of its standard deviations).
    CHECK(delays.front() >= 0);
    CHECK(delays.back() < 1.01);
    double sum = 0;
    for (const double delay : delays) {
        sum += delay;
    }
    CHECK(sum / 60 > 0.39);
    CHECK(sum / 60 < 0.62);
}

TEST_CASE("All traffic later by some time is through exactly that much later") {
    core::SwitchPlan switches = plain_switch();
    switches.ecn.on = GENERATE(false, true);
    switches.egress_threshold = {150'000};
    core::NicPlan nics = plain_nic();
    nics.dcqcn.on = true;
    nics.dcqcn.rules = GENERATE(core::DcqcnRules::paper, core::DcqcnRules::hpcc);
    nics.recovery = GENERATE(core::LossRecovery::go_back_n, core::LossRecovery::selective);
    const auto run = [&](Picoseconds begin) {
        StarRig rig(9, switches, nics, 7);
        std::vector<PacketNetwork::Report> all;
        for (std::uint32_t sender = 0; sender < 8; ++sender) {
            const FlowIndex flow = rig.network.connect({sender}, {8}, 0);
            rig.network.post(begin + microsecond * sender, flow, sender, {2'000'000});
        }
        all = rig.run_to(begin + millisecond * 200);
        REQUIRE(all.size() == 16);
        for (PacketNetwork::Report& report : all) {
            report.at = report.at - begin;
        }
        return all;
    };
    const auto first = run({});
    const auto second = run(millisecond * 1000);
    REQUIRE(first.size() == second.size());
    for (std::size_t index = 0; index < first.size(); ++index) {
        CHECK(first[index].at.count == second[index].at.count);
        CHECK(first[index].flow.value == second[index].flow.value);
    }
}

TEST_CASE("The same seed gives the same run, another one a different one") {
    const auto run = [](std::uint64_t seed) {
        core::SwitchPlan switches = plain_switch();
        switches.ecn.on = true;
        core::NicPlan nics = plain_nic();
        nics.dcqcn.on = true;
        StarRig rig(4, switches, nics, seed);
        for (std::uint32_t source = 0; source < 3; ++source) {
            rig.stream(source, 3);
        }
        rig.run_to(millisecond * 20);
        std::vector<std::uint64_t> all{rig.network.transmissions()};
        for (LinkIndex link = 0; link < 8; ++link) {
            const LinkCounts& counts = rig.network.counts(link, 0);
            all.insert(all.end(),
                       {counts.bytes, counts.marked, static_cast<std::uint64_t>(counts.peak_queue_bytes)});
        }
        return all;
    };
    CHECK(run(1) == run(1));
    CHECK(run(1) != run(2));
}

TEST_CASE("Marks begin at the lower threshold and cover all packets beyond the upper one") {
    const bool at_enqueue = GENERATE(false, true);
    core::SwitchPlan switches = pause_above(75'000);  // of each of two senders
    switches.ecn.on = true;
    switches.ecn.at_enqueue = at_enqueue;
    switches.ecn.none_below = {200'000};
    switches.ecn.all_above = {300'000};
    const auto marked = [&] {
        StarRig rig(3, switches, plain_nic());  // senders without DCQCN: the queue stays full
        rig.stream(0, 2);
        rig.stream(1, 2);
        rig.run_to(millisecond * 10);
        const LinkCounts& counts = rig.network.counts(StarRig::down(2), 0);
        return static_cast<double>(counts.marked) / static_cast<double>(counts.packets);
    };
    CHECK(marked() == 0);
    switches.ecn.none_below = {1'000};
    switches.ecn.all_above = {100'000};
    CHECK(marked() > 0.95);
    switches.ecn.all_above = {298'000};  // the queue is at half of it
    switches.ecn.probability_at_top = 0.2;
    CHECK(marked() == Approx(0.1).margin(0.02));
}

TEST_CASE("WRED loses what may not be marked where it would have been marked") {
    core::SwitchPlan switches = plain_switch();
    switches.ecn.drops = true;
    switches.ecn.none_below = switches.ecn.all_above = {50'000};
    const auto run = [&] {
        StarRig rig(3, switches, plain_nic());
        rig.stream(0, 2);
        rig.stream(1, 2);
        rig.run_to(millisecond * 5);
        return rig.network.counts(StarRig::down(2), 0);
    };
    switches.ecn.on = GENERATE(false, true);
    const LinkCounts counts = run();
    if (switches.ecn.on) {  // data of queue pairs may be marked
        CHECK(counts.marked > 0);
        CHECK(counts.peak_queue_bytes > 1'000'000);
    } else {
        CHECK(counts.marked == 0);
        CHECK(counts.dropped > 0);
        // The last one that comes in finds 50 000 B.
        CHECK(counts.peak_queue_bytes == 51'000);
    }
    // With a probability: of a queue from others at a constant rate, which is as long as the pool lets it be.
    switches.ecn.on = false;
    switches.ecn.none_below = {0};
    switches.ecn.all_above = {1'000'000};
    switches.ecn.probability_at_top = 1;
    StarRig rig(3, switches, plain_nic());
    const core::BackgroundPlan full{.rate = {10 * giga}, .packet = {1000}, .priority = 0};
    rig.network.add_background(full, {0}, {{2}});
    rig.network.add_background(full, {1}, {{2}});
    rig.run_to(millisecond * 50);
    // Twice as much comes as can leave, so every second packet is lost: where the probability is 1/2.
    CHECK(static_cast<double>(rig.network.queued_bytes(StarRig::down(2), 0)) ==
          Approx(500'000).epsilon(0.15));
}

TEST_CASE("ECMP: flows between two leaves use all spines, each flow one") {
    const core::BitRate rate{10 * giga};
    const Topology topology = leaf_spine(
        {.leaves = 2, .spines = 4, .hosts = {16, rate}, .between = rate, .delay = core::Duration{500}});
    PacketNetwork network({.topology = topology, .switches = plain_switch(), .nics = plain_nic()});
    for (std::uint32_t source = 0; source < 8; ++source) {
        for (std::uint32_t sink = 8; sink < 16; ++sink) {
            network.post({}, network.connect({source}, {sink}, 0), 0, {100'000});
        }
    }
    std::size_t arrived = 0;
    while (network.next_time() != Picoseconds::never() && arrived < 64) {
        for (const auto& report : network.advance(Picoseconds::never())) {
            arrived += report.kind == PacketNetwork::Report::Kind::arrived ? 1 : 0;
        }
    }
    REQUIRE(arrived == 64);
    for (std::uint32_t spine = 0; spine < 4; ++spine) {
        const LinkCounts& counts = network.counts(2 * (16 + spine), 0);  // of leaf 0
        CHECK(counts.bytes % 100'000 == 0);
        CHECK(counts.bytes >= 800'000);
    }
}

TEST_CASE("ECMP: ways follow from seed and hosts, not from which pair speaks first or from pauses") {
    const core::BitRate rate{10 * giga};
    const Topology topology = leaf_spine(
        {.leaves = 2, .spines = 4, .hosts = {16, rate}, .between = rate, .delay = core::Duration{500}});
    /// Data from leaf to leaf, by uplink of leaf 0.
    const auto bytes_by_uplink = [&](bool backwards, bool pauses, std::uint64_t seed) {
        core::SwitchPlan switches = plain_switch();
        switches.lossless = pauses ? 1 : 0;
        PacketNetwork network(
            {.topology = topology, .switches = switches, .nics = plain_nic(), .seed = seed});
        for (std::uint32_t pair = 0; pair < 8; ++pair) {
            const std::uint32_t source = backwards ? 7 - pair : pair;
            const FlowIndex flow = network.connect({source}, {15 - source}, 0);
            network.post({}, flow, 0, {1000 * (source + 1)});
        }
        while (network.next_time() != Picoseconds::never()) {
            network.advance(Picoseconds::never());
        }
        std::vector<std::uint64_t> bytes;
        for (std::uint32_t spine = 0; spine < 4; ++spine) {
            bytes.push_back(network.counts(2 * (16 + spine), 0).bytes);
        }
        return bytes;
    };
    const std::vector<std::uint64_t> bytes = bytes_by_uplink(false, false, 1);
    CHECK(bytes_by_uplink(true, false, 1) == bytes);
    CHECK(bytes_by_uplink(false, true, 1) == bytes);
    CHECK(bytes_by_uplink(false, false, 2) != bytes);
}

TEST_CASE("A port sends in the order of arrival, or a packet of each ingress port in turn") {
    const Topology topology = star({{giga}, {10 * giga}, {giga}, {giga}}, core::Duration::nanoseconds(500));
    const auto share_of_fast_sender = [&](core::Arbitration arbitration) {
        core::SwitchPlan switches = plain_switch();  // room for all
        switches.arbitration = arbitration;
        PacketNetwork network({.topology = topology, .switches = switches, .nics = plain_nic()});
        std::vector<FlowIndex> flows;
        for (std::uint32_t source = 1; source <= 3; ++source) {
            flows.push_back(network.connect({source}, {0}, 0));
            network.post({}, flows.back(), 0, {2'000'000});
        }
        while (network.next_time() <= millisecond) {
            network.advance(millisecond);
        }
        double all = 0;
        for (const FlowIndex flow : flows) {
            all += network.flow(flow).expected();
        }
        CHECK(all == Approx(124).margin(2));
        CHECK(network.counts(StarRig::down(0), 0).dropped == 0);
        return network.flow(flows[0]).expected() / all;
    };
    CHECK(share_of_fast_sender(core::Arbitration::fifo) == Approx(10.0 / 12).margin(0.02));
    CHECK(share_of_fast_sender(core::Arbitration::ingress_round_robin) == Approx(1.0 / 3).margin(0.02));
}

TEST_CASE("A connection takes the place of one that is through, and begins anew") {
    StarRig rig(4, plain_switch(), plain_nic());
    const FlowIndex flow = rig.network.connect({0}, {1}, 0);
    rig.network.post({}, flow, 1, {10'000});
    rig.run_to(microsecond * 5);
    CHECK_FALSE(rig.network.connect_again(rig.network.now(), flow, {2}, {}));  // under way
    rig.run_to(microsecond * 50);
    const Flow::WireBytes before = rig.network.flow(flow).traffic;
    CHECK(before.arrived == before.sent);
    REQUIRE(rig.network.connect_again(rig.network.now(), flow, {2}, {}));
    CHECK(rig.network.flows() == 1);
    CHECK(rig.network.flow(flow).expected() == 0);
    CHECK(rig.network.flow(flow).ends().to == NodeIndex{2});
    rig.network.post(rig.network.now(), flow, 2, {5'000});
    const auto reports = rig.run_to(Picoseconds::never());
    REQUIRE(reports.size() == 2);
    CHECK(reports[0].message == 2);
    CHECK(rig.network.flow(flow).expected() == 5);
    // 5 packets and an acknowledgement more; nothing that was counted is forgotten.
    CHECK(rig.network.flow(flow).traffic.sent == before.sent + 5'000 + 84);
}

TEST_CASE("A connection that takes another's place is timed out as if it were new") {
    core::SwitchPlan switches = plain_switch();
    core::NicPlan nic = plain_nic();
    nic.ack_timeout = core::Duration::microseconds(100);
    StarRig rig(3, switches, nic);
    const FlowIndex flow = rig.network.connect({0}, {1}, 0);
    rig.network.post({}, flow, 1, {1'000});
    rig.run_to(microsecond * 50);
    REQUIRE(rig.network.connect_again(microsecond * 50, flow, {2}, {}));
    rig.network.set_speed(microsecond * 50, {2}, 0);  // nothing gets to host 2
    rig.network.post(microsecond * 50, flow, 2, {1'000});
    rig.run_to(microsecond * 145);
    CHECK(rig.network.flow(flow).timeouts == 0);
    rig.run_to(microsecond * 160);
    CHECK(rig.network.flow(flow).timeouts == 1);
}
