#include "judge/verdict.hpp"

#include <array>
#include <cmath>
#include <string_view>

#include "catch.hpp"
#include "unit/record/test_runs.hpp"

using namespace weir::judge;
using namespace weir::record;
using namespace weir::core;
using test::contains;

namespace {

struct Run {
    Plan plan = test::small_plan();
    std::vector<RankRecord> ranks = test::good_ranks(plan);
    RunFacts facts;

    RankSummary& producer(std::size_t index) { return ranks[1 + index].summary; }
    RankSummary& consumer(std::size_t index) { return ranks[3 + index].summary; }

    /// Producer `index` overflowed; where its streams' time went, in tenths of the run.
    void overflow(std::size_t index, double occupancy, std::int64_t second, int transferring, int slot,
                  int grant) {
        RankSummary& summary = producer(index);
        summary.max_occupancy = occupancy;
        summary.max_occupancy_second = 9;
        summary.first_overflow_second = second;
        summary.overflow_seconds = 10 - second;
        summary.time = {};
        summary.time.transferring = Duration::seconds(transferring);
        summary.time.waiting_for_slot = Duration::seconds(slot);
        summary.time.waiting_for_grant = Duration::seconds(grant);
        summary.time.waiting_for_data = Duration::seconds(10 - transferring - slot - grant);
        summary.load.backlogged = Duration::seconds(transferring + slot + grant);
        summary.load.sending = summary.load.all_streams = Duration::seconds(transferring);
    }
    /// All 8 slots of consumer `index` held events to process for so many tenths of the run, and received
    /// else.
    void block(std::size_t index, int tenths) {
        consumer(index).time.blocked = Duration::seconds(tenths);
        consumer(index).time.receiving = Duration::seconds(10 - tenths);
        consumer(index).time.waiting_for_data = Duration{};
        consumer(index).time.processing = Duration::seconds(tenths);
        consumer(index).load.queued_slots = Duration::seconds(8 * tenths);
        consumer(index).load.receiving_slots = Duration::seconds(8 * (10 - tenths));
    }
    /// For the rest of the run, slots of consumers were free and the scheduler had not read of `unread` of
    /// them.
    void free_slots(int unread) {
        for (std::size_t i = 0; i < 3; ++i) {
            consumer(i).load.free_slots =
                Duration::seconds(80) - consumer(i).load.queued_slots - consumer(i).load.receiving_slots;
            ranks[0].summary.load.free_slots += consumer(i).load.free_slots;
        }
        ranks[0].summary.load.free_slots -= Duration::seconds(unread);
    }
    /// What is left at the ends of its intervals grows by so much each time.
    void grow(std::size_t index, std::int64_t first, std::int64_t each) {
        BacklogPoints& points = producer(index).backlog_points;
        points.known = 11;
        for (std::int64_t i = 0; i < 11; ++i) {
            points.bytes.at(static_cast<std::size_t>(i)) = {first + i * each};
        }
    }
    Verdict judged() { return judge_run(plan, ranks, facts); }
};

}  // namespace

TEST_CASE("A run in which no buffer overflowed is sustained") {
    Run run;
    const Verdict verdict = run.judged();
    CHECK(verdict.judged);
    CHECK(verdict.sustained);
    CHECK(verdict.causes.empty());
    CHECK(verdict.first_overflow_second == no_second);
    CHECK(verdict.max_occupancy == 0.51);
    CHECK(verdict.text ==
          "Sustained: for 10 seconds no producer exceeded its buffer (worst occupancy 0.51, "
          "producer 1 on eb02 in second 7).");
}

TEST_CASE("Datagrams from elsewhere are named where they are not few") {
    Run run;
    run.consumer(0).run.datagrams.received = 10000;
    run.consumer(1).run.datagrams.strays = 99;
    CHECK(judge_run(run.plan, run.ranks, run.facts).advice.empty());
    run.consumer(1).run.datagrams.strays = 82000;
    const Verdict verdict = judge_run(run.plan, run.ranks, run.facts);
    CHECK(contains(verdict.text, " 82000 datagrams came into the run's sockets from elsewhere."));
    CHECK(contains(verdict.advice, "--datagram-network"));
    CHECK(verdict.sustained);
}

