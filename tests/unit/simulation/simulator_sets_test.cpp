// Sets in the simulated run: their deadlines, buffers and phases.
#include <cmath>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "core/plan.hpp"
#include "one_to_one.hpp"
#include "simulation/simulated_run.hpp"

using namespace weir::core;
using namespace weir::simulation;
using weir::simulation::test::one_to_one;
using weir::simulation::test::result_of;

TEST_CASE("A set that is not gone in time fails the run, whenever the drain ends") {
    // Sets of 1 Gb every 10 s, of which the second begins 2 s before the end of generation and finds a link
    // of half its speed: 60 % of it can be gone by 20 s.
    for (const int drain_s : {0, 1, 8, 20}) {
        SimulatedRun run = one_to_one();
        Plan& plan = run.run.plan;
        plan.generation = Generation::sets;
        plan.interval = Duration::seconds(10);
        plan.duration = Duration::seconds(12);
        plan.rate = {64000000};
        plan.buffer = plan.set_bytes();
        plan.drain = Duration::seconds(drain_s);
        run.disturbances = {parse_disturbance(
            "degrade:consumer=0,at=10,factor=0.5", [](std::string_view) { return Duration::seconds(10); },
            nullptr)};
        run.run.require_sustained = true;
        const SimulationResult result = result_of(run);
        INFO(drain_s << " s: " << result.record.verdict.text);
        REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
        CHECK(result.exit_status == 3);
        CHECK_FALSE(result.record.verdict.sustained);
        CHECK(result.record.verdict.on_time == false);
        CHECK(result.record.verdict.sets == 2);
        CHECK(result.record.verdict.late_sets == 1);
        CHECK(result.record.verdict.first_late_second == 20);
        CHECK((result.record.verdict.lost_events > 0) == (drain_s < 20));
    }
}

TEST_CASE("A buffer of several sets hides neither a late set nor that the backlog grows") {
    SimulatedRun run = one_to_one();
    Plan& plan = run.run.plan;
    plan.generation = Generation::sets;
    plan.rate = {88000000};  // a tenth more than the link carries
    plan.buffer = plan.set_bytes() * 3;
    run.run.require_on_time = true;
    const SimulationResult result = result_of(run);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    CHECK(result.record.verdict.judged);
    CHECK_FALSE(result.record.verdict.sustained);
    CHECK(result.record.verdict.first_overflow_second == weir::record::no_second);
    CHECK(result.record.verdict.growing_producers == std::vector<std::uint32_t>{0});
    REQUIRE(result.record.verdict.growth_bytes_per_second);
    // Two chunks may be under way at second 10, which have not left yet.
    CHECK(std::abs(*result.record.verdict.growth_bytes_per_second - 1e6) < 2.1e4);
    // 10 of 33 MB are left then, and the next set is 11.
    REQUIRE(result.record.verdict.buffer_full_after_s);
    CHECK(std::abs(*result.record.verdict.buffer_full_after_s - 22) < 0.5);
    CHECK(result.record.verdict.on_time == false);
    CHECK(result.record.verdict.late_sets == 10);
    CHECK(result.record.verdict.first_late_second == 1);
    CHECK(result.exit_status == 3);
    // The last set of 10 leaves 11/10 x 10 s after the first was generated, 1 s after its deadline.
    REQUIRE(result.record.verdict.least_slack);
    CHECK(std::abs(result.record.verdict.least_slack->in_seconds() + 1.0) < 0.01);
}

TEST_CASE("With one slot it does not matter whether the last event of a set is a little smaller") {
    for (const std::int64_t event_bytes : {100'000, 100'001}) {
        SimulatedRun run = one_to_one();
        Plan& plan = run.run.plan;
        plan.producers = 18;
        plan.consumers = 14;
        plan.generation = Generation::sets;
        plan.rate = {55'200'000};  // 69 events
        plan.event_size.mean = static_cast<double>(event_bytes);
        plan.slot_size = {event_bytes};
        plan.slots = 1;
        plan.buffer = plan.set_bytes();
        const SimulationResult result = result_of(run);
        REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
        CHECK(result.record.verdict.late_sets == 0);
        REQUIRE(result.record.verdict.least_slack);
        // The fullest consumer receives at least 89 of the 18 x 69 events, 10 ms each; at the end of a set
        // some wait for a producer that is not sending.
        CHECK(result.record.verdict.least_slack->in_seconds() <= 0.11);
        CHECK(result.record.verdict.least_slack->in_seconds() > 0.07);
    }
}

TEST_CASE("The first set of a run without warm-up is generated at once") {
    SimulatedRun run = one_to_one();
    run.run.plan.generation = Generation::sets;
    const SimulationResult result = result_of(run);
    REQUIRE(result.record.verdict.least_slack);
    // Five events of 100 ms, and the first grant: not the 10 ms until the simulator next looks.
    CHECK(std::abs(result.record.verdict.least_slack->in_seconds() - 0.5) < 0.001);
}

TEST_CASE("Staggered sets do not wait for each other") {
    // Four producers to one consumer: a set of 20 Mb needs 0.25 s, all four fill the link.
    for (const SetPhase phase : {SetPhase::same, SetPhase::spread}) {
        SimulatedRun run = one_to_one();
        Plan& plan = run.run.plan;
        plan.producers = 4;
        plan.generation = Generation::sets;
        plan.set_phase = phase;
        plan.rate = {19000000};
        plan.event_size.mean = 23750;
        plan.slot_size = {23750};
        plan.chunk_size = {23750};
        plan.warmup = Duration::seconds(2);
        plan.buffer = plan.set_bytes();
        const SimulationResult result = result_of(run);
        INFO(result.end.what);
        REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
        const auto& verdict = result.record.verdict;
        CHECK(verdict.sustained);
        CHECK(verdict.sets == 40);
        CHECK(verdict.late_sets == 0);
        REQUIRE(verdict.least_slack);
        // After four times 0.2375 s, or after one.
        const double slack_s = phase == SetPhase::same ? 1 - 4 * 0.2375 : 1 - 0.2375;
        CHECK(std::abs(verdict.least_slack->in_seconds() - slack_s) < 0.01);
        for (std::size_t rank = 1; rank <= plan.producers; ++rank) {
            CHECK(result.record.ranks[rank].summary.measured.generated.bytes == plan.set_bytes() * 10);
            CHECK(result.record.ranks[rank].summary.run.generated.bytes == plan.set_bytes() * 12);
        }
    }
}

TEST_CASE("The first sets of spread producers come at i/P of the interval") {
    SimulatedRun run = one_to_one();
    Plan& plan = run.run.plan;
    plan.producers = 5;
    plan.generation = Generation::sets;
    plan.set_phase = SetPhase::spread;
    plan.interval = plan.duration;  // 10 s
    plan.rate = {800000};
    plan.buffer = plan.set_bytes();
    const SimulationResult result = result_of(run);
    INFO(result.end.what);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    CHECK(result.record.verdict.sets == 5);
    CHECK(result.record.verdict.late_sets == 0);
    for (std::size_t producer = 0; producer < 5; ++producer) {
        // A set is one event of 1 MB: it is in the buffer for 0.1 s and more, and fills it then.
        CHECK(result.record.ranks[producer + 1].summary.max_occupancy_second ==
              2 * static_cast<std::int64_t>(producer));
    }
}
