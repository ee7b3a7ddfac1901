#include "judge/verdict.hpp"

#include <cmath>

#include "catch.hpp"
#include "judged_run.hpp"

using namespace weir::judge;
using namespace weir::record;
using namespace weir::core;
using test::contains;

TEST_CASE("A run in which no buffer overflowed is sustained") {
    JudgedRun run;
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
    JudgedRun run;
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
    JudgedRun run;
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
                   "NOT sustained: the buffer of producer 1 on eb02 fills by 100 MB per second and is full "
                   "after 85 s. Main cause: "));
    run.grow(0, 0, 30'000'000);
    verdict = run.judged();
    CHECK(verdict.growing_producers == std::vector<std::uint32_t>{1, 0});
    CHECK(
        contains(verdict.text,
                 "NOT sustained: the buffers of 2 producers fill; the fastest, of producer 1 on eb02, fills "
                 "by 100 MB per second and is full after 85 s."));
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
                       "NOT sustained: the buffers of all producers together fill by 370 kB per second and "
                       "are full after "));
    }
}

TEST_CASE("The verdict has how long a run was, and what it was too short to show") {
    JudgedRun run;
    run.plan.duration = Duration::milliseconds(200);
    run.plan.interval = Duration::milliseconds(100);
    CHECK(contains(run.judged().text, "Sustained: for 200 ms no producer exceeded its buffer"));
    run.plan.generation = Generation::steady;
    run.plan.event_size = {.kind = DistributionKind::fixed, .mean = 100'000'000};
    CHECK(contains(run.judged().text, ": the run is too short to show whether the backlog grows."));
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
    CHECK(contains(run.judged().text, "Not judged: the run ended after 10 of 1.5 s;"));
}

TEST_CASE("What was left of the warm-up is said to be") {
    JudgedRun run;
    run.overflow(0, 1.32, 0, 6, 2, 0);
    run.producer(0).overflow_seconds = 1;
    run.producer(0).sets_in_time = {.sets = 10, .least_slack = Duration::milliseconds(46)};
    run.producer(1).sets_in_time = {.sets = 10, .least_slack = Duration::milliseconds(400)};
    CHECK(contains(run.judged().text,
                   "(least slack 46 ms of 1 s, producer 0 on eb01), so what exceeded a buffer "
                   "was left of the warm-up"));
    run.plan.buffer = {run.plan.set_bytes().count - 1};  // then it is each set
    CHECK_FALSE(contains(run.judged().text, "warm-up"));
    run.plan.buffer = run.plan.set_bytes();
    run.producer(0).overflow_seconds = 2;
    CHECK_FALSE(contains(run.judged().text, "warm-up"));
}

TEST_CASE("When something was late is said in a unit that fits the run, and once if it was once") {
    JudgedRun run;
    run.plan.buffer = run.plan.set_bytes();
    run.overflow(0, 1.01, 4, 9, 0, 0);
    run.producer(0).overflow_seconds = 1;
    SetsInTime& sets = run.producer(0).sets_in_time;
    sets = {.sets = 10,
            .late = 1,
            .first_late_second = 4,
            .first_late_at = Instant{4'000'000'000},
            .least_slack = Duration::microseconds(-143)};
    run.producer(1).sets_in_time = {.sets = 10, .least_slack = Duration::milliseconds(1)};
    std::string text = run.judged().text;
    CHECK(contains(text,
                   "NOT sustained: producer 0 exceeded its buffer once, in second 4 (worst occupancy 1.01"));
    CHECK(contains(text, "1 of 20 sets was late: "));
    CHECK(contains(text, "(producer 0, in second 4; 143 us late)"));
    run.producer(0).overflow_seconds = 3;  // others came of sets of before
    CHECK(contains(run.judged().text, "exceeded its buffer from second 4 on"));
    run.producer(0).overflow_seconds = 1;
    sets.first_late_second = 7;
    CHECK(contains(run.judged().text, "exceeded its buffer in second 4"));
    sets.first_late_second = 4;
    sets.late = 2;
    text = run.judged().text;
    CHECK(contains(text, "producer 0 exceeded its buffer in second 4 (worst occupancy 1.01"));
    CHECK(contains(text, "(producer 0, first in second 4; at worst 143 us late)"));
    run.plan.duration = Duration::milliseconds(200);
    run.plan.interval = Duration::milliseconds(10);
    run.plan.buffer = run.plan.set_bytes();
    sets.first_late_second = 0;
    sets.first_late_at = Instant{40'000'000};
    run.producer(0).first_overflow_second = 0;
    text = run.judged().text;
    CHECK(contains(text, "producer 0 exceeded its buffer (worst occupancy 1.01, producer 0 on "));
    CHECK(contains(text, "(producer 0, first 40 ms into the measured time; at worst 143 us late)"));
    CHECK_FALSE(contains(text, "second"));
    sets.late = 1;
    text = run.judged().text;
    CHECK(contains(text, "producer 0 exceeded its buffer once (worst occupancy 1.01"));
    CHECK(contains(text, "(producer 0, 40 ms into the measured time; 143 us late)"));
}

TEST_CASE("Events that came when as many waited as can are not said to be left over") {
    JudgedRun run;
    run.producer(0).run.generated.events = 5'000'000;
    run.producer(0).measured.lost = {800'000, {800'000}};
    run.producer(0).ledger.lost = {.events = 800'000, .bytes = {800'000}, .hash = 0};
    CHECK(contains(run.judged().text, ", or came when 4194304 events waited already, which is the most"));
}

TEST_CASE("The closing check alone can fail a run") {
    JudgedRun run;
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
    JudgedRun run;
    run.plan.overflow = Overflow::drop;
    run.overflow(0, 1.0, 3, 10, 0, 0);
    run.producer(0).measured.lost = {12, {12}};
    run.producer(0).ledger.lost = {.events = 15, .bytes = {15}, .hash = 0};
    const std::string text = run.judged().text;
    CHECK(contains(text, "NOT sustained: producer 0 dropped events at its full buffer from second 3 on"));
    CHECK(contains(text, "15 of "));  // one number, of the whole run
}

TEST_CASE("A run that lost an event is neither sustained nor on time, wherever it was lost") {
    JudgedRun run;
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
    JudgedRun run;
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
        "of 1 s, producer 0 on eb01. No producer exceeded its buffer."));

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

TEST_CASE("What cannot be judged is not judged") {
    JudgedRun run;
    SECTION("saturate") {
        run.plan.generation = Generation::saturate;
        const Verdict verdict = run.judged();
        CHECK_FALSE(verdict.judged);
        CHECK(std::isnan(verdict.max_occupancy));
        CHECK(contains(verdict.text,
                       "Not judged: with generation saturate there is always data to send. Producers "
                       "sent 8 Gb/s each on average."));
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
    JudgedRun run;
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
