#include "simulation/event_queue.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "core/random.hpp"

using weir::core::Instant;
using weir::core::Random;
using weir::simulation::EventQueue;

TEST_CASE("an event queue without events has none until the end of time") {
    EventQueue<int> queue;
    CHECK(queue.empty());
    CHECK(queue.size() == 0);
    CHECK(queue.next_time() == Instant::never());
    queue.push(Instant{3}, 1);
    CHECK_FALSE(queue.empty());
    CHECK(queue.pop() == 1);
    CHECK(queue.empty());
    CHECK(queue.next_time() == Instant::never());
}

TEST_CASE("an event queue gives events by time, also times before zero") {
    EventQueue<int> queue;
    queue.push(Instant{5}, 50);
    queue.push(Instant{-7}, -70);
    queue.push(Instant{0}, 0);
    queue.push(Instant::never(), 99);
    queue.push(Instant{4}, 40);
    CHECK(queue.size() == 5);
    for (const int expected : {-70, 0, 40, 50, 99}) {
        CHECK(queue.pop() == expected);
    }
    CHECK(queue.empty());
}

TEST_CASE("an event queue gives events of the same time in the order they were put in") {
    EventQueue<int> queue;
    // More than one level of the heap, and an earlier event so that the others move.
    for (int event = 0; event < 100; ++event) {
        queue.push(Instant{8}, event);
    }
    queue.push(Instant{7}, -1);
    CHECK(queue.next_time() == Instant{7});
    for (int event = -1; event < 100; ++event) {
        REQUIRE(queue.pop() == event);
        if (event == 50) {
            // Behind those that are there, although its place in the heap may be nearer to the top.
            queue.push(Instant{8}, 100);
        }
    }
    CHECK(queue.pop() == 100);
}

TEST_CASE("an event queue agrees with a stable sort of all events at once") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        struct Timed {
            std::int64_t at = 0;
            std::uint32_t number = 0;
        };
        Random random(seed, 0);
        std::vector<Timed> expected(1 + random.below(500));
        const std::uint64_t times = 1 + random.below(100);
        EventQueue<std::uint32_t> queue;
        for (std::uint32_t number = 0; number < expected.size(); ++number) {
            expected[number] = {static_cast<std::int64_t>(random.below(times)) - 50, number};
            queue.push(Instant{expected[number].at}, number);
        }
        std::stable_sort(expected.begin(), expected.end(),
                         [](const Timed& a, const Timed& b) { return a.at < b.at; });
        for (const Timed& next : expected) {
            REQUIRE(queue.next_time() == Instant{next.at});
            REQUIRE(queue.pop() == next.number);
        }
        REQUIRE(queue.empty());
    }
}

TEST_CASE("an event queue agrees with a sorted list while events come and go") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        struct Timed {
            std::int64_t at = 0;
            std::uint32_t number = 0;
        };
        Random random(seed, 1);
        EventQueue<std::uint32_t> queue;
        std::vector<Timed> model;  // sorted; equal times in the order of their coming
        std::int64_t now = 0;
        for (std::uint32_t step = 0; step < 500; ++step) {
            CAPTURE(seed, step);
            // Rises and falls, so that the queue is now and then empty.
            if (random.below(100) < (step / 100 % 2 == 0 ? 60U : 40U)) {
                const Timed event{now + static_cast<std::int64_t>(random.below(20)), step};
                queue.push(Instant{event.at}, event.number);
                model.insert(std::upper_bound(model.begin(), model.end(), event,
                                              [](const Timed& a, const Timed& b) { return a.at < b.at; }),
                             event);
            } else if (!model.empty()) {
                now = model.front().at;
                REQUIRE(queue.pop() == model.front().number);
                model.erase(model.begin());
            }
            REQUIRE(queue.size() == model.size());
            REQUIRE(queue.next_time() == (model.empty() ? Instant::never() : Instant{model.front().at}));
        }
    }
}

TEST_CASE("an event queue keeps the order while events come and go, near and far") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        Random random(seed, 1);
        // A few delays, as of messages, disorder among them, and some events far ahead.
        const auto delay = [&]() -> std::int64_t {
            const std::uint64_t kind = random.below(10);
            return kind < 6   ? static_cast<std::int64_t>(kind) * 1000
                   : kind < 9 ? static_cast<std::int64_t>(random.below(20000))
                              : static_cast<std::int64_t>(random.below(20000000));
        };
        EventQueue<std::uint32_t> queue;
        std::set<std::pair<std::int64_t, std::uint32_t>> expected;
        std::int64_t now = -5000000;
        std::uint32_t number = 0;
        for (int step = 0; step < 2000; ++step) {
            for (std::uint64_t more = random.below(3); more > 0; --more) {
                const std::int64_t at = now + delay();
                queue.push(Instant{at}, number);
                expected.emplace(at, number++);
            }
            if (!expected.empty()) {
                const auto [at, event] = *expected.begin();
                expected.erase(expected.begin());
                REQUIRE(queue.next_time() == Instant{at});
                REQUIRE(queue.pop() == event);
                now = at;
            }
            REQUIRE(queue.size() == expected.size());
        }
    }
}
