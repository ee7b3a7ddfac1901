#include "core/producer_parts.hpp"

#include "catch.hpp"

using namespace weir::core;

namespace {

Plan plan_that_asks_again() {
    Plan plan;
    plan.producers = 2;
    plan.consumers = 2;
    plan.slots = 2;
    plan.transport = TransportKind::datagram;
    plan.reasks = 1;
    return plan;
}

WaitingEvent event(std::uint64_t sequence) {
    return {sequence, {100}, {}, {}};
}

constexpr Destination there{{1}, {0}};

}  // namespace

TEST_CASE("A fragment is kept until it is taken") {
    RetainedFragments retained(plan_that_asks_again());
    CHECK(retained.empty());
    retained.keep(there, event(5));
    CHECK(retained.keeps(there, 5));
    CHECK_FALSE(retained.keeps(there, 4));
    CHECK_FALSE(retained.release(there, 4));
    const auto released = retained.release(there, 5);
    REQUIRE(released);
    CHECK(released->sequence == 5);
    CHECK(released->bytes == Bytes{100});
    CHECK(retained.empty());
}

TEST_CASE("What is asked for again is sent once, and not if it was taken meanwhile") {
    RetainedFragments retained(plan_that_asks_again());
    retained.keep(there, event(5));
    CHECK(retained.ask_again(there, 5));
    CHECK_FALSE(retained.ask_again(there, 5));
    CHECK(retained.pop_asked()->event.sequence == 5);
    CHECK_FALSE(retained.pop_asked());
    CHECK(retained.ask_again(there, 5));
    CHECK(retained.release(there));
    // The place is used anew before the request was looked at: it is not for the new fragment.
    retained.keep(there, event(6));
    CHECK_FALSE(retained.pop_asked());
    CHECK(retained.ask_again(there, 6));
    CHECK(retained.pop_asked()->event.sequence == 6);
}
