#include "record/set_deadlines.hpp"

#include "catch.hpp"
#include "test_runs.hpp"

using namespace weir::record;
using namespace weir::core;

namespace {

constexpr Duration after_ms(std::int64_t value) {
    return Duration::milliseconds(value);
}
constexpr Instant at_ms(std::int64_t value) {
    return Instant{} + after_ms(value);
}

Plan plan_of(Generation generation) {
    Plan plan = test::small_plan();
    plan.generation = generation;
    plan.interval = Duration::seconds(1);
    plan.duration = Duration::seconds(10);
    return plan;
}

/// As a recorder calls it: time moves, then something is observed.
struct Driven {
    explicit Driven(Generation generation) : deadlines(plan_of(generation)) {}

    void generate(std::int64_t generated_ms, int events = 1) {
        for (int i = 0; i < events; ++i) {
            deadlines.generated(at_ms(generated_ms));
        }
    }
    void gone(std::int64_t now_ms, std::int64_t generated_ms) {
        deadlines.advance(at_ms(now_ms));
        deadlines.gone(at_ms(now_ms), after_ms(now_ms - generated_ms));
    }
    void advance(std::int64_t now_ms) { deadlines.advance(at_ms(now_ms)); }

    SetDeadlines deadlines;
};

}  // namespace

TEST_CASE("A set is on time if its last byte goes at the instant of the next one, and late after it") {
    Driven exact(Generation::sets);
    exact.generate(0, 2);
    exact.gone(500, 0);
    exact.gone(1000, 0);
    exact.advance(1001);
    CHECK(exact.deadlines.account().sets == 1);
    CHECK(exact.deadlines.account().late == 0);
    CHECK(exact.deadlines.account().least_slack == Duration{});

    Driven late(Generation::sets);
    late.generate(0, 2);
    late.gone(500, 0);
    late.deadlines.advance(Instant{} + Duration::seconds(1) + Duration{1});
    CHECK(late.deadlines.account().late == 1);  // known at once, not only when it is gone
    CHECK(late.deadlines.report_newly_late() == 1);
    late.gone(1300, 0);
    CHECK(late.deadlines.account().sets == 1);
    CHECK(late.deadlines.account().late == 1);
    CHECK(late.deadlines.account().first_late_second == 1);
    CHECK(late.deadlines.account().least_slack == after_ms(-300));
    CHECK(late.deadlines.report_newly_late() == 0);
}

TEST_CASE("Every set of a backlog that never empties is late, however long the run") {
    Driven run(Generation::sets);
    run.generate(0, 2);
    for (int second = 1; second < 10; ++second) {
        run.advance(second * 1000);
        run.generate(second * 1000, 2);
        run.gone(second * 1000 + 100, (second - 1) * 1000);
    }
    run.advance(10001);
    CHECK(run.deadlines.account().sets == 10);
    CHECK(run.deadlines.account().late == 10);
    CHECK(run.deadlines.account().first_late_second == 1);
    CHECK(run.deadlines.account().least_slack == after_ms(-100));
    run.gone(25000, 3000);  // of a set that is not remembered any more
    CHECK(run.deadlines.account().late == 10);
    CHECK(run.deadlines.account().least_slack == after_ms(-21000));
}

TEST_CASE("Sets of the warm-up, and events that come after the end, are not judged") {
    Driven run(Generation::sets);
    run.generate(-1000);
    run.advance(500);
    run.gone(600, -1000);
    run.generate(10000);
    run.advance(12000);
    run.deadlines.end();
    CHECK(run.deadlines.account() == SetsInTime{});
}

