#include "record/second_collector.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "test_runs.hpp"

using namespace weir::record;
using namespace weir::core;

namespace {

LiveSample report(NodeId node, std::int64_t second, std::int64_t bytes = 0) {
    LiveSample report;
    report.node = node;
    report.start = {second, phase_of(second, Duration::seconds(10)), Duration::seconds(1)};
    report.moved = {bytes};
    return report;
}
constexpr NodeId producer(std::uint32_t index) {
    return {Role::producer, index};
}
constexpr NodeId consumer(std::uint32_t index) {
    return {Role::consumer, index};
}

struct Collected {
    Plan plan = test::small_plan();
    std::vector<ClusterSecond> seconds;
    SecondCollector collector{plan, [this](const ClusterSecond& second) { seconds.push_back(second); }};

    void add_all(std::int64_t second) {
        collector.add(report(scheduler_node(), second));
        for (std::uint32_t i = 0; i < 2; ++i) {
            collector.add(report(producer(i), second, 1000 * (i + 1)));
        }
        for (std::uint32_t i = 0; i < 3; ++i) {
            collector.add(report(consumer(i), second, 100 * (i + 1)));
        }
    }
};

}  // namespace

TEST_CASE("What a node's processes reported before they ended is summed up") {
    Collected run;
    CHECK(run.collector.ended_lives(consumer(1)) == nullptr);
    run.collector.end_life(consumer(1));  // of one that never reported
    CHECK(run.collector.ended_lives(consumer(1)) == nullptr);
    for (const std::int64_t second : {3, 5}) {
        LiveSample sample = report(consumer(1), second);
        sample.run.received = {4, {400}};
        sample.run.lost = {1, {100}};
        sample.covered = Duration::seconds(2);
        sample.whole_seconds = 2;
        run.collector.add(sample);
        run.collector.end_life(consumer(1));
        CHECK(run.collector.latest(consumer(1)) == nullptr);
    }
    const RankSummary* const sums = run.collector.ended_lives(consumer(1));
    REQUIRE(sums != nullptr);
    CHECK(sums->run.received.events == 8);
    CHECK(sums->covered == Duration::seconds(4));
    CHECK(sums->whole_seconds == 4);
    CHECK(sums->last_second == 5);
    CHECK(run.collector.ended_lives(consumer(0)) == nullptr);
    run.collector.finish();
    // The second process began at 0 again, and what the first had lost is still counted.
    CHECK(run.seconds.back().counts.lost.events == 2);
}

TEST_CASE("A second is passed on when its last report arrives") {
    Collected run;
    LiveSample full = report(producer(1), 3, 3000);
    full.occupancy_peak = 0.75;
    full.run.lost = {2, {20}};
    LiveSample blocked = report(consumer(1), 3, 50);
    blocked.blocked_samples.bits = 0b10;
    blocked.poll_gap_max = Duration::milliseconds(3);
    LiveSample scheduler = report(scheduler_node(), 3);
    scheduler.waiting_events = 9;
    scheduler.free_slots = 4;
    run.collector.add(scheduler);
    run.collector.add(report(producer(0), 3, 1000));
    run.collector.add(full);
    run.collector.add(report(consumer(0), 3, 10));
    run.collector.add(blocked);
    CHECK(run.seconds.empty());
    run.collector.add(report(consumer(2), 3, 30));
    REQUIRE(run.seconds.size() == 1);
    const ClusterSecond& second = run.seconds[0];
    CHECK(second.second == 3);
    CHECK(second.phase == Phase::measure);
    CHECK(second.producers.min.bits_per_second == 8000);
    CHECK(second.producers.mean.bits_per_second == 16000);
    CHECK(second.producers.max.bits_per_second == 24000);
    CHECK(second.consumers.min.bits_per_second == 80);
    CHECK(second.consumers.mean.bits_per_second == 240);
    CHECK(second.consumers.max.bits_per_second == 400);
    CHECK(second.blocked_at_once == 1);
    CHECK(second.blocked_mean == 1.0 / BlockedSamples::per_second);
    CHECK(second.max_occupancy == 0.75);
    CHECK(second.fullest_producer == 1);
    CHECK(second.counts.lost.events == 2);
    CHECK(second.waiting_events == 9U);
    CHECK(second.free_slots == 4U);
    CHECK(second.poll_gap_max == Duration::milliseconds(3));
    CHECK(second.missing_ranks == 0);
    CHECK(run.collector.blocked_at_once().consumers == 1);
    CHECK(run.collector.blocked_at_once().second == 3);
    CHECK(run.collector.latest(producer(1))->moved == Bytes{3000});
}

