// Consumers that cannot keep up while their slots still take what comes, and what only looks like that.
#include "judge/verdict_growth.hpp"

#include <memory>
#include <vector>

#include "catch.hpp"
#include "core/traffic_plan.hpp"
#include "judged_run.hpp"

namespace judge_slot_growth_test_file {

using namespace weir;
using namespace weir::judge;
using core::Duration;
using record::test::contains;

namespace {

constexpr std::int64_t event = 1'000'000;

/// 2 producers of 1000 events of 1 MB per second, 3 consumers with 5000 slots each.
struct Run : JudgedRun {
    Run() {
        plan.event_size = {.kind = core::DistributionKind::fixed, .mean = event};
        plan.slots = 5000;
        for (std::size_t index = 0; index < 2; ++index) {
            grow(index, 0, 0);
            producer(index).measured.generated = producer(index).run.generated = {10'000, {10'000 * event}};
        }
        for (std::size_t index = 0; index < 3; ++index) {
            queue(index, 0, 0);
            process(index, 600, 9.0);
        }
    }
    /// So many events wait in a consumer's slots in the beginning, and so many more after each second.
    void queue(std::size_t index, std::int64_t first, std::int64_t each) {
        record::BacklogPoints& points = consumer(index).backlog_points;
        points.known = 11;
        for (std::int64_t i = 0; i < 11; ++i) {
            points.bytes.at(static_cast<std::size_t>(i)) = {(first + i * each) * event};
        }
    }
    /// A consumer processed so many events per second, and was busy for so long.
    void process(std::size_t index, std::uint64_t events, double busy_s) {
        consumer(index).measured.processed = {10 * events, {static_cast<std::int64_t>(10 * events) * event}};
        consumer(index).time.processing = Duration{static_cast<std::int64_t>(busy_s * 1e9)};
    }
    void plan_busy(double mean_ms) {
        plan.busy = {.kind = core::DistributionKind::exponential, .mean = mean_ms * 1e6};
    }
};

}  // namespace

TEST_CASE("Consumers that need more time than there is cannot keep up, whatever the run shows") {
    Run run;
    run.plan_busy(1.6);  // for 2000 events on 3 consumers: 1.0667 s in every second
    const Verdict verdict = run.judged();
    CHECK_FALSE(verdict.sustained);
    CHECK_FALSE(verdict.buffer_full_after_s);
    CHECK(verdict.slots_growth_bytes_per_second.value() == Approx(2e9 / 16));
    CHECK(verdict.slots_full_after_s.value() == Approx(10 + 15000 / 125.0));
    CHECK(contains(verdict.text,
                   "NOT sustained: consumers cannot keep up (each would have to process for 1.07 s in every "
                   "second): what waits grows by 125 MB per second, first in their slots, which are full "
                   "after 130 s, then in buffers of producers."));
    REQUIRE(verdict.causes.size() == 1);  // whatever the time of producers looks like
    CHECK(verdict.causes[0].what == CauseKind::processing);
    CHECK(verdict.advice == "Use more consumers, or shorten their processing (--busy)");
    run.plan_busy(1.49);
    CHECK(run.judged().sustained);
    SECTION("where some are not busy, they may take what the others cannot") {
        run.plan_busy(10);
        run.plan.busy_consumers = {1};
        CHECK(run.judged().sustained);
    }
    SECTION("sizes that vary may have made more events than there will be") {
        run.plan.event_size.deviation = 0.1 * event;
        run.plan.event_size.kind = core::DistributionKind::normal;
        run.plan_busy(1.51);
        CHECK(run.judged().sustained);
        run.plan_busy(1.6);
        CHECK_FALSE(run.judged().sustained);
    }
    SECTION("fragments that are one event together are processed once") {
        run.plan.pattern = core::Pattern::build;
        run.plan_busy(2.9);
        CHECK(run.judged().sustained);
        run.plan_busy(3.1);
        CHECK_FALSE(run.judged().sustained);
    }
}

