// What the verdict names as the cause, of runs whose time went to one thing.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "judge/hold_up.hpp"
#include "judge/verdict.hpp"
#include "judged_run.hpp"
#include "record/pairs.hpp"

using namespace weir::judge;
using namespace weir::record;
using namespace weir::core;
using test::contains;

TEST_CASE("Blocked consumers are the cause when they left no slot") {
    JudgedRun run;
    run.overflow(0, 1.1, 6, 2, 8, 0);
    run.overflow(1, 1.43, 4, 2, 8, 0);
    run.block(0, 9);
    run.block(1, 8);
    run.block(2, 7);
    run.facts.blocked_at_once = {2, 5};
    const Verdict verdict = run.judged();
    CHECK(verdict.judged);
    CHECK_FALSE(verdict.sustained);
    CHECK(cause_name(verdict) == "processing");
    CHECK(verdict.first_overflow_second == 4);
    CHECK(verdict.overflowing_producers == std::vector<std::uint32_t>{1, 0});
    CHECK(verdict.text ==
          "NOT sustained: producers 1 and 0 exceeded their buffers from second 4 on (worst occupancy "
          "1.43, producer 1 on eb02 in second 9). Main cause: processing on consumers. Consumers processed "
          "for 80 % "
          "of the run, and their full slots cost 64 % of the time in which producers had data to send.");
    CHECK(contains(verdict.advice, "more slots (--slots)"));
}

TEST_CASE("Where one consumer alone is busy, it is named, and the policy that waits for it") {
    JudgedRun run;
    run.overflow(0, 1.1, 6, 2, 8, 0);
    for (std::uint32_t i = 0; i < 3; ++i) {
        run.block(i, 8);
    }
    run.consumer(1).time.processing = Duration::seconds(10);
    run.plan.busy_consumers = {1};
    run.plan.policy = PolicyKind::round_robin;
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "processing");
    CHECK(verdict.causes.front().where == NodeId{Role::consumer, 1});
    CHECK(contains(verdict.text, "It processed for 100 % of the run, and its full slots cost "));
    CHECK(contains(verdict.advice, "--policy balanced"));
}

