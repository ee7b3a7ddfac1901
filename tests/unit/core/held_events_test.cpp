#include "core/waiting_events.hpp"

#include <limits>
#include <memory>
#include <vector>

#include "catch.hpp"
#include "core/traffic_plan.hpp"
#include "unit/core/driven_producer.hpp"

using namespace weir::core;
using namespace weir::core::test;

namespace core_held_events_test_file {
namespace {

TrafficPlan::Entry entry(std::int64_t at_ns, std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
    return {{from}, {.at = {at_ns}, .to = {to}, .bytes = {bytes}}};
}

/// Producer 1 sends 100 bytes at once, then 200 when consumer 1 has received 300 of producer 0, and 50 when
/// it has received those and 80 of producer 2, and has computed for 10 ms.
Plan plan_with_steps() {
    Plan plan = small_plan();
    plan.producers = 3;
    plan.interval = Duration::seconds(1);
    plan.traffic = std::make_shared<const TrafficPlan>(
        3, 3, std::vector<TrafficPhase>{{"all", {}, plan.interval}},
        std::vector{entry(0, 0, 1, 300), entry(0, 1, 2, 100), entry(0, 2, 1, 80), entry(1, 1, 2, 200),
                    entry(2, 1, 0, 50)},
        true,
        std::vector<Dependency>{
            {3, 0, {}}, {4, 0, Duration::milliseconds(10)}, {4, 2, Duration::milliseconds(10)}});
    plan.buffer = plan.traffic->largest_set();
    return plan;
}

constexpr NodeId own_consumer{Role::consumer, 1};
InputArrived from_producer(std::uint32_t producer, std::int64_t interval = 0) {
    return {producer == 0 ? 0U : 1U, interval};
}

Bytes offered(const Actions& actions) {
    Bytes sum;
    for (const auto& offer : of_kind<Offer>(actions)) {
        sum += offer.message.offered.bytes;
    }
    return sum;
}

}  // namespace

TEST_CASE("A transfer plan knows what waits for an incoming transfer") {
    const Plan plan = plan_with_steps();
    CHECK(plan.traffic->has_dependencies());
    CHECK(plan.traffic->inputs_of({0}).empty());
    CHECK(plan.traffic->inputs_of({1}).size() == 3);
    CHECK(plan.traffic->waiting_for({1}, 0).size() == 2);
    REQUIRE(plan.traffic->waiting_for({1}, 1).size() == 1);
    CHECK(plan.traffic->of({1})[plan.traffic->waiting_for({1}, 1)[0].transfer].bytes == Bytes{50});
}

TEST_CASE("A consumer's transfer is complete with its last byte, in its interval") {
    const Plan plan = plan_with_steps();
    TransferArrivals arrivals(plan.traffic, plan.interval, {1});
    CHECK_FALSE(arrivals.received({0}, Bytes{100}, at_ms(-1000)));
    CHECK_FALSE(arrivals.received({0}, Bytes{200}, at_ms(0)));
    const auto early = arrivals.received({0}, Bytes{200}, at_ms(-1000));
    REQUIRE(early);
    CHECK(early->interval == -1);
    CHECK(arrivals.received({0}, Bytes{100}, at_ms(0))->interval == 0);
    CHECK_FALSE(arrivals.received({0}, Bytes{100}, at_ms(3)));  // no transfer begins then
}

TEST_CASE("A producer offers a transfer when its inputs have arrived and it has computed") {
    Driven producer(plan_with_steps());
    CHECK(offered(producer.time(at_ms(1))) == Bytes{100});
    CHECK(producer->backlog() == Bytes{350});
    CHECK(offered(producer.message(at_ms(2), own_consumer, from_producer(0))) == Bytes{300});
    CHECK(offered(producer.message(at_ms(20), own_consumer, from_producer(2))) == Bytes{});
    CHECK(producer->next_deadline() == at_ms(30));
    CHECK(offered(producer.time(at_ms(29))) == Bytes{});
    CHECK(offered(producer.time(at_ms(30))) == Bytes{50});
}

TEST_CASE("Inputs that are there before the producer has generated what waits for them hold nothing up") {
    Driven producer(plan_with_steps());
    CHECK(producer.message(at_ms(-1), own_consumer, from_producer(0)).messages.empty());
    CHECK(producer.message(at_ms(-1), own_consumer, from_producer(2)).messages.empty());
    CHECK(offered(producer.time(at_ms(9))) == Bytes{350});
}

TEST_CASE("Intervals of the warm-up have inputs of their own") {
    Plan plan = plan_with_steps();
    plan.warmup = plan.interval;
    Driven producer(plan);
    CHECK(offered(producer.time(at_ms(-1000))) == Bytes{100});
    CHECK(offered(producer.message(at_ms(-990), own_consumer, from_producer(0, -1))) == Bytes{300});
    CHECK(offered(producer.time(at_ms(1))) == Bytes{400});  // in all, for consumer 2
    CHECK(producer->backlog() == Bytes{700});
}

TEST_CASE("Impossible messages about inputs are faults and change nothing") {
    Driven producer(plan_with_steps());
    producer.time(at_ms(1));
    const auto is_fault = [&](NodeId from, const InputArrived& input) {
        const Actions out = producer.message(at_ms(2), from, input);
        return out.faults.size() == 1 && out.messages.empty();
    };
    CHECK(is_fault({Role::consumer, 0}, from_producer(0)));
    CHECK(is_fault(scheduler_node(), from_producer(0)));
    CHECK(is_fault(own_consumer, {2, 0}));
    CHECK(is_fault(own_consumer, {0xffffffff, 0}));
    CHECK(is_fault(own_consumer, from_producer(0, -1)));  // there is no warm-up
    CHECK(is_fault(own_consumer, from_producer(0, 2)));   // behind the last interval
    CHECK(is_fault(own_consumer, from_producer(0, std::numeric_limits<std::int64_t>::min())));
    CHECK_FALSE(is_fault(own_consumer, from_producer(0)));
    CHECK(is_fault(own_consumer, from_producer(0)));  // twice
}

TEST_CASE("What still waits for an input at the end of the drain is lost by name") {
    const Plan plan = plan_with_steps();
    Driven producer(plan);
    producer.time(at_ms(1));
    producer.time(at_ms(1001));
    const Actions out = producer.time(plan.give_up_at());
    CHECK(producer->backlog() == Bytes{});
    CHECK(producer->ledger().lost.bytes == Bytes{700});
    CHECK(of_kind<Drained>(out).size() == 1);
}

}  // namespace core_held_events_test_file