TEST_CASE("A run whose backlog grows is not sustained, however large its buffer") {
    Run run;
    run.plan.event_size = {.kind = DistributionKind::fixed, .mean = 1'000'000};
    run.plan.buffer = {10'000'000'000};
    run.grow(0, 0, 0);
    run.grow(1, 500'000'000, 100'000'000);
    Verdict verdict = run.judged();
    CHECK(verdict.judged);
    CHECK_FALSE(verdict.sustained);
    CHECK(verdict.growing_producers == std::vector<std::uint32_t>{1});
    // 1.5 GB at second 10, and the next set is 1 GB.
    CHECK(verdict.buffer_full_after_s == Approx(85.0));
    CHECK(verdict.growth_bytes_per_second == Approx(1e8));
    CHECK(verdict.growth_tolerance_bytes_per_second == Approx(2e6 * std::sqrt(2.0) / 10));
    CHECK(contains(verdict.text,
                   "NOT sustained: the buffer of producer 1 on eb02 fills by 100.0 MB per second and is full "
                   "after 85.0 s. Main cause: "));
    run.grow(0, 0, 30'000'000);
    verdict = run.judged();
    CHECK(verdict.growing_producers == std::vector<std::uint32_t>{1, 0});
    CHECK(
        contains(verdict.text,
                 "NOT sustained: the buffers of 2 producers fill; the fastest, of producer 1 on eb02, fills "
                 "by 100.0 MB per second and is full after 85.0 s."));
    SECTION("what a run that ended early did not show is not judged") {
        run.facts.complete = false;
        CHECK_FALSE(run.judged().judged);
        CHECK_FALSE(run.judged().buffer_full_after_s);
    }
    SECTION("what goes down, or up by less than the grain, is sustained") {
        run.grow(0, 500'000'000, -1'000'000);
        run.grow(1, 0, 200'000);
        CHECK(run.judged().sustained);
        CHECK(run.judged().growing_producers.empty());
    }
    SECTION("a growth that shows in all together only") {
        run.grow(0, 0, 180'000);
        run.grow(1, 0, 190'000);
        verdict = run.judged();
        CHECK_FALSE(verdict.sustained);
        CHECK(verdict.growing_producers.empty());
        CHECK(contains(verdict.text,
                       "NOT sustained: the buffers of all producers together fill by 370.0 kB per second and "
                       "are full after "));
    }
}

TEST_CASE("The verdict has how long a run was, and what it was too short to show") {
    Run run;
    run.plan.duration = Duration::milliseconds(200);
    run.plan.interval = Duration::milliseconds(100);
    CHECK(contains(run.judged().text, "Sustained: for 200 ms no producer exceeded its buffer"));
    run.plan.generation = Generation::steady;
    run.plan.event_size = {.kind = DistributionKind::fixed, .mean = 100'000'000};
    CHECK(contains(run.judged().text, " The run is too short to show whether the backlog grows."));
    run.plan.duration = Duration::seconds(10);
    const auto with_points = [&](std::uint32_t points) {
        run.producer(0).backlog_points.known = run.producer(1).backlog_points.known = points;
        return run.judged().text;
    };
    run.plan.event_size.mean = 400'000'000;
    run.plan.slot_size = {400'000'000};
    CHECK(contains(with_points(12),
                   " A backlog that grows by less than 4.2 % of the rate would not show in 10 seconds."));
    run.plan.event_size.mean = 1'000'000;
    CHECK_FALSE(contains(with_points(32), "grows"));
    run.facts.complete = false;
    run.plan.duration = Duration::milliseconds(1500);
    CHECK(contains(run.judged().text, "Not judged: the run ended after 10 of 1.50 s;"));
}

TEST_CASE("Events that came when as many waited as can are not said to be left over") {
    Run run;
    run.producer(0).run.generated.events = 5'000'000;
    run.producer(0).measured.lost = {800'000, {800'000}};
    run.producer(0).ledger.lost = {.events = 800'000, .bytes = {800'000}, .hash = 0};
    CHECK(contains(run.judged().text, ", or came when 4194304 events waited already, which is the most"));
}

TEST_CASE("Blocked consumers are the cause when they left no slot") {
    Run run;
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
    CHECK(
        verdict.text ==
        "NOT sustained: producers 1 and 0 exceeded their buffers from second 4 on (worst occupancy "
        "1.43, producer 1 on eb02 in second 9). Main cause: processing on consumers. Slots that held events "
        "for processing cost 64 % of the time in which producers had data to send; consumers worked on "
        "events "
        "for 80 % of theirs and were blocked for 80 %.");
    CHECK(contains(verdict.advice, "more slots (--slots)"));
}

TEST_CASE("Where blocked consumers leave others slots but not the bandwidth, their links are the cause") {
    Run run;  // paper 1, row 5: two of fourteen permanently blocked, the others at line rate
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
                   "Main cause: links of consumers. Consumers moved 5.280 Gb/s each while data waited, "));
    CHECK(contains(verdict.text, "8.000 Gb/s are needed of each producer."));
}

