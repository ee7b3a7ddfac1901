#include "record/producer_recorder.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "catch.hpp"
#include "recorded.hpp"

namespace record_producer_recorder_test_file {

using namespace weir::record;
using namespace weir::core;
using test::at;
using test::seen;
using Kind = Observation::Kind;

namespace {

using Recorded = test::Recorded<ProducerRecorder, ProducerRow, ProducerId, 1>;

}  // namespace

TEST_CASE("A producer's seconds are closed also when nothing happens, late, or before second 0") {
    Recorded run;
    ProducerRecorder recorder = run.recorder(at(-3));
    recorder.advance(at(-2.5));
    CHECK(run.rows.empty());
    recorder.advance(at(-2));
    REQUIRE(run.rows.size() == 1);
    CHECK(run.rows[0].start.second == -3);
    CHECK(run.rows[0].start.phase == Phase::warmup);
    CHECK(run.rows[0].start.covered == Duration::seconds(1));
    CHECK(run.rows[0].time.waiting_for_data == Duration::seconds(1));
    // Nobody polled for thirteen and a half seconds.
    recorder.advance(at(11.5));
    REQUIRE(run.rows.size() == 14);
    for (std::size_t i = 0; i < run.rows.size(); ++i) {
        CHECK(run.rows[i].start.second == static_cast<std::int64_t>(i) - 3);
        CHECK(run.rows[i].time.sum() == Duration::seconds(1));
    }
    CHECK(run.rows[2].start.phase == Phase::warmup);
    CHECK(run.rows[3].start.phase == Phase::measure);
    CHECK(run.rows[12].start.phase == Phase::measure);
    CHECK(run.rows[13].start.phase == Phase::drain);
    // Time that goes back is the time that was.
    recorder.advance(at(3));
    recorder.finish(at(11.7));
    CHECK(run.rows.size() == 14);  // nothing happened in second 11
    CHECK(recorder.summary().rows == 14);
    CHECK(recorder.summary().whole_seconds == 10);
    CHECK(recorder.summary().covered == Duration::seconds(10));
    recorder.advance(at(20));
    CHECK(run.rows.size() == 14);
}

TEST_CASE("A producer's state is cut exactly at the end of a second") {
    Recorded run;
    ProducerRecorder recorder = run.recorder(at(0));
    recorder.set_state(at(0.25), {.backlog = {400'000'000}, .transferring = 1, .waiting_for_data = 3});
    recorder.set_state(at(1.5), {.backlog = {0}, .waiting_for_data = 4});
    recorder.advance(at(2));
    REQUIRE(run.rows.size() == 2);
    CHECK(run.rows[0].time.transferring == Duration{187'500'000});  // 0.75 s of one stream in four
    CHECK(run.rows[0].time.waiting_for_data == Duration{812'500'000});
    CHECK(run.rows[0].backlog == Bytes{400'000'000});
    CHECK(run.rows[0].occupancy_mean == Approx(0.3));
    CHECK(run.rows[0].occupancy_peak == 0.4);
    CHECK(run.rows[1].time.transferring == Duration{125'000'000});
    CHECK(run.rows[1].backlog == Bytes{0});
    CHECK(run.rows[1].occupancy_mean == Approx(0.2));
    CHECK(run.rows[1].occupancy_peak == 0.4);  // it was still there when the second began
}

TEST_CASE("A producer's load: work to do, a transfer, all streams") {
    std::vector<ProducerRow> rows;
    Latencies latencies;
    ProducerRecorder recorder(test::small_plan(), ProducerId{0}, Instant{0}, latencies,
                              [&](const ProducerRow& row, const LiveSample&) { rows.push_back(row); });
    const auto after = [](std::int64_t ms) { return Instant{ms * 1000000}; };
    recorder.set_state(after(100), {.backlog = {5}, .waiting_for_grant = 2, .waiting_for_data = 2});
    recorder.set_state(after(300), {.backlog = {5}, .transferring = 1, .waiting_for_grant = 3});
    recorder.set_state(after(600), {.backlog = {5}, .transferring = 4});
    recorder.set_state(after(900), {.backlog = {0}, .waiting_for_data = 4});
    recorder.advance(after(1000));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].load.backlogged == Duration::milliseconds(800));
    CHECK(rows[0].load.sending == Duration::milliseconds(600));
    CHECK(rows[0].load.all_streams == Duration::milliseconds(300));
    CHECK(recorder.summary().load == rows[0].load);
}

