// Results of events: sent by a consumer ahead of the credit, expected by the scheduler; and events that were
// offered when no credit was there.
#include <memory>

#include "catch.hpp"
#include "core/consumer.hpp"
#include "core/policies/policy_table.hpp"
#include "core/scheduler.hpp"

namespace core_results_test_file {

using namespace weir::core;

namespace {

constexpr NodeId producer{Role::producer, 0};
constexpr NodeId consumer{Role::consumer, 0};
constexpr EventId first = EventId::of({0}, 0);

Plan plan_with_results(Duration busy) {
    Plan plan;
    plan.producers = plan.consumers = 1;
    plan.rate = {1000000};
    plan.interval = Duration::seconds(1);
    plan.chunk_size = plan.slot_size = {100};
    plan.window = plan.streams = plan.slots = 2;
    plan.policy = PolicyKind::token;
    plan.duration = Duration::seconds(10);
    plan.drain = Duration::seconds(5);
    plan.result_size = {.kind = DistributionKind::fixed, .mean = 28};
    if (busy > Duration{}) {
        plan.busy = {.kind = DistributionKind::fixed, .mean = static_cast<double>(busy.ns)};
    }
    return plan;
}

Consumer consumer_of(const Plan& plan) {
    return {plan, {0}, Sampler(plan.busy, Random(1, 1)), Sampler(plan.result_size, Random(1, 2))};
}

ArrivedChunk whole(EventId event) {
    return {
        .source = producer,
        .chunk = {.event = event, .event_bytes = {100}, .offset = {}, .length = {100}, .generated_at = {}}};
}

/// A scheduler that has granted slot 0 of the consumer to the first event.
std::unique_ptr<Scheduler> granted(const Plan& plan) {
    auto scheduler = std::make_unique<Scheduler>(plan, make_policy(plan, 1));
    Actions out;
    scheduler->on_message(Instant{}, consumer, Ready{{0}}, out);
    scheduler->on_message(Instant{}, producer, Offer{{1, {100}}}, out);
    REQUIRE(out.messages.size() == 1);
    REQUIRE(out.faults.empty());
    return scheduler;
}

Done done(std::uint32_t result_bytes) {
    return Done{.slot = {0},
                .fragments = 1,
                .bytes = {100},
                .hash = ledger_mix(first, {100}),
                .event = first,
                .result_bytes = result_bytes,
                .credit = Done::Credit::given};
}

}  // namespace

TEST_CASE("A consumer that is never busy sends the result with the end of the event") {
    Consumer core = consumer_of(plan_with_results({}));
    Actions out;
    core.on_start(Instant{}, out);
    CHECK(out.results.empty());  // a first credit has no event behind it
    out.clear();
    core.on_chunk(Instant{}, {1}, whole(first), out);
    REQUIRE(out.results.size() == 1);
    CHECK(out.results[0] == SendResult{{1}, first, {28}});
    REQUIRE(out.messages.size() == 1);
    CHECK(std::get<Done>(out.messages[0].message).result_bytes == 28);
    CHECK(core.ledger().results.events == 1);
    CHECK(core.ledger().results.bytes == Bytes{28});
}

TEST_CASE("A busy consumer sends the result when the event is processed") {
    Consumer core = consumer_of(plan_with_results(Duration::milliseconds(5)));
    Actions out;
    core.on_start(Instant{}, out);
    out.clear();
    core.on_chunk(Instant{}, {0}, whole(first), out);
    CHECK(out.results.empty());
    REQUIRE(out.messages.size() == 1);
    CHECK(std::get<Done>(out.messages[0].message).result_bytes == 0);
    out.clear();
    core.on_time(Instant{} + Duration::milliseconds(5), out);
    REQUIRE(out.results.size() == 1);
    CHECK(out.results[0].event == first);
    REQUIRE(out.messages.size() == 1);
    CHECK(std::get<Ready>(out.messages[0].message).result_bytes == 28);
}

TEST_CASE("The scheduler takes a credit with the result that went ahead of it") {
    const auto scheduler = granted(plan_with_results({}));
    Actions out;
    scheduler->on_result(consumer, {{0}, first, {28}}, out);
    scheduler->on_message(Instant{}, consumer, done(28), out);
    CHECK(out.faults.empty());
    CHECK(scheduler->results().events == 1);
    CHECK(scheduler->results().bytes == Bytes{28});
    CHECK(scheduler->free_slots() == 1);
}

TEST_CASE("A result may overtake the end of its event, but not its credit") {
    // As when an event is processed in the turn in which it became whole.
    const auto scheduler = granted(plan_with_results({}));
    Actions out;
    scheduler->on_result(consumer, {{0}, first, {28}}, out);
    Done end = done(0);
    end.credit = Done::Credit::kept;
    scheduler->on_message(Instant{}, consumer, end, out);
    CHECK(out.faults.empty());
    scheduler->on_message(Instant{}, consumer, Ready{{0}, 28}, out);
    CHECK(out.faults.empty());
    CHECK(scheduler->free_slots() == 1);
}

TEST_CASE("A credit without its result is refused, and so is a result that cannot be") {
    Actions out;
    SECTION("none arrived") {
        granted(plan_with_results({}))->on_message(Instant{}, consumer, done(28), out);
    }
    SECTION("another size arrived") {
        const auto scheduler = granted(plan_with_results({}));
        scheduler->on_result(consumer, {{0}, first, {27}}, out);
        REQUIRE(out.faults.empty());
        scheduler->on_message(Instant{}, consumer, done(28), out);
    }
    SECTION("the credit speaks of none") {
        const auto scheduler = granted(plan_with_results({}));
        scheduler->on_result(consumer, {{0}, first, {28}}, out);
        REQUIRE(out.faults.empty());
        scheduler->on_message(Instant{}, consumer, done(0), out);
    }
    SECTION("two for one event") {
        const auto scheduler = granted(plan_with_results({}));
        scheduler->on_result(consumer, {{0}, first, {28}}, out);
        REQUIRE(out.faults.empty());
        scheduler->on_result(consumer, {{0}, first, {28}}, out);
    }
    SECTION("of a slot that is free") {
        Scheduler scheduler(plan_with_results({}), make_policy(plan_with_results({}), 1));
        scheduler.on_message(Instant{}, consumer, Ready{{1}}, out);
        scheduler.on_result(consumer, {{1}, first, {28}}, out);
    }
    SECTION("of a slot that does not exist") {
        granted(plan_with_results({}))->on_result(consumer, {{2}, first, {28}}, out);
    }
    SECTION("from a producer") {
        granted(plan_with_results({}))->on_result(producer, {{0}, first, {28}}, out);
    }
    SECTION("in a run without results") {
        Plan plan = plan_with_results({});
        plan.result_size = {};
        granted(plan)->on_result(consumer, {{0}, first, {28}}, out);
    }
    REQUIRE(out.faults.size() == 1);
    CHECK(out.faults[0].kind == Fault::Kind::protocol_violation);
}

TEST_CASE("Events that find no credit when they are offered are counted") {
    const Plan plan = plan_with_results({});
    Scheduler scheduler(plan, make_policy(plan, 1));
    Actions out;
    const auto offer = [&](std::uint64_t events) {
        scheduler.on_message(Instant{}, producer, Offer{{events, {static_cast<std::int64_t>(100 * events)}}},
                             out);
    };
    const auto ready = [&](std::uint32_t slot) {
        scheduler.on_message(Instant{}, consumer, Ready{{slot}}, out);
    };
    offer(2);
    CHECK(scheduler.events_without_credit() == 2);
    ready(0);  // takes one of them; the other still waits, and is not counted again
    CHECK(scheduler.events_without_credit() == 2);
    ready(1);
    CHECK(scheduler.events_without_credit() == 2);
    scheduler.on_result(consumer, {{0}, first, {28}}, out);
    scheduler.on_message(Instant{}, consumer, done(28), out);  // one credit is there
    offer(5);                                                  // for the first of three
    CHECK(scheduler.events_without_credit() == 4);
    CHECK(out.faults.empty());
}

TEST_CASE("An event that waits for a stream does not lack credits") {
    Plan plan = plan_with_results({});
    plan.streams = 1;
    Scheduler scheduler(plan, make_policy(plan, 1));
    Actions out;
    scheduler.on_message(Instant{}, consumer, Ready{{0}}, out);
    scheduler.on_message(Instant{}, consumer, Ready{{1}}, out);
    scheduler.on_message(Instant{}, producer, Offer{{2, {200}}}, out);
    CHECK(scheduler.waiting_events() == 1);
    CHECK(scheduler.events_without_credit() == 0);
}

}  // namespace core_results_test_file