TEST_CASE("The network is the cause when transfers were under way all the time") {
    Run run;
    run.overflow(0, 2.0, 1, 10, 0, 0);
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).measured.received.bytes = {5'000'000'000};
    }
    Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "not-told");
    CHECK(contains(
        verdict.text,
        "Main cause: not told. Links of consumers and of producers look equally full: 4.000 Gb/s and "
        "8.000 Gb/s each while data waited, and 8.000 Gb/s are needed of each producer."));
    CHECK_FALSE(contains(verdict.text, "Note that"));
    // A rank that does not run makes a network look slow.
    run.consumer(2).poll_gap_max_with_drain = Duration::milliseconds(300);
    verdict = run.judged();
    CHECK(contains(verdict.text, "Note that consumer 2 on eb12 did not run for up to 300 ms"));
    // The links of both roles were seen to carry more: slots that are full of data still arriving are too
    // few.
    run.overflow(0, 2.0, 1, 6, 4, 0);
    for (std::size_t i = 0; i < 3; ++i) {
        run.consumer(i).time.receiving = Duration::seconds(5);
    }
    verdict = run.judged();
    CHECK(cause_name(verdict) == "slots");
    CHECK(contains(verdict.text, "Producers waited for a free slot for 40 % of the time"));
}

TEST_CASE("The scheduler is the cause when slots and streams waited for grants") {
    Run run;
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
    CHECK(contains(verdict.text, "and the scheduler handled messages for only 1.0 % of it."));
    // Credits that consumers have given and the scheduler has not read are the same, and no lack of slots.
    run.overflow(0, 1.2, 3, 4, 6, 0);
    run.free_slots(200);
    CHECK(cause_name(run.judged()) == "control-latency");
}

TEST_CASE("A producer that did not run or generate in time is its own cause") {
    Run run;
    run.overflow(1, 1.2, 3, 10, 0, 0);
    run.producer(1).stalled_with_drain = Duration::seconds(3);
    run.producer(1).poll_gap_max_with_drain = Duration::milliseconds(800);
    run.producer(1).poll_gap_second_with_drain = 7;
    Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "stalled-rank");
    CHECK(contains(
        verdict.text,
        "Main cause: producer 1 on eb02, which stood still. It did not run for 30 % of the time, for up "
        "to 800 ms at once, until second 7."));
    // One that is on time, as another is not, is no cause.
    run.producer(1).first_overflow_second = no_second;
    run.producer(1).max_occupancy = 0.5;
    run.overflow(0, 1.2, 3, 10, 0, 0);
    CHECK(cause_name(run.judged()) == "not-told");
    run.overflow(1, 1.2, 3, 10, 0, 0);
    run.producer(1).stalled_with_drain = {};
    run.producer(1).measured.generated.bytes = {9'000'000'000};
    verdict = run.judged();
    CHECK(cause_name(verdict) == "late-producer");
    CHECK(
        contains(verdict.text,
                 "Main cause: producer 1 on eb02, which was late. It generated only 90 % of what was due."));
}

