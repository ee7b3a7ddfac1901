#include "record/burst_rows.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "record/consumer_recorder.hpp"
#include "record/csv_log.hpp"
#include "record/producer_recorder.hpp"
#include "record/scheduler_recorder.hpp"
#include "test_runs.hpp"

using namespace weir::record;
using namespace weir::core;
using Kind = Observation::Kind;

namespace {

constexpr Instant at(std::int64_t milliseconds) {
    return {milliseconds * 1000000};
}
constexpr Duration ms(std::int64_t milliseconds) {
    return Duration::milliseconds(milliseconds);
}
Observation seen(Kind kind, std::int64_t bytes) {
    return {.kind = kind, .peer = {}, .event = {}, .bytes = {bytes}, .elapsed = {}};
}
Plan plan_with(Duration interval) {
    Plan plan = test::small_plan();
    plan.row_interval = interval;
    return plan;
}

}  // namespace

TEST_CASE("A stretch of time is shared out to the intervals that it touches") {
    struct Sums {
        Duration time;
        int stretches = 0;
        [[nodiscard]] bool any() const { return false; }
    };
    BurstSums<Sums> bursts(ms(250));
    const auto add = [&](std::int64_t from, std::int64_t length) {
        bursts.over(at(from), ms(length), [](Sums& sums, Duration part) {
            sums.time += part;
            ++sums.stretches;
        });
    };
    add(-900, 100);  // of second -1
    add(-800, 700);
    std::vector<std::pair<BurstStart, Sums>> rows;
    const auto take = [&](const BurstStart& start, const Sums& sums) { rows.emplace_back(start, sums); };
    bursts.end_second(at(-900), ms(800), take);
    REQUIRE(rows.size() == 4);
    CHECK(rows[0].first == BurstStart{at(-900), ms(150)});
    CHECK(rows[0].second.time == ms(150));
    CHECK(rows[0].second.stretches == 2);
    CHECK(rows[1].first == BurstStart{at(-750), ms(250)});
    CHECK(rows[2].second.time == ms(250));
    CHECK(rows[3].first == BurstStart{at(-250), ms(150)});
    rows.clear();
    add(100, 400);
    bursts.end_second(at(0), ms(500), take);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].second.time == ms(150));
    CHECK(rows[1].second.time == ms(250));
}

TEST_CASE("Without --row-interval there are no rows of bursts") {
    std::vector<ProducerRow> rows;
    Latencies latencies;
    ProducerRecorder recorder(test::small_plan(), ProducerId{0}, at(0), latencies,
                              [&](const ProducerRow& row, const LiveSample& report) {
                                  rows.push_back(row);
                                  CHECK(report.burst == Bytes{});
                              });
    recorder.observe(at(100), seen(Kind::chunk_sent, 100));
    recorder.advance(at(1000));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].bursts.empty());
    CHECK(burst_csv_lines(rows[0]).empty());
}

