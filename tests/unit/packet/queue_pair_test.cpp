#include "packet/queue_pair.hpp"

#include "catch.hpp"
#include "star_rig.hpp"

using namespace weir;
using namespace weir::packet;

namespace {

/// Both ends, with the network in the test's hands.
class Pair {
  public:
    explicit Pair(const core::NicPlan& settings)
        : plan(settings), flow(plan, {{0}, {0}, {1}, 3, {100'000'000'000}}) {}

    /// The next `count` packets; only their numbers.
    std::vector<std::uint32_t> send(std::size_t count) {
        std::vector<std::uint32_t> numbers;
        for (; count > 0 && flow.has_packet(); --count) {
            numbers.push_back(flow.send(now).sequence);
        }
        return numbers;
    }
    Flow::Replies deliver(std::uint32_t sequence, bool marked = false) {
        Packet packet;
        packet.sequence = sequence;
        packet.marked = marked;
        return flow.on_data(packet, now, arrived);
    }
    void reply(Packet::Kind kind, std::uint32_t sequence, std::uint32_t detail = 0, bool again = false) {
        Packet packet;
        packet.kind = kind;
        packet.sequence = sequence;
        packet.detail = detail;
        packet.again = again;
        flow.on_reply(packet, now, sent);
    }

    core::NicPlan plan;
    QueuePair flow;
    Picoseconds now;
    std::vector<MessageHandle> arrived;
    std::vector<MessageHandle> sent;
};

core::NicPlan small_packets(core::LossRecovery recovery) {
    core::NicPlan plan;
    plan.payload = {1000};
    plan.overhead = {0};
    plan.recovery = recovery;
    return plan;
}

using Numbers = std::vector<std::uint32_t>;
using Handles = std::vector<MessageHandle>;

}  // namespace

TEST_CASE("A queue pair acknowledges the end of each message and every 16th packet") {
    Pair pair(small_packets(core::LossRecovery::go_back_n));
    pair.flow.post(5, {3000});
    pair.flow.post(6, {40'000});
    REQUIRE(pair.send(100).size() == 43);
    CHECK_FALSE(pair.flow.has_packet());
    std::vector<std::uint32_t> acknowledged;
    for (std::uint32_t sequence = 0; sequence < 43; ++sequence) {
        const Flow::Replies replies = pair.deliver(sequence);
        CHECK_FALSE(replies.negative);
        if (replies.acknowledge) {
            acknowledged.push_back(sequence);
        }
    }
    CHECK(acknowledged == Numbers{2, 18, 34, 42});
    CHECK(pair.arrived == Handles{5, 6});
    pair.reply(Packet::Kind::ack, 19);
    CHECK(pair.sent == Handles{5});
    CHECK(pair.flow.timeout_at() != Picoseconds::never());
    pair.reply(Packet::Kind::ack, 43);
    CHECK(pair.sent == Handles{5, 6});
    CHECK(pair.flow.timeout_at() == Picoseconds::never());
}

TEST_CASE("Go-back-N: one NAK for a gap, one more if the sender went back in vain, and everything again") {
    Pair pair(small_packets(core::LossRecovery::go_back_n));
    pair.flow.post(5, {10'000});
    pair.send(6);
    pair.deliver(0);
    const Flow::Replies first = pair.deliver(2);
    CHECK(first.negative);
    CHECK_FALSE(pair.deliver(3).negative);
    // However long the round trip is: the sender has the NAK.
    pair.now += microsecond * 500;
    CHECK_FALSE(pair.deliver(4).negative);
    pair.reply(Packet::Kind::nak, 1, 2);
    CHECK(pair.send(3) == Numbers{1, 2, 3});
    CHECK(pair.flow.packets_sent_again() == 3);
    // Number 1 is lost again. NAKs are 4 us apart.
    CHECK(pair.deliver(2).negative);
    CHECK_FALSE(pair.deliver(3).negative);
    pair.now += microsecond * 1;
    CHECK_FALSE(pair.deliver(2).negative);
    pair.now += microsecond * 4;
    CHECK(pair.deliver(3).negative);
    // An old NAK does not turn back what is acknowledged.
    pair.reply(Packet::Kind::ack, 3);
    pair.reply(Packet::Kind::nak, 1, 4);
    CHECK(pair.send(2) == Numbers{4, 5});
    // What has come already is acknowledged again: the acknowledgement may be lost.
    pair.deliver(1);
    CHECK(pair.deliver(1).acknowledge);
}

TEST_CASE("Selective repeat sends only what is missing") {
    Pair pair(small_packets(core::LossRecovery::selective));
    pair.flow.post(5, {10'000});
    pair.send(8);
    for (const std::uint32_t sequence : {0U, 2U, 3U, 5U}) {
        const Flow::Replies replies = pair.deliver(sequence);
        CHECK(replies.negative == (sequence > 0));
        if (replies.negative) {
            pair.reply(Packet::Kind::nak, 1, sequence);
        }
    }
    CHECK(pair.send(3) == Numbers{1, 4, 8});
    CHECK(pair.flow.packets_sent_again() == 2);
    pair.deliver(1);
    CHECK(pair.flow.expected() == 4);
    pair.deliver(4);
    CHECK(pair.flow.expected() == 6);
}

TEST_CASE("After the time-out a queue pair sends again, also a last packet that nothing came behind") {
    const auto recovery = GENERATE(core::LossRecovery::go_back_n, core::LossRecovery::selective);
    Pair pair(small_packets(recovery));
    pair.flow.post(5, {2000});
    pair.send(2);
    pair.deliver(0);
    pair.reply(Packet::Kind::ack, 1);
    CHECK_FALSE(pair.flow.has_packet());
    // 4.096 us x 2^14; IRN's with few packets under way
    CHECK(pair.flow.timeout_at() ==
          Picoseconds::nanoseconds(recovery == core::LossRecovery::selective ? 100'000 : 67'108'864));
    pair.now = pair.flow.timeout_at();
    pair.flow.on_timeout(pair.now);
    CHECK(pair.send(2) == Numbers{1});
    CHECK(pair.deliver(1).acknowledge);
    CHECK(pair.arrived == Handles{5});
}

TEST_CASE("A window limits what is under way") {
    core::NicPlan plan = small_packets(core::LossRecovery::selective);
    plan.window = {4500};
    Pair pair(plan);
    pair.flow.post(5, {100'000});
    CHECK(pair.send(100).size() == 5);
    pair.reply(Packet::Kind::ack, 2);
    CHECK(pair.send(100) == Numbers{5, 6});
}

TEST_CASE("A receiver sends at most one CNP in 50 us, and only for marks and with DCQCN") {
    core::NicPlan plan = small_packets(core::LossRecovery::go_back_n);
    plan.dcqcn.on = true;
    Pair pair(plan);
    pair.flow.post(5, {100'000});
    pair.send(100);
    int notifications = 0;
    for (std::uint32_t sequence = 0; sequence < 100; ++sequence) {
        notifications += pair.deliver(sequence, sequence != 0).notify ? 1 : 0;
        pair.now += microsecond * 2;
    }
    CHECK(notifications == 4);  // of 198 us
    plan.dcqcn.on = false;
    Pair off(plan);
    off.flow.post(5, {1000});
    off.send(1);
    CHECK_FALSE(off.deliver(0, true).notify);
}

TEST_CASE("By the rules of HPCC's simulator a receiver sends a CNP for each marked packet") {
    core::NicPlan plan = small_packets(core::LossRecovery::go_back_n);
    plan.dcqcn.on = true;
    plan.dcqcn.rules = core::DcqcnRules::hpcc;
    Pair pair(plan);
    pair.flow.post(5, {100'000});
    pair.send(100);
    int notifications = 0;
    for (std::uint32_t sequence = 0; sequence < 100; ++sequence) {
        notifications += pair.deliver(sequence, sequence % 2 == 0).notify ? 1 : 0;
    }
    CHECK(notifications == 50);
}

TEST_CASE("A window that follows the rate is less in proportion, and each packet is acknowledged") {
    core::NicPlan plan =
        small_packets(GENERATE(core::LossRecovery::go_back_n, core::LossRecovery::selective));
    plan.dcqcn.on = true;
    plan.window = {20'000};
    plan.window_follows_rate = true;
    Pair pair(plan);
    pair.flow.post(5, {100'000});
    REQUIRE(pair.send(100).size() == 20);
    // Half of the rate is left: ten packets may be under way.
    pair.reply(Packet::Kind::cnp, 0);
    for (std::uint32_t sequence = 0; sequence < 10; ++sequence) {
        REQUIRE(pair.deliver(sequence).acknowledge);
        pair.reply(Packet::Kind::ack, sequence + 1, sequence);
        REQUIRE_FALSE(pair.flow.has_packet());
    }
    REQUIRE(pair.deliver(10).acknowledge);
    pair.reply(Packet::Kind::ack, 11, 10);
    CHECK(pair.send(100) == Numbers{20});
    // However low the rate: one packet.
    for (int notification = 0; notification < 20; ++notification) {
        pair.reply(Packet::Kind::cnp, 0);
    }
    pair.reply(Packet::Kind::ack, 20, 19);
    CHECK(pair.send(100).empty());
    pair.reply(Packet::Kind::ack, 21, 20);
    CHECK(pair.send(100) == Numbers{21});
}

TEST_CASE("If it is set so, a receiver also sends a CNP for a packet that comes ahead of a missing one") {
    core::NicPlan plan = small_packets(core::LossRecovery::go_back_n);
    plan.dcqcn.on = true;
    plan.dcqcn.notify_losses = GENERATE(false, true);
    plan.dcqcn.rules = GENERATE(core::DcqcnRules::paper, core::DcqcnRules::hpcc);
    Pair pair(plan);
    pair.flow.post(5, {100'000});
    pair.send(100);
    CHECK_FALSE(pair.deliver(0).notify);
    CHECK(pair.deliver(2).notify == plan.dcqcn.notify_losses);
    CHECK_FALSE(pair.deliver(3).notify);
    // What follows is as much ahead. By the rules of HPCC's simulator only a NAK brings a CNP.
    pair.now += microsecond * 51;
    CHECK(pair.deliver(4).notify ==
          (plan.dcqcn.notify_losses && plan.dcqcn.rules == core::DcqcnRules::paper));
}

TEST_CASE("A CNP lowers the pace of the packets that follow") {
    core::NicPlan plan = small_packets(core::LossRecovery::go_back_n);
    plan.dcqcn.on = true;
    Pair pair(plan);
    pair.flow.post(5, {100'000});
    pair.send(1);
    CHECK(pair.flow.next_send() == Picoseconds::nanoseconds(80));  // 1000 B at 100 Gb/s
    pair.reply(Packet::Kind::cnp, 0);
    pair.now = pair.flow.next_send();
    pair.send(1);
    CHECK(pair.flow.next_send() == Picoseconds::nanoseconds(80 + 160));
}

TEST_CASE("Time-outs double until there is progress; then they are the plan's, if they were needed") {
    Pair pair(small_packets(GENERATE(core::LossRecovery::go_back_n, core::LossRecovery::selective)));
    const bool selective = pair.plan.recovery == core::LossRecovery::selective;
    const Picoseconds planned =
        Picoseconds::of(selective ? pair.plan.selective_timeout_low : pair.plan.ack_timeout);
    const auto time_out = [&] {
        pair.now = pair.flow.timeout_at();
        pair.flow.on_timeout(pair.now);
        pair.now = std::max(pair.now, pair.flow.next_send());
        REQUIRE(pair.send(10).size() == 2);
    };
    const auto post = [&](MessageHandle message) {
        pair.flow.post(message, {2000});
        REQUIRE(pair.send(10).size() == 2);
        return pair.flow.timeout_at() - pair.now;
    };
    CHECK(post(1) == planned);
    time_out();
    // It sends again up to 1 us after the time-out.
    const Picoseconds first = pair.now;
    time_out();
    CHECK(pair.now - first > planned * 2 - Picoseconds::microseconds(1));
    // The copies that were sent last are answered: the time-outs were needed.
    pair.reply(Packet::Kind::ack, 2, 1, true);
    CHECK(post(2) == planned);
    // Both packets had been there, and their acknowledgement was lost: the copies find it so.
    time_out();
    pair.reply(Packet::Kind::ack, 4, 2, true);
    pair.reply(Packet::Kind::ack, 4, 3, true);
    CHECK(post(3) == planned);
    // Now the first copies are answered, late; then the others.
    const Picoseconds sent = pair.now;
    time_out();
    time_out();
    pair.now += microsecond * 5;
    pair.reply(Packet::Kind::ack, 6, 5, false);
    const Picoseconds learnt = (pair.now - sent) * 2;
    pair.reply(Packet::Kind::ack, 6, 4, true);
    pair.reply(Packet::Kind::ack, 6, 5, true);
    std::uint32_t sequence = 6;
    // A late one is waited for, and many in time in a row are the end of that.
    for (int message = 4; message < 4 + 16; ++message) {
        REQUIRE(post(4) == learnt);
        sequence += 2;
        pair.now += message == 4 ? planned * 2 : microsecond * 10;
        pair.reply(Packet::Kind::ack, sequence, sequence - 1, false);
    }
    REQUIRE(post(5) == learnt);
    pair.now += microsecond * 10;
    pair.reply(Packet::Kind::ack, sequence + 2, sequence + 1, false);
    CHECK(post(6) == planned);
}

TEST_CASE("Selective repeat waits for what is lost twice as IRN does: briefly with three packets under way") {
    Pair pair(small_packets(core::LossRecovery::selective));
    pair.flow.post(5, {10'000});
    REQUIRE(pair.send(4).size() == 4);
    CHECK(pair.flow.timeout_at() == microsecond * 1350);
    // Number 0 is lost, and lost again; the others are there, and the sender was told.
    for (const std::uint32_t sequence : {1U, 2U, 3U}) {
        pair.now += microsecond * 1;
        pair.deliver(sequence);
        pair.reply(Packet::Kind::nak, 0, sequence);
    }
    REQUIRE(pair.send(1) == Numbers{0});
    pair.now = pair.flow.timeout_at();
    CHECK(pair.now == microsecond * 1350);
    pair.flow.on_timeout(pair.now);
    CHECK(pair.send(1) == Numbers{0});
    pair.deliver(0);
    pair.reply(Packet::Kind::ack, 4, 0, true);
    // Only the first of the last three arrives.
    pair.now += microsecond * 10;
    REQUIRE(pair.send(3) == Numbers{4, 5, 6});
    CHECK(pair.flow.timeout_at() - pair.now == microsecond * 100);
}

TEST_CASE("Go-back-N waits a while before it sends again, and longer when many rounds bring nothing") {
    Pair pair(small_packets(core::LossRecovery::go_back_n));
    pair.flow.post(1, {100'000});
    REQUIRE(pair.send(100).size() == 100);
    Picoseconds longest_of_first;
    Picoseconds longest_of_last;
    for (std::uint32_t round = 0; round < 20; ++round) {
        pair.now = std::max(pair.now, pair.flow.next_send());
        pair.reply(Packet::Kind::nak, 0, 1);
        Picoseconds& longest = round < 8 ? longest_of_first : longest_of_last;
        longest = std::max(longest, pair.flow.next_send() - pair.now);
        pair.now = std::max(pair.now, pair.flow.next_send());
        REQUIRE(pair.send(2) == Numbers{0, 1});
    }
    // 8 packets of 1000 bytes at 100 Gb/s.
    CHECK(longest_of_first > Picoseconds{});
    CHECK(longest_of_first <= Picoseconds::nanoseconds(640));
    CHECK(longest_of_last > Picoseconds::nanoseconds(640));
}

TEST_CASE("Delays of going back do not add up while nothing is sent") {
    core::NicPlan plan = small_packets(core::LossRecovery::go_back_n);
    QueuePair flow(plan, {{0}, {0}, {1}, 3, {1'000'000}});
    flow.post(1, {2000});
    Picoseconds now;
    flow.send(now);
    for (int round = 0; round < 40; ++round) {
        now = std::max(now, flow.timeout_at());
        flow.on_timeout(now);
        CHECK(flow.next_send() <= now + Picoseconds::of(core::Duration::seconds(10)));
    }
}

TEST_CASE("A receiver that waits for late packets asks for one only when others are too far ahead") {
    const auto recovery = GENERATE(core::LossRecovery::go_back_n, core::LossRecovery::selective);
    const bool selective = recovery == core::LossRecovery::selective;
    core::NicPlan plan = small_packets(recovery);
    plan.reorder = {4000};
    plan.packets_per_ack = 4;
    Pair pair(plan);
    pair.flow.post(5, {10'000});
    REQUIRE(pair.send(8).size() == 8);
    // Numbers 1 to 3 overtake number 0.
    for (const std::uint32_t sequence : {2U, 1U, 3U}) {
        const Flow::Replies replies = pair.deliver(sequence);
        CHECK(replies.kept);
        CHECK_FALSE(replies.negative);
        CHECK(replies.acknowledge == selective);
    }
    // With it all four are acknowledged.
    CHECK(pair.deliver(0).acknowledge);
    CHECK(pair.flow.expected() == 4);
    pair.reply(Packet::Kind::ack, 4, 0);
    CHECK(pair.flow.packets_sent_again() == 0);
    // Number 4 is lost; number 8 is too far ahead for it to come yet.
    for (const std::uint32_t sequence : {5U, 6U, 7U}) {
        CHECK_FALSE(pair.deliver(sequence).negative);
        if (selective) {
            pair.reply(Packet::Kind::ack, 4, sequence);
        }
    }
    CHECK(pair.send(1) == Numbers{8});
    const Flow::Replies beyond = pair.deliver(8);
    CHECK(beyond.negative);
    CHECK_FALSE(beyond.kept);
    pair.reply(Packet::Kind::nak, 4, 8);
    CHECK(pair.send(2) == (selective ? Numbers{4, 9} : Numbers{4, 5}));
    pair.deliver(4);
    CHECK(pair.flow.expected() == 9);
}

TEST_CASE("Go-back-N where packets overtake each other: one NAK for a gap, whatever comes then") {
    core::NicPlan plan = small_packets(core::LossRecovery::go_back_n);
    plan.may_be_overtaken = GENERATE(false, true);
    Pair pair(plan);
    pair.flow.post(5, {10'000});
    pair.send(10);
    pair.deliver(0);
    CHECK(pair.deliver(4).negative);
    pair.now += microsecond * 10;
    // A lower number: the sender has gone back, or this packet was overtaken.
    CHECK(pair.deliver(3).negative == !plan.may_be_overtaken);
    pair.deliver(1);
    CHECK(pair.deliver(3).negative);
}