TEST_CASE("Observations count in the second in which they were made") {
    Recorded run;
    ProducerRecorder recorder = run.recorder(at(-1));
    recorder.observe(at(-0.5), seen(Kind::granted, 0, Duration::microseconds(5)));
    recorder.observe(at(0), seen(Kind::generated, 100));
    recorder.observe(at(0.001), seen(Kind::granted, 100, Duration::microseconds(10)));
    recorder.observe(at(0.002), seen(Kind::transfer_started, 100, Duration::microseconds(20)));
    recorder.observe(at(0.0031), seen(Kind::chunk_sent, 60));
    recorder.observe(at(0.0099), seen(Kind::chunk_sent, 30));
    recorder.observe(at(0.0101), seen(Kind::chunk_sent, 10));
    recorder.observe(at(0.02), seen(Kind::transfer_completed, 100, Duration::microseconds(30)));
    recorder.observe(at(1.5), seen(Kind::left_over, 7));
    recorder.poll_gap(at(1.6), Duration::milliseconds(30));
    recorder.poll_gap(at(1.7), Duration::milliseconds(5));
    recorder.finish(at(1.75));
    REQUIRE(run.rows.size() == 3);
    CHECK(run.rows[0].grants == 1);
    const ProducerRow& row = run.rows[1];
    CHECK(row.generated == Traffic{1, {100}});
    CHECK(row.sent == Traffic{1, {100}});
    CHECK(row.grants == 1);
    CHECK(row.peak_10ms.bits_per_second == 90 * 8 * 100);
    CHECK(row.lost == Traffic{});
    CHECK(run.rows[2].lost == Traffic{1, {7}});
    CHECK(run.rows[2].start.covered == Duration::milliseconds(750));
    CHECK(run.rows[2].time.sum() == Duration::milliseconds(750));
    CHECK(run.rows[2].poll_gaps.largest == Duration::milliseconds(30));
    CHECK(recorder.summary().stalled == Duration::milliseconds(30));
    CHECK(recorder.summary().poll_gap_second == 1);
    // Latencies of the warm-up are not judged.
    CHECK(run.latencies.offer_to_grant.count() == 1);
    CHECK(run.latencies.offer_to_grant.max() == Duration::microseconds(10));
    CHECK(run.latencies.grant_to_first_byte.max() == Duration::microseconds(20));
    CHECK(run.latencies.transfer.max() == Duration::microseconds(30));
    CHECK(recorder.summary().run.grants == 2);
    CHECK(recorder.summary().measured.grants == 1);
    CHECK(run.reports[1].moved == Bytes{100});
    CHECK(run.reports[2].run.sent == Traffic{1, {100}});
    CHECK(run.reports[2].node == node_of(ProducerId{1}));
}

TEST_CASE("Waiting for a grant is split by the time without credits") {
    Recorded run;
    ProducerRecorder recorder = run.recorder(at(0));
    recorder.no_credit(at(0), Duration{0});
    recorder.set_state(at(0), {.backlog = {1}, .waiting_for_grant = 4});
    recorder.no_credit(at(0.5), Duration::milliseconds(500));  // no credit at all
    recorder.no_credit(at(0.9), Duration::milliseconds(600));  // a quarter of the time
    recorder.advance(at(1));                                   // the rest: as before
    REQUIRE(run.rows.size() == 1);
    CHECK(run.rows[0].time.waiting_for_slot == Duration::milliseconds(500 + 100 + 25));
    CHECK(run.rows[0].time.waiting_for_grant == Duration::milliseconds(300 + 75));

    // Rounding and travel times cannot make a share above 1 or below 0.
    recorder.no_credit(at(1.1), Duration::milliseconds(900));
    recorder.no_credit(at(1.1), Duration::milliseconds(901));
    recorder.advance(at(2));
    CHECK(run.rows[1].time.waiting_for_slot == Duration::seconds(1));
    recorder.no_credit(at(2.5), Duration::milliseconds(100));
    recorder.advance(at(3));
    CHECK(run.rows[2].time.waiting_for_grant == Duration::seconds(1));
}