TEST_CASE("What is recorded after the end of a short run is no time in which producers had to generate") {
    Run run;
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

TEST_CASE("The closing check alone can fail a run") {
    Run run;
    run.overflow(0, 1.0, 3, 10, 0, 0);
    run.producer(0).first_overflow_second = no_second;
    run.producer(0).overflowed_at_close = true;
    const Verdict verdict = run.judged();
    CHECK(verdict.judged);
    CHECK_FALSE(verdict.sustained);
    CHECK(verdict.first_overflow_second == no_second);
    CHECK(verdict.overflowing_producers == std::vector<std::uint32_t>{0});
    CHECK(contains(verdict.text,
                   "NOT sustained: producer 0 had no room for another set one interval after the last one"));
}

TEST_CASE("Dropped events are named as lost") {
    Run run;
    run.plan.overflow = Overflow::drop;
    run.overflow(0, 1.0, 3, 10, 0, 0);
    run.producer(0).measured.lost = {12, {12}};
    run.producer(0).ledger.lost = {.events = 15, .bytes = {15}, .hash = 0};
    const std::string text = run.judged().text;
    CHECK(contains(text, "NOT sustained: producer 0 dropped events at its full buffer from second 3 on"));
    CHECK(contains(text, "15 of "));  // one number, of the whole run
}

TEST_CASE("A run that lost an event is neither sustained nor on time, wherever it was lost") {
    Run run;
    run.producer(0).ledger.generated.events = 100;
    SECTION("left over with its producer") {
        run.producer(0).ledger.lost = {.events = 41, .bytes = {41}, .hash = 0};
        run.producer(0).sets_in_time = {
            .sets = 10, .late = 1, .first_late_second = 12, .least_slack = Duration{}};
        const Verdict verdict = run.judged();
        CHECK(verdict.judged);
        CHECK_FALSE(verdict.sustained);
        CHECK(verdict.on_time == false);
        CHECK(verdict.lost_events == 41);
        CHECK(cause_name(verdict) == "not-told");
        CHECK(contains(verdict.text, "NOT sustained: 41 of "));
        CHECK(contains(verdict.text, "were lost: they were not sent before the drain time was over"));
        CHECK(contains(verdict.text, "1 of 10 sets was late"));
        CHECK_FALSE(contains(verdict.text, "at worst"));  // it was never gone
    }
    SECTION("on the way") {
        run.plan.transport = TransportKind::datagram;
        run.consumer(1).ledger.incomplete = {.events = 92, .bytes = {92}, .hash = 0};
        const Verdict verdict = run.judged();
        CHECK(verdict.judged);
        CHECK_FALSE(verdict.sustained);
        CHECK(verdict.on_time == false);
        CHECK(verdict.lost_events == 92);
        CHECK(cause_name(verdict) == "switch-loss");
        CHECK(contains(verdict.text, "they were sent and did not arrive whole"));
        CHECK(contains(verdict.text, "Main cause: packets that the switch dropped"));
    }
    SECTION("although nothing is judged with generation saturate") {
        run.plan.generation = Generation::saturate;
        run.plan.transport = TransportKind::datagram;
        run.consumer(1).ledger.incomplete = {.events = 92, .bytes = {92}, .hash = 0};
        const Verdict verdict = run.judged();
        CHECK_FALSE(verdict.judged);
        CHECK(verdict.lost_events == 92);
        CHECK(contains(verdict.text, "were lost: they were sent and did not arrive whole."));
    }
    SECTION("unless the run was broken off: then what was under way is not lost") {
        run.facts.complete = false;
        run.plan.transport = TransportKind::datagram;
        run.consumer(1).ledger.incomplete = {.events = 92, .bytes = {92}, .hash = 0};
        const Verdict verdict = run.judged();
        CHECK_FALSE(verdict.judged);
        CHECK_FALSE(verdict.on_time.has_value());
    }
}

TEST_CASE("Late sets are reported beside a buffer that had room for them") {
    Run run;
    for (std::size_t i = 0; i < 2; ++i) {
        run.producer(i).sets_in_time = {.sets = 10,
                                        .late = 0,
                                        .first_late_second = no_second,
                                        .least_slack = Duration::milliseconds(490)};
    }
    Verdict verdict = run.judged();
    CHECK(verdict.on_time == true);
    CHECK(verdict.sets == 20);
    CHECK(verdict.late_sets == 0);
    CHECK(verdict.least_slack == Duration::milliseconds(490));
    CHECK(contains(
        verdict.text,
        "Sustained: for 10 seconds every set was gone before the next one was generated. Least slack: 490 ms "
        "of 1.00 s, producer 0 on eb01. No producer exceeded its buffer."));

    run.producer(1).sets_in_time = {
        .sets = 10, .late = 8, .first_late_second = 3, .least_slack = Duration::milliseconds(-310)};
    run.producer(1).time.transferring = Duration::seconds(10);
    verdict = run.judged();
    CHECK(verdict.sustained);
    CHECK(verdict.on_time == false);
    CHECK(verdict.sets == 20);
    CHECK(verdict.late_sets == 8);
    CHECK(verdict.first_late_second == 3);
    CHECK(verdict.late_producers == std::vector<std::uint32_t>{1});
    CHECK(cause_name(verdict) == "not-told");
    CHECK(
        contains(verdict.text, "Sustained, but not on time: for 10 seconds no producer exceeded its buffer"));
    CHECK(contains(
        verdict.text,
        "8 of 20 sets were late: some data was left when the next set was generated (producer 1, first in "
        "second 3; at worst 310 ms late). Main cause: not told."));

    run.facts.complete = false;  // a missed deadline stays one
    verdict = run.judged();
    CHECK_FALSE(verdict.judged);
    CHECK(verdict.on_time == false);
}

TEST_CASE("Lost datagrams that held streams are the cause, and not the scheduler that waited for them") {
    Run run;
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
        "up, 50.0 ms after it was sent."));
    run.consumer(1).run.datagrams.socket_drops = 30;
    verdict = run.judged();
    CHECK(cause_name(verdict) == "host-loss");
    CHECK(contains(verdict.text, "30 datagrams were dropped at full sockets of consumers."));
}