TEST_CASE("With steady generation every event has its own deadline") {
    Driven run(Generation::steady);
    run.generate(100);
    run.generate(900);
    run.gone(1050, 100);  // 950 ms after it was generated, and in the next interval
    run.generate(1500);
    run.gone(1600, 900);
    run.advance(2001);
    CHECK(run.deadlines.account().sets == 1);
    CHECK(run.deadlines.account().late == 0);
    CHECK(run.deadlines.account().least_slack == after_ms(50));
    run.gone(2501, 1500);
    CHECK(run.deadlines.account().late == 1);
    CHECK(run.deadlines.account().first_late_second == 2);
    CHECK(run.deadlines.account().least_slack == after_ms(-1));
    // What is never gone is known when its last deadline has passed.
    run.generate(3200);
    run.advance(5000);
    CHECK(run.deadlines.account().late == 1);
    run.advance(5001);
    CHECK(run.deadlines.account().late == 2);
}

TEST_CASE("Several sets that a producer generates at once, long after they were due, are all late") {
    for (const int sets : {2, 3, 9}) {
        Driven run(Generation::sets);
        run.advance(8999);
        for (int set = 0; set < sets; ++set) {
            run.generate(set * 1000, 3);
        }
        run.advance(9001);
        CHECK(run.deadlines.account().sets == static_cast<std::uint64_t>(sets));
        CHECK(run.deadlines.account().late == static_cast<std::uint64_t>(sets));
    }
    // Also the rest of a set of which a part was gone in time.
    Driven steady(Generation::steady);
    steady.generate(100);
    steady.gone(200, 100);
    steady.advance(5000);
    CHECK(steady.deadlines.account().late == 0);
    steady.generate(900);
    steady.advance(5001);
    CHECK(steady.deadlines.account().sets == 1);
    CHECK(steady.deadlines.account().late == 1);
    // And if so many sets come with it that the first one is not remembered.
    Driven many(Generation::steady);
    many.generate(100);
    many.gone(200, 100);
    many.advance(5000);
    for (const int at : {900, 1500, 2500, 3500, 4500}) {
        many.generate(at);
    }
    many.gone(5001, 900);
    CHECK(many.deadlines.account().late == 4);
}

TEST_CASE("A set is late if an event of it is given up before its deadline, and not if one is dropped") {
    Driven run(Generation::sets);
    run.generate(0, 2);
    run.gone(100, 0);
    run.deadlines.left_over(at_ms(400), after_ms(400));
    run.deadlines.end();
    CHECK(run.deadlines.account().late == 1);

    Driven dropped(Generation::sets);
    dropped.generate(0, 2);
    dropped.deadlines.dropped(at_ms(0), after_ms(0));
    dropped.gone(100, 0);
    dropped.deadlines.end();
    CHECK(dropped.deadlines.account().sets == 1);
    CHECK(dropped.deadlines.account().late == 0);
}

TEST_CASE("A run that is broken off does not judge a set whose deadline was still to come") {
    Driven run(Generation::sets);
    run.generate(0);
    run.gone(300, 0);
    run.generate(1000, 2);
    run.gone(1200, 1000);
    run.deadlines.end();
    CHECK(run.deadlines.account().sets == 1);
    CHECK(run.deadlines.account().late == 0);
}

TEST_CASE("With generation saturate there are no deadlines") {
    Driven run(Generation::saturate);
    run.generate(0);
    run.advance(9000);
    run.gone(9000, 0);
    CHECK(run.deadlines.account() == SetsInTime{});
}

TEST_CASE("The deadline of a set with a phase is one interval after it was generated") {
    SetDeadlines deadlines(plan_of(Generation::sets), after_ms(700));
    deadlines.generated(at_ms(-300));  // of the warm-up
    deadlines.generated(at_ms(700));
    deadlines.advance(at_ms(1700));
    CHECK(deadlines.account().late == 0);
    deadlines.advance(Instant{} + after_ms(1700) + Duration{1});
    CHECK(deadlines.account().late == 1);
    CHECK(deadlines.account().first_late_second == 1);
    deadlines.generated(at_ms(9700));
    deadlines.advance(at_ms(10700));
    deadlines.gone(at_ms(10700), after_ms(1000));
    deadlines.end();
    CHECK(deadlines.account().sets == 2);
    CHECK(deadlines.account().late == 1);
    CHECK(deadlines.account().least_slack == Duration{});
}
