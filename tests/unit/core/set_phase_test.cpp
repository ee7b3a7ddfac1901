#include "core/plan.hpp"

#include <cmath>
#include <set>

#include "catch.hpp"

using namespace weir::core;

namespace {

Plan plan_of(SetPhase phase, std::uint32_t producers, Duration interval = Duration::seconds(1)) {
    Plan plan;
    plan.producers = producers;
    plan.rate = {8000000};
    plan.interval = interval;
    plan.set_phase = phase;
    plan.duration = interval * 3;
    plan.seed = 5;
    return plan;
}

}  // namespace

TEST_CASE("Sets begin with the interval unless they are staggered") {
    CHECK(set_phase(plan_of(SetPhase::same, 4), {3}) == Duration{});
    for (const Generation generation : {Generation::steady, Generation::saturate}) {
        Plan plan = plan_of(SetPhase::spread, 4);
        plan.generation = generation;
        CHECK(set_phase(plan, {3}) == Duration{});
    }
}

TEST_CASE("Spread: producer i of P at i/P of the interval") {
    for (std::uint32_t i = 0; i < 4; ++i) {
        CHECK(set_phase(plan_of(SetPhase::spread, 4), {i}) == Duration::milliseconds(250) * i);
    }
    CHECK(set_phase(plan_of(SetPhase::spread, 3), {1}) == Duration{333333333});
    CHECK(set_phase(plan_of(SetPhase::spread, 3), {2}) == Duration{666666666});
    CHECK(set_phase(plan_of(SetPhase::spread, 1), {0}) == Duration{});
    // Beyond what 64 bits hold on the way.
    const Duration hours = Duration::seconds(36000);
    CHECK(set_phase(plan_of(SetPhase::spread, 1000000, hours), {999999}) ==
          hours - Duration::milliseconds(36));
}

TEST_CASE("Random phases are fixed by the seed, and the same share of any interval") {
    constexpr std::uint32_t producers = 1000;
    const Plan plan = plan_of(SetPhase::random, producers);
    std::set<std::int64_t> phases;
    double sum = 0;
    for (std::uint32_t i = 0; i < producers; ++i) {
        const Duration phase = set_phase(plan, {i});
        CHECK(phase >= Duration{});
        CHECK(phase < plan.interval);
        CHECK(set_phase(plan, {i}) == phase);
        phases.insert(phase.ns);
        sum += phase.in_seconds();
        const Duration tenth =
            set_phase(plan_of(SetPhase::random, producers, Duration::milliseconds(100)), {i});
        CHECK(std::abs(phase.ns - tenth.ns * 10) <= 10);
    }
    CHECK(phases.size() == producers);
    // Uniform: mean 1/2, standard deviation 1/sqrt(12 x 1000) = 0.009.
    CHECK(std::abs(sum / producers - 0.5) < 0.036);
    CHECK(*phases.begin() < 20000000);
    CHECK(*phases.rbegin() > 980000000);
    Plan other = plan;
    other.seed = 6;
    CHECK(set_phase(other, {0}) != set_phase(plan, {0}));
    for (const std::int64_t ns : {1, 2, 1000}) {
        CHECK(set_phase(plan_of(SetPhase::random, 1, Duration{ns}), {0}) < Duration{ns});
    }
}

TEST_CASE("The sets that are due by an instant") {
    const Plan plan = plan_of(SetPhase::spread, 4);  // producer 1: at 250 ms, 1250 ms, ...
    const auto sets = [&](std::int64_t end_ns) {
        return set_bytes_until(plan, {1}, Instant{end_ns}).count / plan.set_bytes().count;
    };
    CHECK(sets(0) == 0);
    CHECK(sets(250000000) == 0);
    CHECK(sets(250000001) == 1);
    CHECK(sets(1250000000) == 1);
    CHECK(sets(3000000000) == 3);
}

TEST_CASE("No set of staggered producers has its deadline after events may be given up") {
    Plan plan = plan_of(SetPhase::spread, 4);
    CHECK(plan.last_deadline() == Instant{} + plan.duration + plan.interval);
    CHECK(plan.give_up_at() == plan.last_deadline());
    plan.set_phase = SetPhase::same;
    CHECK(plan.last_deadline() == Instant{} + plan.duration);
}
