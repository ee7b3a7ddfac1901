// Parts that a consumer or a scheduler has only where its plan needs them.
#include "core/consumer_parts.hpp"
#include "catch.hpp"
#include "core/scheduler.hpp"

using namespace weir::core;

TEST_CASE("Turns of producers begin with the consumer's own number and leave out who has nothing left") {
    Plan plan;
    plan.producers = 3;
    ProducerTurns turns(plan, ConsumerId{4});
    CHECK(turns.next({}) == ProducerId{1});
    CHECK(turns.next(ProducerId{1}) == ProducerId{2});
    turns.leave_out(ProducerId{0});
    CHECK(turns.next({}) == ProducerId{1});
    turns.leave_out(ProducerId{1});
    CHECK(turns.next({}) == ProducerId{2});
    CHECK(turns.next({}) == ProducerId{2});
    turns.leave_out(ProducerId{2});
    CHECK_FALSE(turns.next({}));
}

TEST_CASE("With addressed events a slot stays with a producer that sends to the consumer") {
    Plan plan;
    plan.producers = 4;
    plan.consumers = 2;
    plan.traffic = std::make_shared<const TrafficPlan>(
        4, 2, std::vector<TrafficPhase>{{"all", {}, {}}},
        std::vector<TrafficPlan::Entry>{{{1}, {.at = {}, .to = {0}, .bytes = {1}}},
                                        {{3}, {.at = {}, .to = {0}, .bytes = {1}}},
                                        {{2}, {.at = {}, .to = {1}, .bytes = {1}}}});
    ProducerTurns turns(plan, ConsumerId{0});
    CHECK(turns.next({}) == ProducerId{1});
    CHECK(turns.next({}) == ProducerId{3});
    CHECK(turns.next(ProducerId{3}) == ProducerId{3});
    turns.leave_out(ProducerId{3});
    CHECK(turns.next(ProducerId{3}) == ProducerId{1});
}

TEST_CASE("Events are processed back to back in the order in which they were added") {
    EventProcessing processing(Sampler({.kind = DistributionKind::fixed, .mean = 10}, Random(1, 1)), 2);
    CHECK(processing.until() == Instant::never());
    CHECK_FALSE(processing.next_processed(Instant{100}));
    processing.add(Instant{5}, SlotId{1});
    processing.slow_down(3);
    processing.add(Instant{6}, SlotId{0});
    CHECK(processing.until() == Instant{15});
    const auto first = processing.next_processed(Instant{40});
    REQUIRE(first);
    CHECK(first->slot == SlotId{1});
    CHECK(first->time == Duration{10});
    CHECK(processing.until() == Instant{45});  // 15 + 3 x 10, although this was noticed at 40
    CHECK_FALSE(processing.next_processed(Instant{44}));
    CHECK(processing.next_processed(Instant{45})->slot == SlotId{0});
    CHECK_FALSE(processing.busy());
}

TEST_CASE("An event is offered in common when every producer has offered it") {
    CommonOffers offers(2);
    CHECK(offers.events() == 0);
    offers.add(ProducerId{0}, {3, {300}}, 3);
    CHECK(offers.events() == 0);
    CHECK(offers.begun_events() == 3);
    offers.add(ProducerId{1}, {2, {100}}, 2);
    CHECK(offers.events() == 2);
    CHECK(offers.bytes() == Bytes{400});
    CHECK(offers.mean_event() == Bytes{160});  // two fragments of 80
    offers.limit(ProducerId{1}, 1);
    CHECK(offers.events() == 1);
    CHECK_FALSE(offers.end_one());
    CHECK(offers.end_one());
}

TEST_CASE("No more fragments are asked for than allowed, and the next when one is complete") {
    Plan plan;
    plan.producers = 3;
    plan.consumers = 2;
    plan.slots = 2;
    plan.pattern = Pattern::build;
    plan.initiation = Initiation::pull;
    plan.order = SendOrder::barrel;
    plan.requests = 2;
    FragmentRequests requests(plan, ConsumerId{1});
    Actions out;
    requests.add(plan, Assign{SlotId{1}, ProducerId{0}, 7}, out);
    REQUIRE(out.messages.size() == 2);
    CHECK(out.messages[0].to == node_of(ProducerId{1}));
    CHECK(std::get<Grant>(out.messages[0].message) == Grant{ConsumerId{1}, PlaceId{4}, 7});
    CHECK(out.messages[1].to == node_of(ProducerId{2}));
    CHECK(requests.is_waiting(PlaceId{5}));
    CHECK_FALSE(requests.is_waiting(PlaceId{3}));
    requests.complete(PlaceId{5}, out);
    REQUIRE(out.messages.size() == 3);
    CHECK(out.messages[2].to == node_of(ProducerId{0}));
    CHECK_FALSE(requests.is_waiting(PlaceId{5}));
}