TEST_CASE("Slots that fill while consumers are never idle are an overload, without any plan of it") {
    Run run;
    for (std::size_t index = 0; index < 3; ++index) {
        run.queue(index, 5, 67);
        run.process(index, 600, 10.0);
    }
    Verdict verdict = run.judged();
    CHECK_FALSE(verdict.sustained);
    CHECK(verdict.slots_growth_bytes_per_second.value() == Approx(201e6));
    CHECK(verdict.slots_full_after_s.value() == Approx(10 + 3 * (5000 - 675) / 201.0));
    CHECK(contains(verdict.text, "NOT sustained: consumers cannot keep up: what waits grows by 201 MB per"));
    SECTION("not so if they could take that") {
        for (std::size_t index = 0; index < 3; ++index) {
            run.process(index, 600, 8.9);
        }
        CHECK(run.judged().sustained);
    }
    SECTION("not so if one of them is idle") {
        run.process(2, 600, 5.0);
        CHECK(run.judged().sustained);
    }
    SECTION("not so if what waits only moves from producers to consumers") {
        run.grow(0, 2'000'000'000, -201'000'000);
        CHECK(run.judged().sustained);
    }
    SECTION("not so if they were filled in the beginning") {
        for (std::size_t index = 0; index < 3; ++index) {
            record::BacklogPoints& points = run.consumer(index).backlog_points;
            for (std::size_t i = 6; i < 11; ++i) {
                points.bytes.at(i) = points.bytes.at(5);
            }
        }
        CHECK_FALSE(run.judged().slots_growth_bytes_per_second);
    }
    SECTION("what a short run would not show is no verdict, if they were busy nearly always") {
        for (std::size_t index = 0; index < 3; ++index) {
            run.queue(index, 0, index == 0 ? 30 : 0);
            run.consumer(index).backlog_points.bytes.at(4) = {300 * event};
        }
        const Verdict short_run = run.judged();
        CHECK_FALSE(short_run.judged);
        CHECK(short_run.on_time.value());
        CHECK(contains(short_run.text, "whether that lasts is not known: a backlog in slots of consumers"));
        run.process(0, 600, 5.0);
        CHECK_FALSE(contains(run.judged().text, "would not show"));
    }
}

TEST_CASE("Of addressed events, what waits in one consumer counts, whatever others do") {
    Run run;
    run.plan.traffic = std::make_shared<const core::TrafficPlan>(
        2, 3, std::vector<core::TrafficPhase>{{"all", {}, {}}},
        std::vector<core::TrafficPlan::Entry>{{{0}, {{}, {1}, 0, {event}}}});
    run.queue(1, 0, 50);
    run.process(1, 300, 10.0);
    const Verdict verdict = run.judged();
    CHECK_FALSE(verdict.sustained);
    CHECK(contains(verdict.text, "NOT sustained: consumer 1 on "));
    CHECK(
        contains(verdict.text, " cannot keep up: what waits grows by 50 MB per second, first in its slots,"));
    run.process(1, 300, 8.0);
    CHECK(run.judged().sustained);
}

TEST_CASE("A consumer whose share no other takes is enough to be overloaded") {
    Run run;
    run.plan.policy = core::PolicyKind::round_robin;
    run.plan_busy(1.2);  // 2000 / 3 events in each second: 0.8 s
    run.plan.busy.kind = core::DistributionKind::fixed;
    for (std::size_t index = 0; index < 3; ++index) {
        run.process(index, 600, 7.2);
    }
    CHECK(run.judged().sustained);
    SECTION("if it takes longer than planned: 1.6 ms, 1.07 s, of which an event and a half may be chance") {
        run.process(1, 600, 9.6);
        const Verdict verdict = run.judged();
        CHECK_FALSE(verdict.sustained);
        CHECK(contains(verdict.text, "NOT sustained: consumer 1 on "));
        CHECK(contains(verdict.text, "(it would have to process for 1.07 s in every second)"));
    }
    SECTION("if it alone is busy by plan") {
        run.plan.busy.mean = 2e6;
        run.plan.busy_consumers = {1};
        CHECK(contains(run.judged().text, "(it would have to process for 1.33 s in every second)"));
    }
}

}  // namespace judge_slot_growth_test_file
