// What may never be said together, and the checker's own account of late sets.
#include "explorer/verdict_check.hpp"

#include "catch.hpp"
#include "simulation/set_oracle.hpp"

using namespace weir::core;
using namespace weir::explorer;
using namespace weir::simulation;
using weir::show::RunRecord;

namespace {

Plan one_set_per_second() {
    Plan plan;
    plan.producers = 1;
    plan.consumers = 1;
    plan.rate = {8000};
    plan.interval = Duration::seconds(1);
    plan.duration = Duration::seconds(4);
    plan.buffer = {1000};
    return plan;
}

RunRecord sustained_record() {
    RunRecord record;
    record.plan = one_set_per_second();
    record.verdict.judged = true;
    record.verdict.sustained = true;
    record.verdict.on_time = true;
    record.verdict.max_occupancy = 1;
    record.verdict.sets = 4;
    return record;
}

constexpr Instant at_ms(std::int64_t ms) {
    return Instant{} + Duration::milliseconds(ms);
}
constexpr EventId event(std::uint64_t sequence) {
    return EventId::of(ProducerId{0}, sequence);
}

}  // namespace

TEST_CASE("A verdict that contradicts its record is found") {
    CHECK(contradiction_in(sustained_record()).empty());
    RunRecord record = sustained_record();
    SECTION("lost events that the verdict does not know") {
        record.ranks.emplace_back();
        record.ranks[0].summary.run.lost = {3, {300}};
    }
    SECTION("sustained with losses") {
        record.ranks.emplace_back();
        record.ranks[0].summary.run.lost = {3, {300}};
        record.verdict.lost_events = 3;
    }
    SECTION("on time with late sets") {
        record.verdict.late_sets = 1;
    }
    SECTION("more late sets than sets") {
        record.verdict.on_time = false;
        record.plan.buffer = {2000};
        record.verdict.late_sets = 5;
    }
    SECTION("sustained with a late set beside the next one in a buffer of one set") {
        record.verdict.on_time = false;
        record.verdict.late_sets = 1;
    }
    SECTION("sustained above occupancy 1") {
        record.verdict.max_occupancy = 1.01;
    }
    SECTION("sustained while a backlog grows") {
        record.verdict.buffer_full_after_s = 30;
    }
    SECTION("a backlog that grows, of sets that were all gone in time") {
        record.verdict.sustained = false;
        record.verdict.buffer_full_after_s = 30;
    }
    SECTION("sustained, although less was received than generated") {
        record.verdict.growth_tolerance_bytes_per_second = 2;
        record.plan.slot_size = {10};
        record.ranks.emplace_back();
        record.ranks[0].summary.measured.generated.bytes = {4000};
        record.ranks[0].summary.measured.received.bytes = {3970};  // 8 by chance, 20 under way
    }
    SECTION("late without a cause") {
        record.verdict.on_time = false;
        record.plan.buffer = {2000};
        record.verdict.late_sets = 1;
    }
    SECTION("on time with a cause") {
        record.verdict.causes.resize(1);
    }
    SECTION("not judged, although a backlog grows") {
        record.verdict.judged = false;
        record.verdict.sustained = false;
        record.verdict.buffer_full_after_s = 5;
    }
    SECTION("a phase faster than its ideal") {
        record.phases = {{.name = "all", .bytes = {}, .shortest = Duration{99}, .ideal = Duration{100}}};
    }
    CHECK_FALSE(contradiction_in(record).empty());
}

TEST_CASE("The oracle finds late sets event by event") {
    SetOracle oracle(one_set_per_second());
    oracle.generated(event(0), {100}, at_ms(0));
    oracle.generated(event(1), {100}, at_ms(0));
    oracle.left(at_ms(500), event(0), {60});
    oracle.left(at_ms(1000), event(0), {40});
    CHECK(oracle.late_sets() == 0);
    oracle.left(Instant{at_ms(1000).ns + 1}, event(1), {100});
    CHECK(oracle.late_sets() == 1);
    oracle.generated(event(2), {100}, at_ms(1000));
    oracle.left_over(event(2));
    oracle.generated(event(3), {100}, at_ms(2000));
    oracle.dropped(event(3));
    oracle.generated(event(4), {100}, at_ms(4000));  // beyond the end
    CHECK(oracle.sets() == 3);
    CHECK(oracle.late_sets() == 2);
}
