// Messages and chunks that no right peer sends: refused, so that no sum leaves its range and no assertion
// about this program's own bookkeeping breaks. Found by the harnesses in tests/fuzz.
#include <limits>
#include <vector>

#include "catch.hpp"
#include "core/consumer.hpp"
#include "core/distribution.hpp"
#include "core/plan.hpp"
#include "core/policies/policy_table.hpp"
#include "core/producer.hpp"
#include "core/scheduler.hpp"

namespace core_impossible_messages_test_file {

namespace {

using namespace weir::core;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr NodeId some_producer{Role::producer, 0};
constexpr NodeId some_consumer{Role::consumer, 0};

/// Sets of four events of 100 bytes each second, for ten seconds.
Plan plan_of(Pattern pattern = Pattern::distribute) {
    Plan plan;
    plan.pattern = pattern;
    plan.producers = 2;
    plan.consumers = 1;
    plan.policy = PolicyKind::token;
    plan.rate = {3200};
    plan.interval = Duration::seconds(1);
    plan.event_size = {.kind = DistributionKind::fixed, .mean = 100};
    plan.buffer = {400};
    plan.chunk_size = {100};
    plan.slot_size = {100};
    plan.window = 1;
    plan.slots = 2;
    plan.streams = 2;
    plan.requests = 1;
    plan.duration = Duration::seconds(10);
    plan.drain = Duration::seconds(1);
    return plan;
}

Plan lossy_plan() {
    Plan plan = plan_of();
    plan.transport = TransportKind::datagram;
    plan.reasks = 1;
    plan.fragment_timeout = Duration::seconds(1);
    return plan;
}

/// A node whose every input returns what it led to.
template <typename Node>
struct Driven {
    Node node;
    Instant now{};