TEST_CASE("Where blocked consumers leave others slots but not the bandwidth, their links are the cause") {
    JudgedRun run;  // paper 1, row 5: two of fourteen permanently blocked, the others at line rate
    run.overflow(0, 1.05, 8, 10, 0, 0);
    run.block(0, 10);
    run.facts.blocked_at_once = {1, 2};
    run.consumer(0).measured.received.bytes = {0};
    run.consumer(1).measured.received.bytes = {9'900'000'000};
    run.consumer(2).measured.received.bytes = {9'900'000'000};
    run.facts.interface_rates.assign(6, BitRate{8'100'000'000});
    run.facts.interface_rates[1] = run.facts.interface_rates[2] = {20'000'000'000};
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "consumer-links");
    CHECK(contains(verdict.text, "NOT sustained: producer 0 exceeded its buffer from second 8 on"));
    CHECK(contains(verdict.text,
                   "Main cause: links of consumers. Consumers moved 5.28 Gb/s each while data waited, "));
    CHECK(contains(verdict.text, "5.33 Gb/s are needed of each consumer."));  // 2 producers, 3 consumers
}

TEST_CASE("The network is the cause when transfers were under way all the time") {
    JudgedRun run;
    run.overflow(0, 2.0, 1, 10, 0, 0);
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).measured.received.bytes = {5'000'000'000};
    }
    Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "not-told");
    CHECK(contains(verdict.text,
                   "Main cause: not told. Links of consumers and of producers look equally full: 4 Gb/s and "
                   "8 Gb/s each while data waited, and 8 Gb/s are needed of each producer."));
    CHECK_FALSE(contains(verdict.text, "Note that"));
    // A rank that does not run makes a network look slow.
    run.consumer(2).poll_gap_max_with_drain = Duration::milliseconds(300);
    verdict = run.judged();
    CHECK(contains(verdict.text, "Note that consumer 2 on eb12 did not run for up to 300 ms"));
}

namespace {

/// Producers transferred all the time, 4 chunks of an event one by one; a message was on its way for `way`,
/// and heartbeats were, too.
JudgedRun travelling_run(std::int64_t way_ms) {
    JudgedRun run;
    run.plan.window = 1;
    run.overflow(0, 1.2, 1, 10, 0, 0);
    run.producer(0).load.transfers = Duration::seconds(10);
    run.producer(0).measured.sent = {.events = 1100, .bytes = {4'400'000'000}};
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).measured.received.events = 1000;
    }
    run.free_slots(static_cast<int>(6 * way_ms));
    for (RankRecord& rank : run.ranks) {
        rank.summary.load.heartbeats.to_leader.add(Duration::milliseconds(2 * way_ms));
        rank.summary.load.heartbeats.from_leader.add(Duration::milliseconds(2 * way_ms));
    }
    return run;
}

}  // namespace

TEST_CASE("Transfers that are mostly on the way are held up by the window or by latency, not by links") {
    JudgedRun run = travelling_run(1);
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "window");
    CHECK(
        contains(verdict.text,
                 "A transfer took 9.09 ms, of which 88 % were 4 ways there and back, 1 ms in each direction, "
                 "because 1 chunk may be under way at a time."));
    CHECK(contains(verdict.advice, "--window"));
    // Only heartbeats show that messages do not wait for who reads them, or behind the data.
    for (RankRecord& rank : run.ranks) {
        rank.summary.load.heartbeats = {};
    }
    CHECK(cause_name(run.judged()) != "window");

    run = travelling_run(3);
    run.plan.window = 4;  // then all is under way at once
    CHECK(cause_name(run.judged()) == "control-latency");
    CHECK(contains(run.judged().text, "of which 66 % were on the way: 3 ms in each direction."));
}

TEST_CASE("Where links are used in turn, their advice is to use more of them at once") {
    JudgedRun run;
    run.overflow(0, 2.0, 1, 10, 0, 0);
    for (RankRecord& rank : run.ranks) {
        const bool consumer = rank.summary.node.role == Role::consumer;
        rank.summary.load.heartbeats.to_leader.add(Duration::microseconds(300));
        rank.summary.load.heartbeats.from_leader.add(consumer ? Duration::milliseconds(12)
                                                              : Duration::microseconds(300));
    }
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).measured.received.bytes = {1'000'000'000};
        run.consumer(i).peak_10ms = {8'000'000'000};
    }
    Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "consumer-links");
    CHECK(verdict.advice == "Lower --rate, or use more consumers or faster links");
    CHECK(contains(verdict.text, "Consumers moved 800 Mb/s each while data waited; 5.33 Gb/s are needed"));
    run.plan.streams = 1;
    verdict = run.judged();
    CHECK(cause_name(verdict) == "consumer-links");
    CHECK(verdict.advice ==
          "Links are used in turn, so give producers more streams (--streams); or lower --rate, or "
          "use more consumers or faster links");
    run.plan.streams = 4;
    run.plan.consumers = 3;
    run.plan.slots = 1;
    CHECK_FALSE(contains(run.judged().advice, "in turn"));
}

TEST_CASE("Interfaces that are slower than the rate are named, unless data do not go through them") {
    JudgedRun run;
    run.overflow(0, 2.0, 1, 10, 0, 0);
    run.facts.interface_rates.assign(6, BitRate{});
    run.facts.interface_rates[1] = run.facts.interface_rates[2] = {7'900'000'000};
    run.producer(0).measured.sent.bytes = {8'500'000'000};
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "producer-links");
    CHECK(contains(verdict.text, "Interfaces of producers have 7.9 Gb/s, and 8 Gb/s are needed of each."));
    for (RankRecord& rank : run.ranks) {
        rank.host = "eb01";  // through memory
    }
    CHECK_FALSE(contains(run.judged().text, "Interfaces of"));
}

TEST_CASE("Marks and pauses show that data wait behind the links of producers") {
    JudgedRun run;
    run.overflow(0, 2.0, 1, 10, 0, 0);
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).measured.received.bytes = {5'000'000'000};
    }
    NetworkVerdict network;
    network.mechanisms = {NetworkMechanism::controlled_by_ecn};
    network.marked_share = 0.05;
    run.facts.network = &network;
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "consumer-links");
    CHECK(contains(verdict.text,
                   "Marks show that data wait in a switch and not before links of producers: before those of "
                   "consumers or, if there are several switches"));
    network.marked_share = 0.005;
    CHECK(cause_name(run.judged()) == "not-told");
    network.mechanisms = {NetworkMechanism::held_back_by_pfc};
    CHECK(cause_name(run.judged()) == "consumer-links");
}