TEST_CASE("Of the best intervals of single ranks a second has the best") {
    Collected run;
    Plan plan = run.plan;
    plan.row_interval = Duration::milliseconds(100);
    std::vector<ClusterSecond> seconds;
    SecondCollector collector(plan, [&](const ClusterSecond& second) { seconds.push_back(second); });
    const auto add = [&](NodeId node, std::int64_t burst) {
        LiveSample sample = report(node, 3, 1000);
        sample.burst = {burst};
        collector.add(sample);
        run.collector.add(sample);
    };
    add(producer(0), 30);
    add(producer(1), 20);
    add(consumer(0), 5);
    add(consumer(1), 50);
    add(consumer(2), 10);
    collector.finish();
    run.collector.finish();
    REQUIRE(seconds.size() == 1);
    CHECK(seconds[0].producer_burst.bits_per_second == 30 * 8 * 10);
    CHECK(seconds[0].consumer_burst.bits_per_second == 50 * 8 * 10);
    CHECK(run.seconds.at(0).consumer_burst.bits_per_second == 0);
}

TEST_CASE("A silent rank is waited for two seconds, and counted as missing") {
    Collected run;
    run.collector.add(report(producer(0), -1, 500));
    run.collector.add(report(producer(1), -1, 700));
    run.collector.poll(Instant{1'999'999'999});
    CHECK(run.seconds.empty());
    run.add_all(0);
    CHECK(run.seconds.empty());  // seconds stay in order
    run.collector.poll(Instant{2'000'000'000});
    REQUIRE(run.seconds.size() == 1);
    CHECK(run.seconds[0].second == -1);
    CHECK(run.seconds[0].missing_ranks == 4);
    CHECK(run.seconds[0].consumers.ranks == 0);
    CHECK_FALSE(run.seconds[0].waiting_events);
    run.collector.poll(Instant{2'000'000'000});
    CHECK(run.seconds.size() == 1);
    run.add_all(1);  // completes 0 and 1
    REQUIRE(run.seconds.size() == 3);
    CHECK(run.seconds[2].second == 1);
    CHECK(run.seconds[2].missing_ranks == 0);
    // What comes too late does not come twice.
    run.collector.add(report(consumer(0), -1, 9));
    run.collector.finish();
    CHECK(run.seconds.size() == 3);
    CHECK(run.collector.latest(consumer(0))->start.second == -1);
}

TEST_CASE("A report from the far future costs a bounded number of seconds") {
    Collected run;
    run.add_all(0);
    run.collector.add(report(producer(0), 1'000'000'000'000));
    run.collector.finish();
    CHECK(run.seconds.size() <= 1 + SecondCollector::open_seconds_max);
    CHECK(run.seconds.back().second == 1'000'000'000'000);
}

TEST_CASE("Losses of a rank that falls silent are kept") {
    Collected run;
    LiveSample losing = report(producer(0), 0);
    losing.run.lost.events = 5;
    losing.sets_in_time.late = 3;
    run.collector.add(losing);
    run.collector.finish();
    LiveSample other = report(producer(1), 1);
    other.run.lost.events = 2;
    other.sets_in_time.late = 1;
    run.collector.add(other);
    run.collector.finish();
    REQUIRE(run.seconds.size() == 2);
    CHECK(run.seconds[0].counts.lost.events == 5);
    CHECK(run.seconds[1].counts.lost.events == 7);
    CHECK(run.seconds[0].late_sets == 3);
    CHECK(run.seconds[1].late_sets == 4);
    CHECK(run.collector.latest(scheduler_node()) == nullptr);
}

TEST_CASE("Partial seconds and absent occupancies do not spoil the ranges") {
    Collected run;
    run.plan.generation = Generation::saturate;
    SecondCollector collector(run.plan, [&](const ClusterSecond& second) { run.seconds.push_back(second); });
    LiveSample partial = report(producer(0), 4, 1);
    partial.start.covered = Duration::milliseconds(10);
    partial.occupancy_peak = std::numeric_limits<double>::quiet_NaN();
    LiveSample whole = report(producer(1), 4, 1000);
    whole.occupancy_peak = std::numeric_limits<double>::quiet_NaN();
    collector.add(partial);
    collector.add(whole);
    collector.finish();
    REQUIRE(run.seconds.size() == 1);
    CHECK(run.seconds[0].producers.ranks == 1);
    CHECK(run.seconds[0].producers.min.bits_per_second == 8000);
    CHECK(std::isnan(run.seconds[0].max_occupancy));
    CHECK(run.seconds[0].missing_ranks == 4);
}
