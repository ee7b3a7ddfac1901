// The growing ring: order, growth while wrapped, its bound.
#include "core/ring_queue.hpp"

#include <deque>
#include <memory>

#include "catch.hpp"
#include "core/random.hpp"

using namespace weir::core;

namespace {

struct Broken {};

/// While it lives, a broken invariant is an exception and not the end of the process.
class AssertionsThrow {
  public:
    AssertionsThrow() {
        set_assertion_handler([](const char*, const char*, int) { throw Broken{}; });
    }
    AssertionsThrow(const AssertionsThrow&) = delete;
    AssertionsThrow& operator=(const AssertionsThrow&) = delete;
    ~AssertionsThrow() { set_assertion_handler(nullptr); }
};

}  // namespace

TEST_CASE("A ring queue gives back what came first") {
    RingQueue<int> queue(100);
    CHECK(queue.empty());
    for (int i = 0; i < 100; ++i) {
        queue.push(i);
    }
    CHECK(queue.size() == 100);
    CHECK(queue.front() == 0);
    CHECK(queue.at(42) == 42);
    for (int i = 0; i < 100; ++i) {
        CHECK(queue.pop() == i);
    }
    CHECK(queue.empty());
}

TEST_CASE("A ring queue keeps its order when it grows in the middle of a turn") {
    RingQueue<int> queue(1000);
    int in = 0;
    int out = 0;
    for (; in < 16; ++in) {
        queue.push(in);
    }
    for (; out < 11; ++out) {
        queue.pop();
    }
    for (; in < 300; ++in) {  // the first of these wrap around, later ones make it grow three times
        queue.push(in);
    }
    for (std::size_t position = 0; position < queue.size(); ++position) {
        CHECK(queue.at(position) == out + static_cast<int>(position));
    }
    while (!queue.empty()) {
        CHECK(queue.pop() == out++);
    }
    CHECK(out == 300);
}

TEST_CASE("A ring queue behaves like a deque for any mixture of pushes and pops") {
    RingQueue<std::uint64_t> queue(50);
    std::deque<std::uint64_t> model;
    Random random(1, 2);
    for (std::uint64_t step = 0; step < 20000; ++step) {
        if (random.below(2) == 0 && !queue.full()) {
            queue.push(step);
            model.push_back(step);
        } else if (!queue.empty()) {
            const std::uint64_t value = queue.pop();
            if (value != model.front()) {
                FAIL("wrong element in step " << step);
            }
            model.pop_front();
        }
        if (queue.size() != model.size() || queue.full() != (model.size() == 50)) {
            FAIL("wrong size in step " << step);
        }
    }
}

TEST_CASE("A ring queue holds as many elements as its bound and not one more") {
    const AssertionsThrow guard;
    RingQueue<int> queue(3);
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(queue.full());
        queue.push(i);
    }
    CHECK(queue.full());
    CHECK_THROWS_AS(queue.push(3), Broken);
    CHECK(queue.pop() == 0);
    queue.push(3);
    CHECK(queue.at(2) == 3);

    RingQueue<int> nothing(0);
    CHECK(nothing.full());
    CHECK(nothing.empty());
    CHECK_THROWS_AS(nothing.push(1), Broken);
}

TEST_CASE("An empty ring queue has no front") {
    const AssertionsThrow guard;
    RingQueue<int> queue(3);
    CHECK_THROWS_AS(queue.front(), Broken);
    CHECK_THROWS_AS(queue.pop(), Broken);
    queue.push(1);
    CHECK_THROWS_AS(queue.at(1), Broken);
}

TEST_CASE("A ring queue takes elements that can only be moved") {
    RingQueue<std::unique_ptr<int>> queue(40);
    for (int i = 0; i < 40; ++i) {
        queue.push(std::make_unique<int>(i));
    }
    for (int i = 0; i < 40; ++i) {
        CHECK(*queue.pop() == i);
    }
}
