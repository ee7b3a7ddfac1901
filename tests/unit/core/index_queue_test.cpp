#include "core/indexed_heap.hpp"

#include <algorithm>
#include <deque>

#include "catch.hpp"
#include "core/random.hpp"

using weir::core::IndexQueue;
using weir::core::Random;

TEST_CASE("An index queue is first in first out and any index may leave") {
    IndexQueue queue(4);
    CHECK(queue.empty());
    for (const std::uint32_t index : {2U, 0U, 3U, 1U}) {
        queue.push_back(index);
    }
    CHECK(queue.front() == 2);
    queue.erase(0);
    queue.erase(0);
    CHECK_FALSE(queue.contains(0));
    queue.erase(2);
    CHECK(queue.front() == 3);
    queue.push_back(2);
    queue.erase(3);
    queue.erase(1);
    CHECK(queue.front() == 2);
    queue.erase(2);
    CHECK(queue.empty());
}

TEST_CASE("An index queue agrees with a deque under random updates") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed, 0);
        const auto capacity = static_cast<std::uint32_t>(1 + random.below(20));
        IndexQueue queue(capacity);
        std::deque<std::uint32_t> model;
        for (int step = 0; step < 300; ++step) {
            const auto index = static_cast<std::uint32_t>(random.below(capacity));
            const auto place = std::find(model.begin(), model.end(), index);
            CAPTURE(seed, step);
            REQUIRE(queue.contains(index) == (place != model.end()));
            if (place == model.end()) {
                queue.push_back(index);
                model.push_back(index);
            } else if (random.below(2) == 0) {
                queue.erase(index);
                model.erase(place);
            }
            REQUIRE(queue.empty() == model.empty());
            if (!model.empty()) {
                REQUIRE(queue.front() == model.front());
            }
        }
    }
}