TEST_CASE("Without a scheduler every wait for a grant is a wait for a slot") {
    Recorded run;
    run.plan.policy = PolicyKind::none;
    ProducerRecorder recorder = run.recorder(at(0));
    recorder.set_state(at(0), {.backlog = {1}, .waiting_for_grant = 2, .waiting_for_data = 2});
    recorder.no_credit(at(0.5), Duration{0});
    recorder.advance(at(1));
    CHECK(run.rows[0].time.waiting_for_slot == Duration::milliseconds(500));
}

TEST_CASE("An overflow is exact, begins with the judged time and ends with it") {
    Recorded run;
    const auto full = [](std::int64_t bytes) {
        return ProducerState{.backlog = {bytes}, .waiting_for_grant = 4};
    };
    SECTION("a full buffer is not an overflow, one byte more is") {
        ProducerRecorder recorder = run.recorder(at(0));
        recorder.set_state(at(1), full(1'000'000'000));
        recorder.advance(at(2));
        CHECK_FALSE(recorder.summary().overflowed());
        recorder.set_state(at(4.5), full(1'000'000'001));
        recorder.set_state(at(4.5), full(0));
        recorder.advance(at(6));
        CHECK(recorder.summary().first_overflow_second == 4);
        CHECK(recorder.summary().overflow_seconds == 1);
        CHECK(recorder.summary().max_occupancy_second == 4);
        CHECK(run.reports[4].overflowed);
        CHECK_FALSE(run.reports[5].overflowed);
    }
    SECTION("in the warm-up it is not judged, unless it lasts") {
        ProducerRecorder recorder = run.recorder(at(-2));
        recorder.set_state(at(-1.5), full(2'000'000'000));
        recorder.set_state(at(-1.2), full(0));
        recorder.advance(at(1));
        CHECK(run.reports[0].overflowed);
        CHECK_FALSE(recorder.summary().overflowed());
        CHECK(recorder.summary().max_occupancy == 0);
    }
    SECTION("that which lasts from the warm-up into second 0 is") {
        ProducerRecorder recorder = run.recorder(at(-2));
        recorder.set_state(at(-1.5), full(2'000'000'000));
        recorder.set_state(at(0.1), full(0));
        recorder.advance(at(1));
        CHECK(recorder.summary().first_overflow_second == 0);
        CHECK(recorder.summary().max_occupancy == 2.0);
    }
    SECTION("in the drain it is not") {
        ProducerRecorder recorder = run.recorder(at(9));
        recorder.set_state(at(10), full(2'000'000'000));
        recorder.advance(at(12));
        CHECK_FALSE(recorder.summary().overflowed());
    }
    SECTION("a loss counts where the rule is to drop") {
        run.plan.overflow = Overflow::drop;
        ProducerRecorder recorder = run.recorder(at(0));
        recorder.observe(at(3.5), seen(Kind::dropped, 10));
        recorder.observe(at(10.5), seen(Kind::dropped, 10));
        recorder.advance(at(12));
        CHECK(recorder.summary().first_overflow_second == 3);
        CHECK(recorder.summary().overflow_seconds == 1);
    }
    SECTION("with generation saturate there is no occupancy") {
        run.plan.generation = Generation::saturate;
        ProducerRecorder recorder = run.recorder(at(0));
        recorder.set_state(at(0.5), full(2'000'000'000));
        recorder.advance(at(1));
        CHECK_FALSE(recorder.summary().overflowed());
        CHECK(std::isnan(recorder.summary().max_occupancy));
        CHECK(std::isnan(run.rows[0].occupancy_mean));
        CHECK(std::isnan(run.rows[0].occupancy_peak));
    }
}

TEST_CASE("The summary names the slowest and the fastest whole second of the measured phase") {
    Recorded run;
    ProducerRecorder recorder = run.recorder(at(-1));
    for (int second = -1; second < 10; ++second) {
        const std::int64_t bytes = second == 3 ? 10 : second == 6 ? 900 : second == -1 ? 1 : 100;
        recorder.observe(Instant{second * 1'000'000'000LL + 500}, seen(Kind::chunk_sent, bytes));
    }
    recorder.finish(at(9.5));  // a partial second is not the slowest
    const RankSummary& summary = recorder.summary();
    CHECK(summary.slowest_second == 3);
    CHECK(summary.slowest.bits_per_second == 80);
    CHECK(summary.fastest_second == 6);
    CHECK(summary.fastest.bits_per_second == 7200);
    CHECK(summary.whole_seconds == 9);
    CHECK(summary.measured.sent.bytes == Bytes{7 * 100 + 10 + 900 + 100});
    CHECK(summary.throughput() == rate_of(summary.measured.sent.bytes, Duration::milliseconds(9500)));
}

TEST_CASE("The mean rate is over the time in which data was generated") {
    Recorded run;
    run.plan.interval = Duration::milliseconds(100);
    run.plan.duration = Duration::milliseconds(1100);
    SECTION("a producer that is through waits for others until the end of the row") {
        ProducerRecorder recorder = run.recorder(at(0));
        for (int set = 0; set < 11; ++set) {
            recorder.observe(at(set * 0.1 + 0.05), seen(Kind::chunk_sent, 1'000'000));
        }
        recorder.finish(at(2.5));
        CHECK(recorder.summary().in_time == MovedInTime{{11'000'000}, Duration::milliseconds(1100)});
        CHECK(recorder.summary().throughput() == BitRate{80'000'000});
        CHECK(recorder.summary().covered == Duration::seconds(2));
    }
    SECTION("what a slow one sends after that does not count") {
        ProducerRecorder recorder = run.recorder(at(0));
        for (int chunk = 0; chunk < 11; ++chunk) {
            recorder.observe(at(chunk * 0.2 + 0.15), seen(Kind::chunk_sent, 1'000'000));
        }
        recorder.finish(at(2.5));
        CHECK(recorder.summary().in_time == MovedInTime{{5'000'000}, Duration::milliseconds(1100)});
    }
    SECTION("it ends with the last interval, also beyond the last measured row") {
        run.plan.interval = Duration::seconds(5);
        run.plan.duration = Duration::seconds(6);
        ProducerRecorder recorder = run.recorder(at(-3));
        recorder.observe(at(-1), seen(Kind::chunk_sent, 500));
        recorder.observe(at(3), seen(Kind::chunk_sent, 500));
        recorder.observe(at(9), seen(Kind::chunk_sent, 500));
        recorder.finish(at(9.5));
        CHECK(recorder.summary().in_time == MovedInTime{{1000}, Duration::seconds(10)});
    }
    SECTION("of a run that ended early it is what there was") {
        ProducerRecorder recorder = run.recorder(at(0));
        recorder.observe(at(0.25), seen(Kind::chunk_sent, 1000));
        recorder.finish(at(0.5));
        CHECK(recorder.summary().in_time == MovedInTime{{1000}, Duration::milliseconds(500)});
    }
}

TEST_CASE("For random histories, times sum to the second and bytes to what was observed") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto below = [&](std::uint64_t n) { return random() % n; };
        Recorded run;
        run.plan.streams = static_cast<std::uint32_t>(1 + below(7));
        const Instant start{-static_cast<std::int64_t>(below(3'000'000'000))};
        ProducerRecorder recorder = run.recorder(start);
        Instant now = start;
        std::int64_t sent = 0;
        std::int64_t generated = 0;
        Duration transferring;  // stream time
        std::uint32_t streams_transferring = 0;
        std::int64_t peak = 0;
        for (int step = 0; step < 400; ++step) {
            const Duration wait{
                static_cast<std::int64_t>(below(below(20) == 0 ? 3'000'000'000 : 40'000'000))};
            transferring += wait * streams_transferring;
            now = now + wait;
            switch (below(5)) {
                case 0: {
                    ProducerState state;
                    state.backlog = {static_cast<std::int64_t>(below(1'500'000'000))};
                    state.transferring = static_cast<std::uint32_t>(below(run.plan.streams + 1));
                    state.waiting_for_grant =
                        static_cast<std::uint32_t>(below(run.plan.streams - state.transferring + 1));
                    state.waiting_for_data = run.plan.streams - state.transferring - state.waiting_for_grant;
                    recorder.set_state(now, state);
                    streams_transferring = state.transferring;
                    peak = std::max(peak, state.backlog.count);
                    break;
                }
                case 1: {
                    const auto bytes = static_cast<std::int64_t>(below(1000));
                    recorder.observe(now, seen(Kind::chunk_sent, bytes));
                    sent += bytes;
                    break;
                }
                case 2: {
                    const auto bytes = static_cast<std::int64_t>(below(1000));
                    recorder.observe(now, seen(Kind::generated, bytes));
                    generated += bytes;
                    break;
                }
                case 3:
                    recorder.no_credit(now, {static_cast<std::int64_t>(below(5'000'000'000))});
                    break;
                default:
                    recorder.advance(now);
                    break;
            }
        }
        recorder.observe(now + Duration{1}, seen(Kind::generated, 0));  // so that the last second is emitted
        transferring += Duration{1} * streams_transferring;
        recorder.finish(now + Duration{1});

        std::int64_t row_sent = 0;
        std::int64_t row_generated = 0;
        Duration row_transferring;
        Duration covered;
        double row_peak = 0;
        for (std::size_t i = 0; i < run.rows.size(); ++i) {
            const ProducerRow& row = run.rows[i];
            REQUIRE(row.time.sum() == row.start.covered);
            REQUIRE(row.start.second == run.rows[0].start.second + static_cast<std::int64_t>(i));
            REQUIRE((i == 0 || i + 1 == run.rows.size() || row.start.covered == Duration::seconds(1)));
            REQUIRE(row.time.waiting_for_slot >= Duration{0});
            REQUIRE(row.time.waiting_for_grant >= Duration{0});
            REQUIRE(row.occupancy_mean <= row.occupancy_peak * (1 + 1e-12));
            row_sent += row.sent.bytes.count;
            row_generated += row.generated.bytes.count;
            row_transferring += row.time.transferring;
            covered += row.start.covered;
            row_peak = std::max(row_peak, row.occupancy_peak);
        }
        CHECK(row_sent == sent);
        CHECK(row_generated == generated);
        CHECK(covered == now + Duration{1} - start);
        CHECK(row_peak == static_cast<double>(peak) / 1e9);
        CHECK(std::abs(row_transferring.ns - transferring.ns / run.plan.streams) <=
              static_cast<std::int64_t>(run.rows.size()));
        CHECK(recorder.summary().run.sent.bytes.count == sent);
        CHECK(run.reports.back().run == recorder.summary().run);
    }
}

TEST_CASE("Chunks that are recorded late are recorded as when they left") {
    Recorded early;
    Recorded late;
    std::vector<ChunkBytes> chunks;
    const auto state = [](std::int64_t backlog) {
        return ProducerState{.backlog = {backlog}, .transferring = 1};
    };
    {
        early.plan.streams = late.plan.streams = 1;
        ProducerRecorder one = early.recorder(at(-1));
        ProducerRecorder other = late.recorder(at(-1));
        std::int64_t backlog = 3000000000;
        one.set_state(at(0.003), state(backlog));
        other.set_state(at(0.003), state(backlog));
        for (int tick = 1; tick <= 250; ++tick) {
            const Bytes bytes{tick % 7 == 0 ? 0 : 1000 * tick};
            backlog -= bytes.count;
            one.observe(at(tick * 0.01), seen(Kind::chunk_sent, bytes.count));
            one.set_state(at(tick * 0.01), state(backlog));
            chunks.push_back({at(tick * 0.01), bytes});
            if (tick % 40 == 0) {
                other.chunks_sent(chunks);
                other.set_state(at(tick * 0.01), state(backlog));
                chunks.clear();
            }
        }
        other.chunks_sent(chunks);
        one.finish(at(2.6));
        other.finish(at(2.6));
    }
    REQUIRE(early.rows.size() == 4);
    REQUIRE(late.rows.size() == 4);
    for (std::size_t second = 0; second < 4; ++second) {
        CAPTURE(second);
        CHECK(early.rows[second].sent == late.rows[second].sent);
        CHECK(early.rows[second].peak_10ms == late.rows[second].peak_10ms);
        CHECK(early.rows[second].backlog == late.rows[second].backlog);
        CHECK(early.rows[second].occupancy_mean == late.rows[second].occupancy_mean);
        CHECK(early.rows[second].occupancy_peak == late.rows[second].occupancy_peak);
        CHECK(early.rows[second].time == late.rows[second].time);
    }
}

}  // namespace record_producer_recorder_test_file