TEST_CASE("A buffer that holds no set is the cause of what it drops") {
    Run run;
    run.plan.overflow = Overflow::drop;
    run.plan.buffer = {500'000'000};
    run.overflow(0, 1.0, 0, 10, 0, 0);
    run.producer(0).measured.lost = {12, {12}};
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "buffer");
    CHECK(contains(verdict.text, "Main cause: the buffer. A set is 1.000 GB and the buffer 500.0 MB"));
}

TEST_CASE("What cannot be judged is not judged") {
    Run run;
    SECTION("saturate") {
        run.plan.generation = Generation::saturate;
        const Verdict verdict = run.judged();
        CHECK_FALSE(verdict.judged);
        CHECK(std::isnan(verdict.max_occupancy));
        CHECK(contains(verdict.text,
                       "Not judged: with generation saturate there is always data to send. Producers "
                       "sent 8.000 Gb/s each on average."));
    }
    SECTION("ended early") {
        run.facts.complete = false;
        run.producer(0).whole_seconds = 4;
        Verdict verdict = run.judged();
        CHECK_FALSE(verdict.judged);
        CHECK(contains(verdict.text,
                       "Not judged: the run ended after 4 of 10 seconds; until then no producer "
                       "exceeded its buffer (worst occupancy 0.51"));
        run.overflow(0, 1.2, 3, 10, 0, 0);
        verdict = run.judged();
        CHECK(verdict.judged);  // an overflow stays one
        CHECK_FALSE(verdict.sustained);
    }
    SECTION("ended before it began") {
        run.facts.complete = false;
        run.ranks.clear();
        CHECK(contains(run.judged().text, "before its first measured second"));
    }
}

