#include "record/backlog_points.hpp"

#include <memory>
#include <vector>

#include "catch.hpp"
#include "test_runs.hpp"

namespace record_backlog_points_test_file {

using namespace weir::record;
using namespace weir::core;

namespace {

constexpr Instant at(double seconds) {
    return {static_cast<std::int64_t>(seconds * 1e9)};
}

Plan sets(std::int64_t duration_s, std::int64_t warmup_s = 3) {
    Plan plan = test::small_plan();
    plan.duration = Duration::seconds(duration_s);
    plan.warmup = Duration::seconds(warmup_s);
    return plan;
}

Plan steady(std::int64_t duration_s, double event_bytes) {
    Plan plan = sets(duration_s);
    plan.generation = Generation::steady;
    plan.event_size.kind = DistributionKind::fixed;
    plan.event_size.mean = event_bytes;
    return plan;
}

}  // namespace

TEST_CASE("Sets are compared at the ends of intervals, the last one included") {
    PointsPlan points = points_of(sets(1), {});
    CHECK(points.points == 2);
    CHECK(points.first == at(0));
    CHECK(points.step == Duration::seconds(1));
    points = points_of(sets(30), {});
    CHECK(points.points == 31);
    CHECK(points.at(30) == at(30));
    // Too many to keep: every third, counted from the last.
    points = points_of(sets(70), {});
    CHECK(points.step == Duration::seconds(3));
    CHECK(points.points == 24);
    CHECK(points.first == at(1));
    CHECK(points.at(23) == at(70));
    // Half an interval has a set of its own, which has a whole interval's time.
    Plan half = sets(2);
    half.duration = Duration::milliseconds(1500);
    points = points_of(half, {});
    CHECK(points.at(points.points - 1) == at(2));
    // At a producer's own deadlines.
    Plan spread = sets(4);
    spread.set_phase = SetPhase::spread;
    CHECK(points_of(spread, {1}).first == at(0.5));
    CHECK(points_of(spread, {1}).points == 5);
}

TEST_CASE("Addressed events without a warm-up are compared from the end of the first interval on") {
    for (const int warmup_s : {0, 1}) {
        Plan plan = sets(4, warmup_s);
        plan.traffic =
            std::make_shared<const TrafficPlan>(2, 3, std::vector<TrafficPhase>{{"all", {}, {}}},
                                                std::vector<TrafficPlan::Entry>{{{0}, {{}, {1}, 0, {10}}}});
        CHECK(points_of(plan, {}).first == at(warmup_s == 0 ? 1 : 0));
        CHECK(points_of(plan, {}).at(points_of(plan, {}).points - 1) == at(4));
        plan.duration = Duration::seconds(1);
        CHECK(points_of(plan, {}).points == (warmup_s == 0 ? 0U : 2U));
    }
}

TEST_CASE("Steady events are compared in stretches of two events at least") {
    PointsPlan points = points_of(steady(8, 1e6), {});  // 8000 events
    CHECK(points.means);
    CHECK(points.points == 32);
    CHECK(points.step == Duration::milliseconds(250));
    CHECK(points.first == at(0));
    points = points_of(steady(8, 1e9), {});  // 8 events
    CHECK(points.points == 4);
    CHECK(points_of(steady(3, 1e9), {}).points == 0);
    Plan saturate = steady(8, 1e6);
    saturate.generation = Generation::saturate;
    CHECK(points_of(saturate, {}).points == 0);
}

TEST_CASE("A point of sets is what is there just before the next one") {
    const Plan plan = sets(2);
    BacklogTrend trend(plan, {}, at(-3));
    trend.over(at(-3), Duration::milliseconds(2500), {900});
    trend.over(at(-0.5), Duration::milliseconds(500), {7});  // up to 0
    trend.over(at(0), Duration::milliseconds(900), {800});
    trend.over(at(0.9), Duration::milliseconds(200), {9});  // over the end of the interval
    CHECK(trend.points().known == 2);
    CHECK(trend.points().bytes[0] == Bytes{7});
    CHECK(trend.points().bytes[1] == Bytes{9});
    SECTION("what is left when the run is over is left at the next set as well") {
        trend.over(at(1.1), Duration::milliseconds(900), {3});
        trend.finish(at(2), {3});
        CHECK(trend.points().known == 3);
        CHECK(trend.points().bytes[2] == Bytes{3});
    }
    SECTION("of a run that ended early it is not known") {
        trend.finish(at(1.5), {3});
        CHECK(trend.points().known == 2);
    }
}

TEST_CASE("Without a warm-up the first point is nothing") {
    BacklogTrend trend(sets(1, 0), {}, at(0));
    CHECK(trend.points().known == 1);
    trend.over(at(0), Duration::seconds(2), {5});
    CHECK(trend.points().known == 2);
    CHECK(trend.points().bytes[1] == Bytes{5});
}

TEST_CASE("A point of steady events is the mean over its stretch") {
    const Plan plan = steady(8, 1e9);  // 4 stretches of 2 s
    BacklogTrend trend(plan, {}, at(-3));
    trend.over(at(-3), Duration::seconds(4), {100});  // one of the two seconds
    trend.over(at(1), Duration::seconds(2), {300});   // and one of either stretch
    trend.over(at(3), Duration::seconds(6), {40});
    CHECK(trend.points().known == 4);
    CHECK(trend.points().bytes[0] == Bytes{200});
    CHECK(trend.points().bytes[1] == Bytes{170});
    CHECK(trend.points().bytes[2] == Bytes{40});
    CHECK(trend.points().bytes[3] == Bytes{40});
    trend.finish(at(9), {40});
    CHECK(trend.points().known == 4);
}

TEST_CASE("A rank that begins later has had nothing before") {
    BacklogTrend late(steady(8, 1e9), {}, at(3));  // in the second of 4 stretches of 2 s
    late.over(at(3), Duration::seconds(5), {100});
    CHECK(late.points().known == 4);
    CHECK(late.points().bytes[0] == Bytes{0});
    CHECK(late.points().bytes[1] == Bytes{50});
    CHECK(late.points().bytes[3] == Bytes{100});
}

}  // namespace record_backlog_points_test_file
