#include "record/consumer_recorder.hpp"

#include <random>
#include <vector>

#include "catch.hpp"
#include "recorded.hpp"

namespace record_consumer_recorder_test_file {

using namespace weir::record;
using namespace weir::core;
using test::at;
using test::seen;
using Kind = Observation::Kind;

namespace {

using Recorded = test::Recorded<ConsumerRecorder, ConsumerRow, ConsumerId, 2>;

}  // namespace

TEST_CASE("What waits in a consumer's slots just before each set shows whether it keeps up") {
    Recorded run;
    run.plan.duration = Duration::seconds(3);
    run.plan.event_size = {.kind = DistributionKind::fixed, .mean = 1e6};
    const auto points_from = [&](double start) {
        ConsumerRecorder recorder = run.recorder(at(start));
        recorder.set_state(at(start), {.free_slots = 8});
        for (std::uint32_t second = 0; second < 3; ++second) {
            recorder.set_state(at(second + 0.3), {.free_slots = 0, .receiving_slots = 1, .queued_slots = 7});
            recorder.set_state(at(second + 0.9), {.free_slots = 5, .queued_slots = 2 + second});
        }
        recorder.set_state(at(3.5), {.free_slots = 8});
        recorder.finish(at(4));
        const BacklogPoints& points = recorder.summary().backlog_points;
        CHECK(points.known == 4);
        return std::vector<Bytes>(points.bytes.begin(), points.bytes.begin() + 4);
    };
    const std::vector<Bytes> from_the_start{{0}, {2'000'000}, {3'000'000}, {4'000'000}};
    CHECK(points_from(-1) == from_the_start);
    run.plan.pattern = Pattern::build;  // fragments of two producers are one event
    const std::vector<Bytes> built{{0}, {4'000'000}, {6'000'000}, {8'000'000}};
    CHECK(points_from(-1) == built);
}

TEST_CASE("A consumer is receiving, blocked or waiting, and processing beside") {
    Recorded run;
    ConsumerRecorder recorder = run.recorder(at(-1));
    recorder.set_state(at(0.1), {.free_slots = 6, .receiving_slots = 2});
    recorder.set_state(at(0.4),
                       {.free_slots = 5, .receiving_slots = 1, .queued_slots = 2, .processing = true});
    recorder.set_state(at(0.7), {.queued_slots = 8, .processing = true});
    recorder.set_state(at(1.2), {.free_slots = 1, .queued_slots = 7, .processing = true});
    recorder.advance(at(2));
    REQUIRE(run.rows.size() == 3);
    CHECK(run.rows[0].time.waiting_for_data ==
          Duration::seconds(1));  // all slots free before anything is said
    CHECK(run.rows[0].free_slots_min == 8);
    CHECK(run.rows[0].blocked_samples.bits == 0);
    const ConsumerRow& row = run.rows[1];
    CHECK(row.time.waiting_for_data == Duration::milliseconds(100));
    CHECK(row.time.receiving == Duration::milliseconds(600));
    CHECK(row.time.blocked == Duration::milliseconds(300));
    CHECK(row.time.processing == Duration::milliseconds(600));
    CHECK(row.blocked_samples.bits == 0xfc000);  // 725 ms to 975 ms
    CHECK(row.free_slots_min == 0);
    CHECK(run.rows[2].time.blocked == Duration::milliseconds(200));
    CHECK(run.rows[2].time.waiting_for_data == Duration::milliseconds(800));
    CHECK(run.rows[2].time.processing == Duration::seconds(1));
    CHECK(run.rows[2].blocked_samples.bits == 0xf);  // 25 ms to 175 ms
    CHECK(run.rows[2].free_slots_min == 0);
    CHECK(run.reports[1].blocked_samples.bits == 0xfc000);
}

TEST_CASE("A consumer receives from when its transfer began, as far as it was not blocked") {
    Recorded run;
    ConsumerRecorder recorder = run.recorder(at(0));
    const auto begun = [&](double now, double since) {
        recorder.observe(at(now), seen(Kind::transfer_noticed, 0, at(now) - at(since)));
    };
    const ConsumerState free{.free_slots = 1};
    const ConsumerState blocked{.queued_slots = 1, .processing = true};
    // An event of one chunk, on its way for 100 ms: nothing else shows that it was.
    begun(0.2, 0.1);
    recorder.set_state(at(0.2), blocked);
    // The clocks of two ranks differ: the producer seems to have begun before there was a slot.
    recorder.set_state(at(0.3), free);
    begun(0.4, 0.25);
    recorder.set_state(at(0.4), free);
    // Two at a time, of which the one that began first is noticed last.
    begun(0.6, 0.55);
    recorder.set_state(at(0.6), free);
    begun(0.7, 0.5);
    recorder.set_state(at(0.7), free);
    // Over the end of a second, which happens in a simulator only.
    recorder.on_its_way(at(0.9));
    begun(1.2, 0.9);
    recorder.set_state(at(1.2), free);
    begun(2.3, 1.8);
    recorder.finish(at(2.4));
    REQUIRE(run.rows.size() == 2);
    CHECK(run.rows[0].time.blocked == Duration::milliseconds(100));
    CHECK(run.rows[0].time.receiving == Duration::milliseconds(100 + 100 + 200 + 100));
    CHECK(run.rows[0].time.sum() == Duration::seconds(1));
    CHECK(run.rows[1].time.receiving == Duration::milliseconds(200));
    CHECK(run.rows[1].time.waiting_for_data == Duration::milliseconds(800));
}

TEST_CASE("Every slot is free, receiving, queued or withheld, and receives from when its transfer began") {
    Recorded run;
    ConsumerRecorder recorder = run.recorder(at(0));  // 8 slots
    recorder.set_state(at(0.2), {.free_slots = 4, .receiving_slots = 1, .queued_slots = 1});
    // A slot that was called free until now has been receiving for 300 ms, and another one since before the
    // second: of that time, what lies in the second.
    recorder.observe(at(0.5), seen(Kind::transfer_noticed, 0, Duration::milliseconds(300)));
    recorder.set_state(at(0.5), {.free_slots = 3, .receiving_slots = 2, .queued_slots = 1});
    recorder.advance(at(1));
    recorder.observe(at(1.1), seen(Kind::transfer_noticed, 0, Duration::milliseconds(600)));
    recorder.set_state(at(1.1), {.free_slots = 2, .receiving_slots = 3, .queued_slots = 1});
    recorder.advance(at(2));
    REQUIRE(run.rows.size() == 2);
    const Load& first = run.rows[0].load;
    CHECK(first.free_slots == Duration::milliseconds(8 * 200 + 4 * 300 + 3 * 500 - 300));
    CHECK(first.receiving_slots == Duration::milliseconds(300 + 2 * 500 + 300));
    CHECK(first.queued_slots == Duration::milliseconds(800));
    CHECK(first.withheld_slots == Duration::milliseconds(2 * 800));
    CHECK(run.rows[1].load.receiving_slots == Duration::milliseconds(2 * 100 + 100 + 3 * 900));
    for (const ConsumerRow& row : run.rows) {
        const Load& load = row.load;
        CHECK(load.free_slots + load.receiving_slots + load.queued_slots + load.withheld_slots ==
              Duration::seconds(8));
    }
}

TEST_CASE("Nothing came for as long as a heartbeat was on its way, and data neither") {
    const auto heartbeat = [](double delay_s) {
        HeartbeatDelays delays;
        delays.from_leader.add(Duration{std::llround(delay_s * 1e9)});
        return delays;
    };
    const auto data_come = [](ConsumerRecorder& recorder, double when) {
        recorder.observe(at(when), {.kind = Kind::chunk_received, .bytes = {1000}});
    };
    struct Case {
        const char* name;
        std::vector<double> data;
        double arrives, delay, silence;
    };
    for (const Case& one : std::vector<Case>{{"idle", {}, 0.8, 0.5, 0.5},
                                             {"a little before the heartbeat", {0.1, 0.79}, 0.8, 0.5, 0.49},
                                             {"before it left", {0.1, 0.5}, 0.8, 0.5, 0.3},
                                             {"a full link", {0.3, 0.4, 0.5, 0.6, 0.7}, 0.8, 0.5, 0.1},
                                             {"nothing to do", {0.1}, 0.8, 0.001, 0.001}}) {
        INFO(one.name);
        Recorded run;
        ConsumerRecorder recorder = run.recorder(at(0));
        for (const double when : one.data) {
            data_come(recorder, when);
        }
        recorder.heartbeats(at(one.arrives), heartbeat(one.delay));
        recorder.advance(at(1));
        REQUIRE(run.rows.size() == 1);
        CHECK(run.rows[0].silence.in_seconds() == Approx(one.silence));
    }
}

TEST_CASE("Of many stretches of waiting the oldest are known by their sum") {
    WaitingStretches stretches;
    for (int i = 0; i < 1000; ++i) {
        stretches.add({10 * i}, {2});
    }
    CHECK(stretches.remove_after({9995}) == Duration{0});
    CHECK(stretches.remove_after({9971}) == Duration{1 + 2 + 2});
    // What lies in the oldest one, of which 937 were made, is shared out evenly.
    const Duration part = stretches.remove_after({4686});
    CHECK(part.ns >= 2 * 61 + 937 - 2);
    CHECK(part.ns <= 2 * 61 + 937 + 2);
    CHECK(part + stretches.remove_after({0}) == Duration{2000 - 5});
    CHECK(stretches.remove_after({0}) == Duration{0});
}

TEST_CASE("Between chunks that are found together there is no time") {
    Recorded run;
    run.plan.shaping.kind = weir::core::ShapingKind::in_step;
    ConsumerRecorder recorder = run.recorder(at(0));
    weir::core::Observation three = seen(Kind::chunk_received, 300);
    three.chunks = 3;
    recorder.observe(at(0.1), three);
    CHECK(run.latencies.receive_gap.count() == 2);
    recorder.observe(at(0.2), three);
    CHECK(run.latencies.receive_gap.count() == 5);
    CHECK(run.latencies.receive_gap.max() == Duration::milliseconds(100));
}

TEST_CASE("Bytes of a chunk count in the seconds in which they came, and once") {
    Recorded run;
    ConsumerRecorder recorder = run.recorder(at(0));
    recorder.moving({600});  // of a chunk of 1000
    recorder.advance(at(1.1));
    recorder.moving({900});
    recorder.advance(at(2.1));
    recorder.observe(at(2.2), seen(Kind::chunk_received, 1000));
    recorder.moving({50});
    recorder.advance(at(3.1));
    recorder.observe(at(3.2), seen(Kind::chunk_received, 1000));
    recorder.moving({70});  // of one that never comes whole
    recorder.advance(at(4.1));
    recorder.moving({});
    recorder.advance(at(5.1));
    REQUIRE(run.rows.size() == 5);
    std::vector<std::int64_t> bytes;
    for (const ConsumerRow& row : run.rows) {
        bytes.push_back(row.received.bytes.count);
    }
    CHECK(bytes == std::vector<std::int64_t>{600, 300, 150, 1020, 0});
    CHECK(recorder.summary().run.received.bytes == Bytes{2070});
}

TEST_CASE("A consumer's observations and its integrity count in their second") {
    Recorded run;
    ConsumerRecorder recorder = run.recorder(at(-1));
    recorder.observe(at(-0.5), seen(Kind::received, 10, Duration::seconds(9)));
    recorder.observe(at(0.5), seen(Kind::chunk_received, 60));
    recorder.observe(at(0.505), seen(Kind::chunk_received, 40));
    recorder.observe(at(0.505), seen(Kind::received, 100, Duration::milliseconds(2)));
    recorder.integrity(at(0.6), 1, 0);
    recorder.observe(at(1.5), seen(Kind::processed, 100, Duration::milliseconds(900)));
    recorder.integrity(at(1.6), 3, 2);
    recorder.poll_gap(at(1.7), Duration::microseconds(70));
    recorder.finish(at(1.8));
    REQUIRE(run.rows.size() == 3);
    CHECK(run.rows[1].received == Traffic{1, {100}});
    CHECK(run.rows[1].peak_10ms.bits_per_second == 100 * 8 * 100);
    CHECK(run.rows[1].corrupt_events == 1);
    CHECK(run.rows[1].duplicate_events == 0);
    CHECK(run.rows[2].processed == Traffic{1, {100}});
    CHECK(run.rows[2].corrupt_events == 2);
    CHECK(run.rows[2].duplicate_events == 2);
    CHECK(run.rows[2].poll_gaps.largest == Duration::microseconds(70));
    CHECK(run.rows[2].start.covered == Duration::milliseconds(800));
    CHECK(run.latencies.delivery.count() == 1);
    CHECK(run.latencies.delivery.max() == Duration::milliseconds(2));
    CHECK(run.latencies.processing.max() == Duration::milliseconds(900));
    CHECK(recorder.summary().run.corrupt_events == 3);
    CHECK(recorder.summary().run.received.events == 2);
    CHECK(recorder.summary().measured.received.events == 1);
}

TEST_CASE("A consumer's times sum to the second for random histories") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto below = [&](std::uint64_t n) { return random() % n; };
        Recorded run;
        ConsumerRecorder recorder = run.recorder(at(-2));
        Instant now = at(-2);
        std::int64_t received = 0;
        for (int step = 0; step < 300; ++step) {
            now =
                now + Duration{static_cast<std::int64_t>(below(below(20) == 0 ? 3'000'000'000 : 40'000'000))};
            if (below(3) == 0) {
                recorder.observe(now, seen(Kind::transfer_noticed, 0,
                                           Duration{static_cast<std::int64_t>(below(90'000'000))}));
            } else if (below(2) == 0) {
                recorder.set_state(now, {.free_slots = static_cast<std::uint32_t>(below(2)),
                                         .receiving_slots = static_cast<std::uint32_t>(below(2)),
                                         .processing = below(2) == 0});
            } else {
                recorder.observe(now, seen(Kind::chunk_received, 17));
                received += 17;
            }
        }
        recorder.finish(now);
        std::int64_t row_received = 0;
        for (const ConsumerRow& row : run.rows) {
            REQUIRE(row.time.sum() == row.start.covered);
            REQUIRE(row.time.processing <= row.start.covered);
            row_received += row.received.bytes.count;
        }
        CHECK(row_received == received);
    }
}

TEST_CASE("Chunks that are recorded late are recorded as when they arrived") {
    Recorded early;
    Recorded late;
    std::vector<ChunkBytes> chunks;
    const ConsumerState state{.free_slots = 7, .receiving_slots = 1};
    {
        ConsumerRecorder one = early.recorder(at(-1));
        ConsumerRecorder other = late.recorder(at(-1));
        one.set_state(at(0.003), state);
        other.set_state(at(0.003), state);
        for (int tick = 1; tick <= 250; ++tick) {
            one.observe(at(tick * 0.01), seen(Kind::chunk_received, 1000 * tick));
            one.set_state(at(tick * 0.01), state);
            chunks.push_back({at(tick * 0.01), {1000 * tick}});
            if (tick % 40 == 0) {
                other.chunks_received(chunks);
                chunks.clear();
            }
        }
        other.chunks_received(chunks);
        one.finish(at(2.6));
        other.finish(at(2.6));
    }
    REQUIRE(early.rows.size() == 4);
    REQUIRE(late.rows.size() == 4);
    for (std::size_t second = 0; second < 4; ++second) {
        CAPTURE(second);
        CHECK(early.rows[second].received == late.rows[second].received);
        CHECK(early.rows[second].peak_10ms == late.rows[second].peak_10ms);
        CHECK(early.rows[second].time == late.rows[second].time);
        CHECK(early.rows[second].free_slots_min == late.rows[second].free_slots_min);
    }
}

}  // namespace record_consumer_recorder_test_file