TEST_CASE("Corrupt data is reported in the verdict") {
    Run run;
    run.consumer(0).ledger.corrupt.events = 2;
    run.consumer(1).ledger.duplicate.events = 1;
    run.facts.ledger_differences = {"something"};
    Verdict verdict = run.judged();
    CHECK(verdict.judged);
    CHECK_FALSE(verdict.sustained);
    CHECK(verdict.on_time == false);
    CHECK(cause_name(verdict) == "integrity");
    CHECK(verdict.text ==
          "NOT sustained: the data was not delivered as it was sent: 2 events arrived corrupt, 1 event "
          "arrived twice, the integrity check failed.");
    run.overflow(0, 1.2, 3, 4, 1, 5);
    verdict = run.judged();
    CHECK(cause_name(verdict) == "control-latency");
    CHECK(contains(verdict.text, "2 events arrived corrupt"));
}

TEST_CASE("Causes have stable names") {
    CHECK(cause_name(Verdict{}) == "none");
    Verdict verdict;
    verdict.causes.resize(2);
    const std::array<std::string_view, 23> names{"consumer-links",
                                                 "producer-links",
                                                 "switch-loss",
                                                 "pfc",
                                                 "ecn",
                                                 "slots",
                                                 "processing",
                                                 "streams",
                                                 "window",
                                                 "scheduler",
                                                 "control-latency",
                                                 "shaping",
                                                 "outstanding",
                                                 "requests",
                                                 "high-water",
                                                 "late-producer",
                                                 "stalled-rank",
                                                 "host-loss",
                                                 "lost-consumers",
                                                 "buffer",
                                                 "event-size",
                                                 "integrity",
                                                 "not-told"};
    for (std::size_t kind = 0; kind < names.size(); ++kind) {
        verdict.causes[0].what = static_cast<CauseKind>(kind);
        CHECK(cause_name(verdict) == names.at(kind));
    }
}

TEST_CASE("What was found by simulating again counts instead of what rows show") {
    Run run;
    run.overflow(0, 1.2, 3, 4, 1, 5);
    REQUIRE(cause_name(run.judged()) == "control-latency");
    const std::vector<NamedCause> proved{
        {.what = CauseKind::slots,
         .share = 1,
         .evidence = CauseEvidence::counterfactual,
         .text = "with 2 slots instead of 1, every set would have been on time.",
         .remedy = "--slots 2"},
        {.what = CauseKind::processing,
         .share = 1,
         .evidence = CauseEvidence::counterfactual,
         .text = "with a mean of 1.00 ms instead of 2.00 ms, every set would have been on time.",
         .remedy = "shorter processing"}};
    run.facts.proved = &proved;
    const Verdict verdict = run.judged();
    CHECK(cause_name(verdict) == "slots");
    CHECK(verdict.causes.size() == 2);
    CHECK(contains(
        verdict.text,
        "Main cause: too few slots. With 2 slots instead of 1, every set would have been on time. Or "
        "processing on consumers: with a mean of 1.00 ms instead of 2.00 ms, every"));
    CHECK(verdict.advice == "--slots 2; or shorter processing");
    CHECK_FALSE(contains(verdict.text, "grant"));
}
