#include "packet/credits.hpp"

#include "catch.hpp"
#include "star_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

constexpr std::int64_t window = 15'000;

/// At the 10 Gb/s of the rig a round trip takes 4 us: 5 kB.
core::NicPlan with_credits(std::int64_t unasked_bytes = window) {
    core::NicPlan nic = plain_nic();
    nic.control = core::PairControl::credits;
    nic.credits = {.unasked = {unasked_bytes}, .of_rate = {}, .grant = {4000}};
    return nic;
}

double bytes_in(Picoseconds time) {
    return 10e9 / 8 * time.seconds();
}

}  // namespace

TEST_CASE("A sender with credits fills its link") {
    StarRig rig(2, plain_switch(), with_credits());
    rig.stream(0, 1);
    rig.run_to(millisecond);
    const LinkCounts before = rig.network.counts(StarRig::down(1), 0);
    rig.run_to(millisecond * 6);
    const LinkCounts& counts = rig.network.counts(StarRig::down(1), 0);
    CHECK(static_cast<double>(counts.bytes - before.bytes) ==
          Approx(bytes_in(millisecond * 5)).epsilon(0.01));
    CHECK(counts.peak_queue_bytes <= window);
    CHECK(rig.network.host_counts({1}).asked == 0);
    // A credit for 4000 bytes.
    CHECK(static_cast<double>(rig.network.host_counts({1}).credits_sent) ==
          Approx(bytes_in(millisecond * 6) / 4000).epsilon(0.01));
}

TEST_CASE(
    "An incast with credits: nothing is lost, the queue is what came unasked, and drains; all get the same") {
    constexpr std::uint32_t senders = 8;
    core::SwitchPlan switches = plain_switch();
    switches.egress_threshold = {senders * window + 4000};
    StarRig rig(senders + 1, switches, with_credits());
    for (std::uint32_t sender = 0; sender < senders; ++sender) {
        rig.stream(sender, senders);
    }
    rig.run_to(millisecond);
    const LinkIndex port = StarRig::down(senders);
    CHECK(rig.network.counts(port, 0).peak_queue_bytes <= senders * window);
    rig.network.restart_peaks(rig.middle());
    const std::uint64_t before = rig.network.counts(port, 0).bytes;
    std::vector<double> arrived;
    for (std::uint32_t flow = 0; flow < senders; ++flow) {
        arrived.push_back(-rig.arrived({flow}));
    }
    rig.run_to(millisecond * 11);
    const LinkCounts& counts = rig.network.counts(port, 0);
    CHECK(counts.dropped == 0);
    CHECK(counts.peak_queue_bytes <= window + 4000);
    CHECK(static_cast<double>(counts.bytes - before) == Approx(bytes_in(millisecond * 10)).epsilon(0.01));
    for (std::uint32_t flow = 0; flow < senders; ++flow) {
        CHECK((arrived[flow] + rig.arrived({flow})) * 1000 ==
              Approx(bytes_in(millisecond * 10) / senders).epsilon(0.02));
    }
}

TEST_CASE("What fits into the first window takes no longer than without credits, also after a rest") {
    const auto times = [](const core::NicPlan& nic) {
        StarRig rig(2, plain_switch(), nic);
        const FlowIndex flow = rig.network.connect({0}, {1}, 0);
        std::vector<Picoseconds> found;
        for (int message = 0; message < 3; ++message) {
            rig.network.post(millisecond * message, flow, 1, {window});
            found.push_back(rig.run_to(millisecond * (message + 1)).front().at);
        }
        CHECK(rig.network.host_counts({1}).credits_sent == 0);
        return found;
    };
    CHECK(times(with_credits()) == times(plain_nic()));
}

TEST_CASE("Without a first window a sender asks once, a round trip before its data") {
    StarRig rig(2, plain_switch(), with_credits(0));
    const FlowIndex flow = rig.network.connect({0}, {1}, 0);
    rig.network.post({}, flow, 1, {3000});
    const Picoseconds arrived = rig.run_to(millisecond).front().at;
    CHECK(rig.network.host_counts({1}).asked == 1);
    CHECK(rig.network.host_counts({1}).credits_sent == 1);
    // Four cables of 500 ns before the two of the data; 84 bytes take 67 ns. Up to 800 ns in the host.
    CHECK(arrived >= Picoseconds::nanoseconds(2000 + 4 * 67 + 1000 + 4 * 800));
    CHECK(arrived <= Picoseconds::nanoseconds(2000 + 4 * 67 + 1000 + 5 * 800 + 2));
}

TEST_CASE("To wait for a credit is no time-out of an acknowledgement, however long it takes") {
    constexpr std::uint32_t senders = 16;
    core::NicPlan nic = with_credits(0);
    nic.recovery = GENERATE(core::LossRecovery::go_back_n, core::LossRecovery::selective);
    // A round trip takes 4 us; until all others have had a credit of 4000 bytes, 48 us pass.
    nic.ack_timeout = nic.selective_timeout_low = nic.selective_timeout_high =
        core::Duration::microseconds(20);
    StarRig rig(senders + 1, plain_switch(), nic);
    for (std::uint32_t sender = 0; sender < senders; ++sender) {
        rig.stream(sender, senders);
    }
    rig.run_to(millisecond * 2);
    CHECK(rig.network.host_counts({senders}).asked > senders);
    for (std::uint32_t sender = 0; sender < senders; ++sender) {
        CHECK(rig.network.flow({sender}).timeouts == 0);
    }
}

TEST_CASE("Times for which a sender waited for credits make its time-out no longer") {
    core::NicPlan nic = with_credits(0);
    nic.recovery = core::LossRecovery::go_back_n;
    nic.ack_timeout = core::Duration::microseconds(20);
    QueuePair flow(nic, {{0}, {0}, {1}, 3, {10 * giga}});
    flow.post(1, {1000});
    Picoseconds now;
    for (int vain = 0; vain < 5; ++vain) {
        CHECK(flow.send(now).kind == Packet::Kind::ask);
        CHECK(flow.timeout_at() == now + microsecond * (20 << vain));
        now = flow.timeout_at();
        CHECK_FALSE(flow.on_timeout(now));
    }
    flow.demand->hear(flow.send(now));
    flow.demand->give(4000);
    Packet credit{.kind = Packet::Kind::credit};
    flow.demand->fill(credit);
    std::vector<MessageHandle> through;
    flow.on_reply(credit, now, through);
    now += microsecond * 5;
    CHECK(flow.send(now).kind == Packet::Kind::data);
    CHECK(flow.timeout_at() == now + microsecond * 20);
    CHECK(flow.on_timeout(flow.timeout_at()));
}

TEST_CASE("A sender that lost its credit asks again, and the receiver repeats what it has given") {
    CreditedSender sender({.unasked = {0}}, {giga}, 0);
    CreditDemand demand(0);
    Packet ask{.kind = Packet::Kind::ask};
    CHECK(sender.turn() == SenderControl::Turn::ask);
    sender.on_sent(ask, 5000, {});
    CHECK(sender.turn() == SenderControl::Turn::wait);
    demand.hear(ask);
    CHECK(demand.give(8000) == 5000);
    sender.on_timeout(false, {});
    CHECK(sender.turn() == SenderControl::Turn::ask);
    sender.on_sent(ask, 5000, {});
    demand.hear(ask);
    CHECK_FALSE(demand.wants());
    Packet credit{.kind = Packet::Kind::credit};
    demand.fill(credit);
    sender.on_reply(credit, 0, false, {});
    CHECK(sender.turn() == SenderControl::Turn::send);
}