    Actions take(NodeId from, const ControlMessage& message) {
        Actions out;
        node.on_message(now, from, message, out);
        return out;
    }
    bool refuses(NodeId from, const ControlMessage& message) {
        const Actions out = take(from, message);
        return out.faults.size() == 1 && out.faults[0].kind == Fault::Kind::protocol_violation;
    }
    Actions chunk(PlaceId place, EventId event, Instant generated_at = {}) {
        ArrivedChunk arrived;
        arrived.source = node_of(event.producer());
        arrived.chunk = {.event = event,
                         .event_bytes = {100},
                         .offset = {},
                         .length = {100},
                         .generated_at = generated_at};
        Actions out;
        node.on_chunk(now, place, arrived, out);
        return out;
    }
};

Driven<Scheduler> scheduler_of(const Plan& plan) {
    return {Scheduler(plan, make_policy(plan, 1))};
}

Driven<Producer> producer_of(const Plan& plan) {
    return {Producer(
        plan, {0},
        EventGenerator(plan, Sampler(plan.event_size, Random(1, 1)), Instant{}, Instant{plan.duration.ns}))};
}

/// With its slots open.
Driven<Consumer> consumer_of(const Plan& plan) {
    Driven<Consumer> consumer{Consumer(plan, {0}, Sampler(plan.busy, Random(1, 1)))};
    Actions out;
    consumer.node.on_start(Instant{}, out);
    return consumer;
}

ControlMessage offer(std::uint64_t events, std::int64_t bytes, Offer::More more = Offer::More::expected) {
    return Offer{{events, {bytes}}, more};
}

}  // namespace

TEST_CASE("A plan bounds how much a producer can have generated") {
    Plan plan = plan_of();
    plan.warmup = Duration::seconds(2);
    CHECK(most_generated(plan) == Bytes{13 * 400});  // a set at either end
    plan.generation = Generation::steady;
    CHECK(most_generated(plan) == Bytes{12 * 400});
    CHECK(most_events(plan) == 12 * 400);
    plan.generation = Generation::saturate;
    CHECK(most_generated(plan) == Bytes{largest});
    CHECK(most_events(plan) == EventId::sequence_limit);

    // A week at 800 Gb/s.
    plan.generation = Generation::sets;
    plan.rate = {800000000000};
    plan.duration = Duration::seconds(7 * 24 * 3600);
    CHECK(most_generated(plan) == Bytes{100000000000 * (7 * 24 * 3600 + 3)});
}

TEST_CASE("Events and bytes belong together") {
    const Plan plan = plan_of();
    CHECK(is_amount(plan, {0, {0}}));
    CHECK(is_amount(plan, {3, {3}}));
    CHECK(is_amount(plan, {3, {300}}));
    CHECK_FALSE(is_amount(plan, {3, {2}}));
    CHECK_FALSE(is_amount(plan, {3, {301}}));
    CHECK_FALSE(is_amount(plan, {0, {1}}));
    CHECK_FALSE(is_amount(plan, {1, {-1}}));
    CHECK_FALSE(is_amount(plan, {std::numeric_limits<std::uint64_t>::max(), {largest}}));
}

TEST_CASE("An offer of more than the plan gives is refused, whatever the pattern") {
    for (const Pattern pattern : {Pattern::distribute, Pattern::build}) {
        Plan plan = plan_of(pattern);
        auto scheduler = scheduler_of(plan);
        CHECK(scheduler.refuses(some_producer, offer(1, largest)));
        CHECK(scheduler.refuses(some_producer, offer(1, -1)));
        CHECK(scheduler.refuses(some_producer, offer(1, 0)));
        CHECK(scheduler.refuses(some_producer, offer(1, 101)));
        // Counted up, this would be no fragment at all.
        CHECK(scheduler.refuses(some_producer, offer(std::numeric_limits<std::uint64_t>::max(), largest)));
        CHECK(scheduler.refuses(some_producer, offer(4401, 4401)));
        CHECK(scheduler.take(some_producer, offer(44, 4400)).faults.empty());
        CHECK(scheduler.refuses(some_producer, offer(45, 4400)));
        CHECK(scheduler.refuses(some_producer, offer(44, 4399)));
    }
}

TEST_CASE("Offers without a rate are refused when no sum can hold them") {
    Plan plan = plan_of(Pattern::build);
    plan.generation = Generation::saturate;
    plan.slot_size = {std::int64_t{1} << 20U};
    auto scheduler = scheduler_of(plan);
    const std::uint64_t events = std::uint64_t{1} << 43U;
    const std::int64_t bytes = largest - 5;
    CHECK(scheduler.take(some_producer, offer(events, bytes)).faults.empty());
    CHECK(scheduler.refuses({Role::producer, 1}, offer(events, bytes)));
    CHECK(scheduler.take({Role::producer, 1}, offer(5, 5)).faults.empty());
}

TEST_CASE("An end with more than was granted is refused") {
    auto scheduler = scheduler_of(plan_of());
    scheduler.take(some_consumer, Ready{{0}});
    scheduler.take(some_producer, offer(2, 200));
    CHECK(scheduler.refuses(some_producer, Drained{{2, {200}}}));
    CHECK(scheduler.refuses(some_producer, Drained{{1, {101}}}));
    CHECK(scheduler.take(some_producer, Drained{{1, {100}}}).faults.empty());
}

TEST_CASE("Progress is refused unless it was asked for, and when it cannot be") {
    auto scheduler = scheduler_of(plan_of());
    const Progress progress{{1, {100}}};
    CHECK(scheduler.refuses(some_consumer, progress));
    Plan plan = plan_of();
    plan.policy = PolicyKind::none;
    auto direct = scheduler_of(plan);
    CHECK(direct.refuses(some_consumer, progress));
    direct.take(some_producer, Drained{{1, {100}}});
    direct.take({Role::producer, 1}, Drained{{1, {100}}});
    CHECK(direct.refuses(some_consumer, Progress{{1, {-1}}}));
    CHECK(direct.refuses(some_consumer, Progress{{~std::uint64_t{0}, {1}}}));
    CHECK(direct.take(some_consumer, progress).faults.empty());
}

TEST_CASE("A ledger entry that no sum can hold is refused") {
    auto scheduler = scheduler_of(plan_of());
    Actions out;
    scheduler.node.finish(out);
    const LedgerPart entry{LedgerEntry{0}, {1, {largest}, 0}};
    CHECK(scheduler.take(some_producer, entry).faults.empty());
    CHECK(scheduler.refuses({Role::producer, 1}, entry));
    CHECK(scheduler.refuses({Role::producer, 1}, LedgerPart{LedgerEntry{0}, {0, {-1}, 0}}));
}

TEST_CASE("A result of a slot that held no event is refused") {
    Plan plan = plan_of();
    plan.result_size = {.kind = DistributionKind::fixed, .mean = 10};
    auto scheduler = scheduler_of(plan);
    Actions out;
    scheduler.node.on_result(some_consumer, {{0}, EventId::of({0}, 0), {10}}, out);
    CHECK(out.faults.size() == 1);
    scheduler.take(some_consumer, Ready{{0}});
    scheduler.take(some_producer, offer(1, 100));
    scheduler.node.on_result(some_consumer, {{0}, EventId::of({1}, 0), {10}}, out);
    CHECK(out.faults.size() == 2);
    scheduler.node.on_result(some_consumer, {{0}, EventId::of({0}, 0), {largest}}, out);
    CHECK(out.faults.size() == 3);
    scheduler.node.on_result(some_consumer, {{0}, EventId::of({0}, 0), {10}}, out);
    CHECK(out.faults.size() == 3);
}

TEST_CASE("A tick of no time is refused, one of another run's length is not") {
    Plan plan = plan_of();
    plan.shaping.kind = ShapingKind::in_step;
    plan.shaping.grid = Duration::milliseconds(1);
    plan.shaping.tick = Duration::milliseconds(5);
    auto producer = producer_of(plan);
    const auto tick = [](std::int64_t number) { return Tick{number}; };
    CHECK(producer.refuses(scheduler_node(), tick(largest)));
    CHECK(producer.refuses(scheduler_node(), tick(-largest)));
    CHECK(producer.take(scheduler_node(), tick(-400)).faults.empty());
    CHECK(producer.take(scheduler_node(), tick(200 * 7 * 24 * 3600)).faults.empty());
}

TEST_CASE("A producer makes no more events for others than can wait in their buffers") {
    auto producer = producer_of(plan_of(Pattern::build));
    producer.now = Instant{} + Duration::seconds(10);
    Actions out;
    producer.node.on_time(producer.now, out);
    const std::uint64_t offered = 40;
    CHECK(producer.refuses(scheduler_node(), Complete{~std::uint64_t{0}}));
    CHECK(producer.refuses(scheduler_node(), Complete{offered + 402}));
    CHECK(producer.take(scheduler_node(), Complete{offered + 401}).faults.empty());
}

TEST_CASE("Only the scheduler ends a run") {
    auto producer = producer_of(plan_of());
    CHECK(producer.refuses(some_consumer, Finish{}));
    CHECK_FALSE(producer.node.finished());
    auto consumer = consumer_of(plan_of());
    CHECK(consumer.refuses(some_producer, Finish{}));
    CHECK(consumer.refuses(some_producer, ReportProgress{}));
    CHECK_FALSE(consumer.node.finished());
}

TEST_CASE("A place that was granted twice keeps what left last") {
    auto producer = producer_of(lossy_plan());
    Actions out;
    producer.node.on_time({}, out);
    for (std::uint64_t number = 0; number < 2; ++number) {
        producer.take(scheduler_node(), Grant{{0}, {0}, number});
    }
    producer.node.on_chunk_sent({}, {0}, 0, out);
    producer.node.on_chunk_sent({}, {1}, 0, out);
    CHECK(producer.node.backlog() == Bytes{300});
    producer.take(some_consumer, Taken{EventId::of({0}, 1), {0}});
    CHECK(producer.node.backlog() == Bytes{200});
}

TEST_CASE("Nothing is sent again when the run is over") {
    auto producer = producer_of(lossy_plan());
    Actions out;
    producer.node.on_time({}, out);
    producer.take(scheduler_node(), Grant{{0}, {0}, 0});
    producer.node.on_chunk_sent({}, {0}, 0, out);
    producer.take(scheduler_node(), Finish{});
    const SendAgain again{EventId::of({0}, 0), {0}};
    CHECK(producer.take(some_consumer, again).chunks.empty());
}

TEST_CASE("Pull: a fragment that was not asked for is refused") {
    Plan plan = plan_of(Pattern::build);
    plan.initiation = Initiation::pull;
    auto consumer = consumer_of(plan);
    CHECK(consumer.chunk({0}, EventId::of({0}, 7)).faults.size() == 1);
    const Actions asked = consumer.take(scheduler_node(), Assign{{0}, {0}, 7});
    REQUIRE(asked.messages.size() == 1);  // one request at a time: for fragment 0
    CHECK(consumer.chunk({1}, EventId::of({1}, 7)).faults.size() == 1);
    CHECK(consumer.refuses({Role::producer, 1}, Decline{{0}, {1}, 7}));
    CHECK(consumer.chunk({0}, EventId::of({0}, 7)).faults.empty());
    CHECK(consumer.chunk({1}, EventId::of({1}, 7)).faults.empty());
}

TEST_CASE("Pull: only the producer that the event is of may send it") {
    Plan plan = plan_of();
    plan.initiation = Initiation::pull;
    auto consumer = consumer_of(plan);
    consumer.take(scheduler_node(), Assign{{0}, {1}});
    CHECK(consumer.chunk({0}, EventId::of({0}, 7)).faults.size() == 1);
    CHECK(consumer.chunk({0}, EventId::of({1}, 7)).faults.empty());
}

TEST_CASE("Pull: an event number that no event has is refused") {
    Plan plan = plan_of(Pattern::build);
    plan.initiation = Initiation::pull;
    auto consumer = consumer_of(plan);
    const std::uint64_t number = EventId::sequence_limit;
    CHECK(consumer.refuses(scheduler_node(), Assign{{0}, {0}, number}));
    consumer.take(scheduler_node(), Assign{{0}, {0}, 3});
    CHECK(consumer.refuses(some_producer, Decline{{0}, {0}, number + 3}));
}

TEST_CASE("Policy none: a slot is declined only by the producer that it was granted to") {
    Plan plan = plan_of();
    plan.policy = PolicyKind::none;
    auto consumer = consumer_of(plan);  // slot 0 to producer 0, slot 1 to producer 1
    CHECK(consumer.refuses({Role::producer, 1}, Decline{{0}, {0}}));
    CHECK(consumer.chunk({0}, EventId::of({1}, 0)).faults.size() == 1);
    const Actions passed_on = consumer.take(some_producer, Decline{{0}, {0}});
    REQUIRE(passed_on.messages.size() == 1);
    CHECK(passed_on.messages[0].to == NodeId{Role::producer, 1});
}

TEST_CASE("An event that was generated before the run is refused") {
    auto consumer = consumer_of(plan_of());
    CHECK(consumer.chunk({0}, EventId::of({0}, 0), Instant{-1}).faults.size() == 1);
    CHECK(consumer.chunk({0}, EventId::of({0}, 0), Instant{-largest}).faults.size() == 1);
    CHECK(consumer.chunk({0}, EventId::of({0}, 0), Instant{largest}).faults.size() == 1);
    CHECK(consumer.chunk({0}, EventId::of({0}, 0)).faults.empty());
}

TEST_CASE("What a producer reports of a fragment that it sent must be possible, and stay the same") {
    auto consumer = consumer_of(lossy_plan());
    Sent sent{EventId::of({0}, 0), {100}, {0}, {-largest}, {0}};
    CHECK(consumer.refuses(some_producer, sent));
    sent.generated_at = {};
    CHECK(consumer.take(some_producer, sent).faults.empty());
    CHECK(consumer.take(some_producer, sent).faults.empty());
    sent.bytes = {99};
    CHECK(consumer.refuses(some_producer, sent));
}

}  // namespace core_impossible_messages_test_file