TEST_CASE("Beside one slow link neither losses nor senders to it are named") {
    JudgedRun run;
    run.overflow(0, 2.0, 1, 10, 0, 0);
    NetworkVerdict network;
    network.mechanisms = {NetworkMechanism::lossy};
    network.counted = "59 tcp.retransmitted_segments (most on eb01: 34)";
    network.worst_host = "eb01";
    run.facts.network = &network;
    // Consumer 1 is slow all the time; producer 0 happens to send to it, and is the only late one.
    run.producer(0).measured.sent.bytes = {3'000'000'000};
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).measured.received.bytes = {9'000'000'000};
        run.consumer(i).time.receiving = Duration::seconds(9);
    }
    run.consumer(1).measured.received.bytes = {500'000'000};
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "consumer-links");
    CHECK(verdict.causes.front().where == NodeId{Role::consumer, 1});
    CHECK(verdict.causes.size() == 1);
    CHECK_FALSE(contains(verdict.text, "lost"));
}

TEST_CASE("A link moves no more on average than while it moves something") {
    JudgedRun run;
    run.overflow(0, 2.0, 1, 10, 0, 0);
    run.producer(0).load.backlogged = Duration::seconds(5);
    const HoldUp held = sum_up_hold_up(run.plan, run.ranks, {});
    CHECK(held.producers.mean_bits == Approx(8'000'000'000.0));
}

TEST_CASE("The scheduler is the cause when slots and streams waited for grants") {
    JudgedRun run;
    run.overflow(0, 1.2, 3, 4, 1, 5);
    run.ranks[0].summary.load.handling = Duration::seconds(7);
    Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "scheduler");
    CHECK(contains(
        verdict.text,
        "Main cause: the scheduler. Messages on their way, or not read yet, cost 50 % of the time in "
        "which producers had data to send; the scheduler handled messages for 70 % of it."));
    run.ranks[0].summary.load.handling = Duration::seconds(9);
    CHECK(contains(run.judged().text, "It handled messages for 90 % of the time"));
    run.ranks[0].summary.load.handling = Duration::milliseconds(100);
    verdict = run.judged();
    CHECK(cause_name(verdict) == "control-latency");
    CHECK(contains(verdict.text, "and the scheduler needed 1 % of it for messages."));
    // Credits that consumers have given and the scheduler has not read are the same, and no lack of slots.
    run.overflow(0, 1.2, 3, 4, 6, 0);
    run.free_slots(200);
    CHECK(cause_name(run.judged()) == "control-latency");
}

TEST_CASE("A producer that did not run or generate in time is its own cause") {
    JudgedRun run;
    run.overflow(1, 1.2, 3, 10, 0, 0);
    run.producer(1).stalled_with_drain = Duration::seconds(3);
    run.producer(1).poll_gap_max_with_drain = Duration::milliseconds(800);
    run.producer(1).poll_gap_second_with_drain = 7;
    Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "stalled-rank");
    CHECK(contains(
        verdict.text,
        "Main cause: producer 1 on eb02, which stood still. It did not run for 30 % of the time, for up "
        "to 800 ms at once, which ended in second 7."));
    // One that is on time, as another is not, is no cause.
    run.producer(1).first_overflow_second = no_second;
    run.producer(1).max_occupancy = 0.5;
    run.overflow(0, 1.2, 3, 10, 0, 0);
    CHECK(cause_name(run.judged()) == "not-told");
    run.overflow(1, 1.2, 3, 10, 0, 0);
    run.producer(1).stalled_with_drain = {};
    run.producer(1).measured.generated.bytes = {9'000'000'000};
    verdict = run.judged();
    CHECK(cause_name(verdict) == "stalled-rank");
    CHECK(contains(
        verdict.text,
        "Main cause: producer 1 on eb02, which stood still. It did not run often enough: it generated "
        "only 90 % of what was due."));
}

TEST_CASE("A network that was away is the cause, and not ranks that stood still for less") {
    JudgedRun run;
    run.overflow(1, 1.2, 3, 10, 0, 0);
    run.producer(1).sets_in_time = {};
    run.producer(1).sets_in_time.sets = 10;
    run.producer(1).sets_in_time.late = 2;
    run.producer(1).sets_in_time.least_slack = Duration::milliseconds(-1200);
    // Naps of a busy host.
    run.producer(1).stalled_with_drain = Duration::seconds(3);
    run.producer(1).poll_gap_max_with_drain = Duration::milliseconds(800);
    run.producer(1).poll_gap_second_with_drain = 4;
    run.consumer(1).silence_with_drain = Duration::milliseconds(1500);
    run.consumer(1).silence_end = Instant{4'700'000'000};
    NetworkVerdict network;
    network.mechanisms = {NetworkMechanism::lossy};
    network.tcp = {{"eb01", 100'000, 80, 3}, {"ctl01", 1000, 5, 1}};
    run.facts.network = &network;
    Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "network-failure");
    CHECK(contains(
        verdict.text,
        "Main cause: a failure of the network at consumer 1 on eb11. Nothing came to it from 3.2 s to "
        "4.7 s, though data was under way and ranks ran; 4 TCP time-outs."));
    CHECK_FALSE(contains(verdict.advice, "faster links"));
    CHECK_FALSE(contains(verdict.advice, "core of its own"));
    // The same silence without time-outs: who was to send did not run.
    std::vector<TcpLosses> counted;
    std::swap(counted, network.tcp);
    CHECK(cause_name(run.judged()) == "stalled-rank");
    // Time-outs, and a rank that stood still for all of the silence.
    std::swap(counted, network.tcp);
    for (const int gap_ms : {1600, 1490, 1010}) {
        run.producer(1).poll_gap_max_with_drain = Duration::milliseconds(gap_ms);
        CHECK(cause_name(run.judged()) == "stalled-rank");
    }
    // A silence after the first lateness is none of its causes.
    run.producer(1).poll_gap_max_with_drain = Duration::milliseconds(800);
    run.producer(1).sets_in_time.late = 9;
    CHECK(cause_name(run.judged()) != "network-failure");
    // What is not late has no cause.
    run.producer(1).sets_in_time = {};
    run.producer(1).sets_in_time.sets = 10;
    run.overflow(1, 0.5, no_second, 10, 0, 0);
    CHECK(cause_name(run.judged()) == "none");
}

TEST_CASE(
    "Where packets of one rank are lost again and again, that is the cause, and not how long it takes") {
    JudgedRun run;
    run.overflow(1, 1.2, 3, 10, 0, 0);
    NetworkVerdict network;
    network.mechanisms = {NetworkMechanism::lossy};
    network.tcp = {
        {"eb01", 42'000'000, 280'000, 0}, {"eb02", 11'000'000, 956'000, 49}, {"ctl01", 1'000'000, 1, 1}};
    run.facts.network = &network;
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "network-failure");
    CHECK(contains(
        verdict.text,
        "Main cause: a failure of the network at producer 1 on eb02. Packets from it were lost on the "
        "way: 50 TCP time-outs, and 2.3 % of the segments were sent again."));
    CHECK(contains(verdict.advice, "MTU"));
    // A full link loses packets too, and TCP does not wait for them.
    network.tcp[1].timeouts = 3;
    CHECK(cause_name(run.judged()) != "network-failure");
    // Data that went by RDMA are in no connection: other services' time-outs say nothing of them.
    network.tcp = {{"eb01", 420, 3, 0}, {"eb02", 110, 50, 49}};
    CHECK(cause_name(run.judged()) != "network-failure");
    // All hosts lose some, and no consumer stands out.
    network.tcp = {{"eb01", 42'000'000, 280'000, 30}, {"eb02", 11'000'000, 956'000, 30}};
    CHECK(cause_name(run.judged()) != "network-failure");
}

TEST_CASE("Nothing came to any rank but the scheduler: its way was away") {
    JudgedRun run;
    run.overflow(1, 1.2, 3, 10, 0, 0);
    run.producer(1).sets_in_time = {};
    run.producer(1).sets_in_time.sets = 10;
    run.producer(1).sets_in_time.late = 2;
    run.producer(1).sets_in_time.least_slack = Duration::milliseconds(-1200);
    for (auto& rank : run.ranks) {
        if (rank.summary.node.role != weir::core::Role::scheduler) {
            rank.summary.silence_with_drain = Duration::milliseconds(1500);
            rank.summary.silence_end = Instant{4'700'000'000};
        }
    }
    NetworkVerdict network;
    network.mechanisms = {NetworkMechanism::lossy};
    network.tcp = {{"eb01", 42'000, 280, 4}};
    run.facts.network = &network;
    CHECK(contains(run.judged().text,
                   "a failure of the network at the scheduler on eb00. Nothing came from it or to it"));
}

TEST_CASE("What is recorded after the end of a short run is no time in which producers had to generate") {
    JudgedRun run;
    run.overflow(0, 2.0, 1, 10, 0, 0);
    run.plan.duration = Duration::seconds(4);
    for (std::size_t i = 0; i < 2; ++i) {
        run.producer(i).measured.generated.bytes = {4'000'000'000};
    }
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).measured.received.bytes = {2'000'000'000};
    }
    CHECK(cause_name(run.judged()) == "not-told");
}

TEST_CASE("Lost datagrams that held streams are the cause, and not the scheduler that waited for them") {
    JudgedRun run;
    run.plan.transport = TransportKind::datagram;
    run.plan.fragment_timeout = Duration::milliseconds(50);
    run.overflow(0, 1.2, 3, 1, 0, 9);
    run.producer(0).run.generated.events = run.producer(1).run.generated.events = 100;
    run.consumer(1).run.lost.events = 1;
    CHECK(cause_name(run.judged()) == "control-latency");  // below one in a hundred
    run.consumer(1).run.lost.events = 20;
    Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "switch-loss");
    CHECK(contains(
        verdict.text,
        "10 % of the events did not arrive whole, and each held a stream and a slot until it was given "
        "up, 50 ms after it was sent."));
    run.consumer(1).run.datagrams.socket_drops = 30;
    verdict = run.judged();
    CHECK(cause_name(verdict) == "host-loss");
    CHECK(contains(verdict.text, "30 datagrams were dropped at full sockets of consumers."));
    CHECK(contains(verdict.advice, "--socket-buffer"));
    DatagramAccount account;
    account.missing = 50;
    account.explained.socket = 30;
    run.facts.datagrams = &account;
    CHECK(contains(run.judged().advice, "--socket-buffer"));
    account.missing = 300;
    account.explained.interface = 100;  // may be others'
    verdict = run.judged();
    CHECK(cause_name(verdict) == "switch-loss");
    CHECK(contains(verdict.text, "170 datagrams are in no host's counters."));
    account.explained.interface = 270;
    verdict = run.judged();
    CHECK(cause_name(verdict) == "host-loss");
    CHECK(contains(verdict.text, "hosts dropped 270 packets in full receive rings"));
    CHECK(contains(verdict.advice, "`ethtool -G`"));
    CHECK_FALSE(contains(verdict.advice, "--socket-buffer"));
    const NetworkPlan network;
    run.facts.simulated = &network;
    CHECK(contains(run.judged().advice, "[host] ring-packets"));
}

TEST_CASE("A buffer that holds no set is the cause of what it drops") {
    JudgedRun run;
    run.plan.overflow = Overflow::drop;
    run.plan.buffer = {500'000'000};
    run.overflow(0, 1.0, 0, 10, 0, 0);
    run.producer(0).measured.lost = {12, {12}};
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "buffer");
    CHECK(contains(verdict.text, "Main cause: the buffer. A set is 1 GB and the buffer 500 MB"));
}

TEST_CASE("Causes have stable names") {
    CHECK(cause_name(Verdict{}) == "none");
    Verdict verdict;
    verdict.causes.resize(2);
    const std::array<std::string_view, 25> names{
        "consumer-links",  "producer-links", "switch-loss",     "pfc",        "ecn",
        "uplinks",         "other-traffic",  "slots",           "processing", "streams",
        "window",          "scheduler",      "control-latency", "shaping",    "outstanding",
        "requests",        "high-water",     "stalled-rank",    "host-loss",  "lost-consumers",
        "network-failure", "buffer",         "event-size",      "integrity",  "not-told"};
    for (std::size_t kind = 0; kind < names.size(); ++kind) {
        verdict.causes[0].what = static_cast<CauseKind>(kind);
        CHECK(cause_name(verdict) == names.at(kind));
    }
}

TEST_CASE("What was found by simulating again counts instead of what rows show") {
    JudgedRun run;
    run.overflow(0, 1.2, 3, 4, 1, 5);
    REQUIRE(cause_name(run.judged()) == "control-latency");
    const std::vector<NamedCause> proved{
        {.what = CauseKind::slots,
         .share = 1,
         .evidence = CauseEvidence::proof,
         .text = "with 2 slots instead of 1, every set would have been on time.",
         .remedy = "--slots 2"},
        {.what = CauseKind::processing,
         .share = 1,
         .evidence = CauseEvidence::proof,
         .text = "with a mean of 1 ms instead of 2 ms, every set would have been on time.",
         .remedy = "shorter processing"}};
    run.facts.proved = &proved;
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "slots");
    CHECK(verdict.causes.size() == 2);
    CHECK(contains(
        verdict.text,
        "Main cause: too few slots. With 2 slots instead of 1, every set would have been on time. Or "
        "processing on consumers: with a mean of 1 ms instead of 2 ms, every"));
    CHECK(verdict.advice == "--slots 2; or shorter processing");
    CHECK_FALSE(contains(verdict.text, "grant"));
}
