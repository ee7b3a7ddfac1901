#include "core/producer_parts.hpp"

#include <vector>

#include "catch.hpp"

using namespace weir::core;

namespace {

Plan plan_of(SendOrder order, std::uint32_t consumers) {
    Plan plan;
    plan.producers = 4;
    plan.consumers = consumers;
    plan.slots = 2;
    plan.order = order;
    return plan;
}

std::vector<std::uint32_t> served(SendOrder order, std::uint32_t producer, std::uint32_t consumers,
                                  const std::vector<std::uint32_t>& granted) {
    GrantQueue queue(plan_of(order, consumers), {producer});
    for (const std::uint32_t consumer : granted) {
        queue.push({{{consumer}, {0}}, {}});
    }
    std::vector<std::uint32_t> order_served;
    while (!queue.empty()) {
        order_served.push_back(queue.pop().grant.consumer.value);
    }
    return order_served;
}

using Order = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("Grants are served as assigned, or in turn from another consumer on") {
    const Order granted{2, 0, 0, 1, 3};
    CHECK(served(SendOrder::assigned, 1, 4, granted) == granted);
    CHECK(served(SendOrder::barrel, 0, 4, granted) == Order{0, 1, 2, 3, 0});
    CHECK(served(SendOrder::barrel, 1, 4, granted) == Order{1, 2, 3, 0, 0});
    CHECK(served(SendOrder::barrel, 3, 4, granted) == Order{3, 0, 1, 2, 0});
}

TEST_CASE("The turn goes around also with more consumers than a word has bits") {
    CHECK(served(SendOrder::barrel, 70, 150, {0, 63, 64, 69, 149}) == Order{149, 0, 63, 64, 69});
    CHECK(served(SendOrder::barrel, 64, 128, {63, 64, 127}) == Order{64, 127, 63});
}

TEST_CASE("No more grants wait than a consumer has slots") {
    GrantQueue queue(plan_of(SendOrder::barrel, 3), {0});
    queue.push({{{1}, {0}}, {}});
    CHECK_FALSE(queue.full({1}));
    queue.push({{{1}, {1}}, {}});
    CHECK(queue.full({1}));
    CHECK_FALSE(queue.full({2}));
}