TEST_CASE("A producer's bursts have what left in them and how full its buffer was") {
    std::vector<ProducerRow> rows;
    std::vector<LiveSample> reports;
    Latencies latencies;
    ProducerRecorder recorder(plan_with(ms(250)), ProducerId{0}, at(-125), latencies,
                              [&](const ProducerRow& row, const LiveSample& report) {
                                  rows.push_back(row);
                                  reports.push_back(report);
                              });
    const auto backlog = [&](std::int64_t now, std::int64_t bytes) {
        recorder.set_state(at(now), {.backlog = {bytes}, .waiting_for_data = 4});
    };
    recorder.observe(at(0), seen(Kind::generated, 800'000'000));
    backlog(0, 800'000'000);
    recorder.observe(at(260), seen(Kind::chunk_sent, 300'000'000));
    backlog(260, 500'000'000);
    recorder.observe(at(375), seen(Kind::chunk_sent, 100'000'000));
    backlog(375, 400'000'000);
    recorder.observe(at(1100), seen(Kind::chunk_sent, 400'000'000));
    recorder.observe(at(1250), seen(Kind::chunk_sent, 7));  // as recording ends
    recorder.finish(at(1250));
    REQUIRE(rows.size() == 3);
    REQUIRE(rows[0].bursts.size() == 1);
    CHECK(rows[0].bursts[0].start == BurstStart{at(-125), ms(125)});
    CHECK(rows[0].bursts[0].occupancy_peak == 0);
    const std::vector<ProducerBurst>& bursts = rows[1].bursts;
    REQUIRE(bursts.size() == 4);
    CHECK(bursts[0].start == BurstStart{at(0), ms(250)});
    CHECK(bursts[0].generated == Bytes{800'000'000});
    CHECK(bursts[0].sent == Bytes{});
    CHECK(bursts[0].occupancy_mean == 0.8);
    CHECK(bursts[1].sent == Bytes{400'000'000});
    CHECK(bursts[1].occupancy_peak == 0.8);
    CHECK(std::abs(bursts[1].occupancy_mean - (0.8 * 10 + 0.5 * 115 + 0.4 * 125) / 250) < 1e-9);
    CHECK(bursts[3].occupancy_peak == 0.4);
    CHECK(reports[1].burst == Bytes{400'000'000});
    REQUIRE(rows[2].bursts.size() == 2);
    CHECK(rows[2].bursts[1].start == BurstStart{at(1250), {}});
    CHECK(rows[2].bursts[1].sent == Bytes{7});
    CHECK(burst_csv_lines(rows[2]) ==
          "1.00,0.25,0,400000000,0.400000,0.400000\n"
          "1.25,0.00,0,7,,\n");
}

TEST_CASE("A consumer's bursts have what arrived, and for how long it was blocked") {
    std::vector<ConsumerRow> rows;
    Latencies latencies;
    ConsumerRecorder recorder(plan_with(ms(10)), ConsumerId{0}, at(0), latencies,
                              [&](const ConsumerRow& row, const LiveSample&) { rows.push_back(row); });
    recorder.observe(at(5), seen(Kind::chunk_received, 60));
    recorder.set_state(at(15), {.queued_slots = 8, .processing = true});
    recorder.set_state(at(32), {.free_slots = 2, .queued_slots = 6, .processing = true});
    // From a simulator, behind the state.
    const std::vector<ChunkBytes> chunks{{at(12), {1}}, {at(31), {2}}, {at(32), {4}}};
    recorder.chunks_received(chunks);
    recorder.advance(at(1000));
    REQUIRE(rows.size() == 1);
    const std::vector<ConsumerBurst>& bursts = rows[0].bursts;
    REQUIRE(bursts.size() == 100);
    CHECK(bursts[0].received == Bytes{60});
    CHECK(bursts[0].free_slots_min == 8);
    CHECK(bursts[1].received == Bytes{1});
    CHECK(bursts[1].blocked == ms(5));
    CHECK(bursts[2].blocked == ms(10));
    CHECK(bursts[3].blocked == ms(2));
    CHECK(bursts[3].received == Bytes{6});
    CHECK(bursts[3].free_slots_min == 0);
    CHECK(bursts[4].free_slots_min == 2);
    const std::string lines = burst_csv_lines(rows[0]);
    CHECK(lines.starts_with("0.00,0.01,60,0,8\n0.01,0.01,1,0.005,0\n0.02,0.01,0,0.01,0\n"));
    CHECK(lines.ends_with("0.99,0.01,0,0,2\n"));
}

TEST_CASE("The scheduler's bursts have the most events that waited, and the fewest free slots") {
    std::vector<SchedulerRow> rows;
    SchedulerRecorder recorder(plan_with(ms(500)), at(0),
                               [&](const SchedulerRow& row, const LiveSample&) { rows.push_back(row); });
    recorder.set_state(at(100), {.credits_available = true, .credits = 9});
    recorder.set_state(at(200), {.offers_waiting = true, .offers = 5});
    recorder.granted(at(400), 3);
    recorder.set_state(at(400), {.offers_waiting = true, .offers = 2});
    recorder.set_state(at(600), {.credits_available = true, .credits = 4});
    recorder.advance(at(1000));
    REQUIRE(rows.size() == 1);
    CHECK(burst_csv_lines(rows[0]) ==
          "0.00,0.50,3,5,0,0.30\n"
          "0.50,0.50,0,2,0,0.10\n");
}
