// What is a growth and what is not: backlogs whose truth is known.
#include "judge/backlog_growth.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "core/random.hpp"
#include "unit/record/test_runs.hpp"

namespace judge_backlog_growth_test_file {

using namespace weir::judge;
using namespace weir::record;
using namespace weir::core;

namespace {

constexpr double event = 1e6;

/// Sets of 1000 events in each of so many seconds.
Plan sets_of(std::size_t intervals) {
    Plan plan = test::small_plan();
    plan.duration = Duration::seconds(static_cast<std::int64_t>(intervals));
    plan.event_size.kind = DistributionKind::fixed;
    plan.event_size.mean = event;
    return plan;
}

RankSummary producer_with(const std::vector<double>& points, std::uint32_t index = 0) {
    RankSummary summary;
    summary.node = {Role::producer, index};
    summary.backlog_points.known = static_cast<std::uint32_t>(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        summary.backlog_points.bytes.at(i) = {std::llround(points[i])};
    }
    return summary;
}

BacklogGrowth growth(const std::vector<double>& points) {
    const auto found = growth_of(sets_of(points.size() - 1), producer_with(points));
    REQUIRE(found);
    return *found;
}

std::vector<double> ramp(std::size_t steps, double each, double first = 0) {
    std::vector<double> points;
    for (std::size_t i = 0; i <= steps; ++i) {
        points.push_back(first + each * static_cast<double>(i));
    }
    return points;
}

/// Normally distributed, by the sum of twelve uniform numbers.
double normal(Random& random) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
        sum += random.uniform();
    }
    return sum;
}

}  // namespace

TEST_CASE("A backlog that grows evenly by more than the grain grows, from one step on") {
    for (const std::size_t steps : {1U, 2U, 5U, 32U}) {
        CAPTURE(steps);
        const BacklogGrowth grown = growth(ramp(steps, 3 * event, 7 * event));
        CHECK(grown.grows());
        CHECK(grown.bytes_per_second() == Approx(3 * event));
        CHECK_FALSE(growth(ramp(steps, -3 * event, 1e12)).grows());
        CHECK_FALSE(growth(ramp(steps, 0, 5 * event)).grows());
        CHECK_FALSE(growth(ramp(steps, 2 * event / static_cast<double>(steps))).grows());
    }
}

TEST_CASE("When a buffer is full follows from its room and the growth") {
    const BacklogGrowth grown = growth(ramp(4, 10 * event, 20 * event));
    CHECK(full_after_s(grown, 100 * event) == Approx(4 + (100 - 60) / 10.0));
    CHECK(full_after_s(grown, 10 * event) == Approx(4));
    Plan steady = sets_of(8);
    steady.generation = Generation::steady;
    steady.rate = {8'000'000};  // an event per second, so stretches of two
    const auto means = growth_of(steady, producer_with({10 * event, 20 * event, 30 * event, 40 * event}));
    REQUIRE(means);
    CHECK(means->bytes_per_second() == Approx(5 * event));
    CHECK(means->last_at == Instant{} + Duration::seconds(7));
    CHECK(full_after_s(*means, 100 * event) == Approx(7 + 60 / 5.0));
}

TEST_CASE("A backlog that rose once and stays does not grow") {
    std::vector<double> points(33, 500 * event);
    std::fill(points.begin(), points.begin() + 9, 0.0);
    CHECK_FALSE(growth(points).grows());
    // In few steps, too, and where events are whole.
    CHECK_FALSE(growth({0, 0, 500 * event, 500 * event}).grows());
    CHECK_FALSE(growth({0, 500 * event, 500 * event}).grows());
}

