#include "record/rank_summary.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "catch.hpp"
#include "show/run_record.hpp"
#include "test_runs.hpp"

using namespace weir::record;
using namespace weir::show;
using namespace weir::core;

namespace {

Plan plan_of(double event_bytes) {
    Plan plan = test::small_plan();  // 2 producers of 1 GB/s to 3 consumers, 1 s
    plan.event_size.mean = event_bytes;
    return plan;
}

Row second_of(std::int64_t second, std::int64_t bytes, Duration covered = Duration::seconds(1)) {
    Row facts;
    facts.start = {second, phase_of(second, Duration::seconds(100)), covered};
    facts.received.bytes = {bytes};
    return facts;
}

}  // namespace

TEST_CASE("Rates are compared over as many seconds as eight events of a rank take") {
    CHECK(rate_window_s(plan_of(1e6)) == 1);
    CHECK(rate_window_s(plan_of(83.3e6)) == 1);  // 8 in a second for each consumer
    CHECK(rate_window_s(plan_of(83.4e6)) == 2);
    CHECK(rate_window_s(plan_of(5e8)) == 6);
    CHECK(rate_window_s(plan_of(1e12)) == std::nullopt);
    Plan plan = plan_of(5e8);
    plan.producers = 30;  // then producers have fewer
    CHECK(rate_window_s(plan) == 4);
    plan.pattern = Pattern::build;  // an event is 30 fragments, for one of three consumers
    CHECK(rate_window_s(plan) == 12);
}

TEST_CASE("Rates are compared over whole intervals") {
    Plan plan = plan_of(1e6);
    const auto window = [&](std::int64_t interval_ms) {
        plan.interval = Duration::milliseconds(interval_ms);
        return rate_window_s(plan);
    };
    CHECK(window(100) == 1);
    CHECK(window(70) == 1);  // 14 or 15 sets
    CHECK(window(400) == 2);
    CHECK(window(1500) == 3);
    CHECK(window(10000) == 10);
    plan.generation = Generation::steady;
    CHECK(rate_window_s(plan) == 1);
}

TEST_CASE("The slowest window is of measured seconds that follow each other") {
    LowestRate lowest(plan_of(83.4e6));  // 2 s
    RankSummary summary;
    summary.node = {Role::consumer, 0};
    lowest.add(summary, second_of(-1, 0));  // warm-up
    lowest.add(summary, second_of(0, 100));
    CHECK(summary.slowest_window_second == no_second);
    lowest.add(summary, second_of(1, 0));
    CHECK(summary.slowest_window_second == 0);
    CHECK(summary.slowest_window == BitRate{400});
    lowest.add(summary, second_of(2, 90));
    lowest.add(summary, second_of(3, 0));
    lowest.add(summary, second_of(4, 95));
    CHECK(summary.slowest_window_second == 1);  // of two that are equal the first
    CHECK(summary.slowest_window == BitRate{360});
    lowest.add(summary, second_of(5, 0, Duration::milliseconds(500)));
    lowest.add(summary, second_of(100, 0));  // drain
    CHECK(summary.slowest_window == BitRate{360});
}

TEST_CASE("What is too few events for a rate is not said") {
    const auto record_of = [](double event_bytes) {
        RunRecord record;
        record.plan = plan_of(event_bytes);
        record.ranks = test::good_ranks(record.plan);
        record.plan_options = {};
        return record;
    };
    const auto json = [&](double event_bytes) { return to_json(record_of(event_bytes)); };
    CHECK(json(1e6)["rate_window_s"] == 1);
    CHECK_FALSE(json(1e6)["evenness"]["consumers"].is_null());
    CHECK(json(5e8)["rate_window_s"] == 6);
    CHECK_FALSE(json(5e8)["evenness"]["consumers"].is_null());
    CHECK(json(1e9)["rate_window_s"] == 12);  // the run has 10 seconds
    CHECK(json(1e9)["evenness"]["consumers"].is_null());
    CHECK(json(1e12)["rate_window_s"].is_null());

    RunRecord record = record_of(5e8);
    record.plan.generation = Generation::saturate;  // 1 GB/s was sent by each producer
    CHECK(rate_window_s(record) == 6);
    CHECK(to_json(record)["ranks"][1]["slowest_window_second"].is_null());  // one second was kept
    record.plan.event_size.mean = 1e6;
    CHECK(to_json(record)["ranks"][1]["slowest_window_second"] == 4);
}
