#include "core/waiting_events.hpp"
#include "catch.hpp"

using namespace weir::core;

namespace {

WaitingEvent waiting_event(std::uint64_t sequence) {
    return {sequence, {100 + static_cast<std::int64_t>(sequence)}, {}, {}};
}

Grant grant_of(std::uint64_t number) {
    return {.consumer = {}, .place = {}, .number = number};
}

Grant grant_for(std::uint32_t consumer) {
    return {.consumer = {consumer}, .place = {}};
}

Plan plan_of(Pattern pattern) {
    Plan plan;
    plan.pattern = pattern;
    return plan;
}

}  // namespace

TEST_CASE("Waiting events are taken from the front or by number, each once") {
    const auto waiting = make_waiting_events(plan_of(Pattern::build), 8);
    for (const std::uint64_t sequence : {3U, 4U, 6U, 7U}) {  // 5 was lost
        waiting->push(waiting_event(sequence), {});
    }
    CHECK(waiting->size() == 4);
    CHECK(waiting->take(grant_of(6))->bytes == Bytes{106});
    CHECK_FALSE(waiting->take(grant_of(6)));
    CHECK_FALSE(waiting->take(grant_of(5)));
    CHECK_FALSE(waiting->take(grant_of(2)));
    CHECK_FALSE(waiting->take(grant_of(8)));
    CHECK(waiting->pop_oldest().sequence == 3);
    CHECK(waiting->pop_oldest().sequence == 4);
    CHECK(waiting->pop_oldest().sequence == 7);
    CHECK(waiting->empty());
}

TEST_CASE("Events taken behind one that waits still need room") {
    const auto waiting = make_waiting_events(plan_of(Pattern::build), 3);
    for (const std::uint64_t sequence : {0U, 1U, 2U}) {
        waiting->push(waiting_event(sequence), {});
    }
    CHECK(waiting->take(grant_of(1)));
    CHECK(waiting->take(grant_of(2)));
    CHECK(waiting->full());
    CHECK(waiting->take(grant_of(0)));
    CHECK_FALSE(waiting->full());
    CHECK(waiting->empty());
}

TEST_CASE("Without an address a grant is for the oldest event, whatever it names") {
    const auto waiting = make_waiting_events(plan_of(Pattern::distribute), 2);
    CHECK_FALSE(waiting->take(grant_for(1)));
    waiting->push(waiting_event(7), {});
    waiting->push(waiting_event(8), {});
    CHECK(waiting->take(grant_for(1))->sequence == 7);
    CHECK(waiting->addressees().empty());
}

TEST_CASE("Addressed events are taken by consumer, in order, and their room is used again") {
    Plan plan = plan_of(Pattern::distribute);
    plan.consumers = 70;
    plan.traffic = std::make_shared<const TrafficPlan>(1, 70, std::vector<TrafficPhase>{},
                                                       std::vector<TrafficPlan::Entry>{});
    const auto waiting = make_waiting_events(plan, 4);
    waiting->push(waiting_event(0), {69});
    waiting->push(waiting_event(1), {2});
    waiting->push(waiting_event(2), {69});
    CHECK(waiting->addressees()[0] == 4);
    CHECK(waiting->addressees()[1] == 32);
    CHECK_FALSE(waiting->take(grant_for(3)));
    CHECK(waiting->take(grant_for(69))->sequence == 0);
    CHECK(waiting->take(grant_for(69))->sequence == 2);
    CHECK_FALSE(waiting->take(grant_for(69)));
    CHECK(waiting->addressees()[1] == 0);
    for (std::uint64_t sequence = 3; sequence < 6; ++sequence) {
        waiting->push(waiting_event(sequence), {static_cast<std::uint32_t>(sequence) * 10});
    }
    CHECK(waiting->full());
    CHECK(waiting->size() == 4);
    for (const std::uint64_t sequence : {1U, 3U, 4U, 5U}) {
        CHECK(waiting->pop_oldest().sequence == sequence);
    }
    CHECK(waiting->empty());
    CHECK(waiting->addressees()[0] == 0);
}