TEST_CASE("A backlog that grows only since something went wrong grows") {
    // In the last third of 30 s: by 100 events per second, which is what counts for the buffer.
    std::vector<double> points(21, 3 * event);
    for (int i = 1; i <= 10; ++i) {
        points.push_back((3 + 100.0 * i) * event);
    }
    const BacklogGrowth late = growth(points);
    CHECK(late.grows());
    CHECK(late.bytes_per_second() == Approx(100 * event));
    CHECK(full_after_s(late, 2003 * event) == Approx(40));
    // It may begin within the last quarter, or long before the last half; quiet time is no part of it.
    for (const std::size_t quiet : {5U, 16U, 20U, 26U}) {
        CAPTURE(quiet);
        std::vector<double> bent(quiet, 3 * event);
        for (std::size_t i = 1; bent.size() < 31; ++i) {
            bent.push_back((3 + 100.0 * static_cast<double>(i)) * event);
        }
        const BacklogGrowth since = growth(bent);
        CHECK(since.grows());
        CHECK(since.bytes_per_second() == Approx(100 * event));
        const double left = static_cast<double>(31 - quiet) * 100 + 3;
        CHECK(full_after_s(since, (left + 1000) * event) == Approx(40));
    }
    // A queue that fills as it did before is none.
    points[5] = 1100 * event;
    CHECK_FALSE(growth(points).grows());
    // Nor is what goes down again.
    points[5] = 3 * event;
    points.back() = 100 * event;
    CHECK_FALSE(growth(points).grows());
}

TEST_CASE("Few of many random walks without a drift are said to grow, and nearly all with one") {
    // 4000 each. A quantile of 0.995 on one side lets 0.5 % pass; below 5 steps up to 4 %, as s is known
    // badly; from 16 points on three times as many, because half and quarter are looked at as well.
    constexpr int tries = 4000;
    for (const std::size_t steps : {2U, 5U, 10U, 32U}) {
        CAPTURE(steps);
        Random random(7, steps);
        int without = 0;
        int with = 0;
        for (int i = 0; i < tries; ++i) {
            std::vector<double> still{1e12};
            std::vector<double> rising{1e12};
            for (std::size_t step = 0; step < steps; ++step) {
                const double move = 100 * event * normal(random);
                still.push_back(still.back() + move);
                rising.push_back(rising.back() + move + 400 * event);
            }
            without += growth(still).grows() ? 1 : 0;
            with += growth(rising).grows() ? 1 : 0;
        }
        CHECK(without < tries * (steps < 5 ? 0.05 : 0.025));
        CHECK(with > tries * (steps < 5 ? 0.3 : 0.95));
    }
}

TEST_CASE("Queues of a load below 1 do not grow, whatever a short run shows of them") {
    // Left after an interval: what was there and came, less what could be served, which is drawn.
    constexpr int tries = 3000;
    for (const double load : {0.5, 0.9, 0.96}) {
        for (const std::size_t intervals : {2U, 5U, 30U}) {
            CAPTURE(load, intervals);
            Random random(11, intervals);
            int grown = 0;
            for (int i = 0; i < tries; ++i) {
                std::vector<double> points;
                double left = 0;
                // A warm-up of three.
                for (std::size_t step = 0; step < intervals + 4; ++step) {
                    if (step > 2) {
                        points.push_back(left);
                    }
                    const double served = std::max(0.0, 1000 / load * (1 + 0.1 * normal(random)));
                    left = std::max(0.0, left + event * (1000 - served));
                }
                grown += growth(points).grows() ? 1 : 0;
            }
            CHECK(grown < tries * 0.02);
        }
    }
}

TEST_CASE("A growth that drowns in single producers shows in all of them together") {
    // Each goes up and down by 10 events, and all grow by one per interval.
    Plan plan = sets_of(20);
    plan.producers = 200;
    Random random(3, 1);
    std::vector<RankRecord> ranks(200);
    int alone = 0;
    for (std::uint32_t producer = 0; producer < 200; ++producer) {
        std::vector<double> points = ramp(20, event, 100 * event);
        for (double& point : points) {
            point += 10 * event * normal(random);
        }
        ranks[producer].summary = producer_with(points, producer);
        alone += growth_of(plan, ranks[producer].summary)->grows() ? 1 : 0;
    }
    CHECK(alone < 4);
    const auto all = growth_of_all(plan, ranks);
    REQUIRE(all);
    CHECK(all->grows());
    CHECK(all->bytes_per_second() == Approx(200 * event).epsilon(0.1));
    ranks[17].summary.backlog_points.known = 3;
    CHECK_FALSE(growth_of_all(plan, ranks));
    CHECK_FALSE(growth_of(plan, ranks[17].summary));
    CHECK_FALSE(growth_of_all(plan, {}));
}

}  // namespace judge_backlog_growth_test_file
