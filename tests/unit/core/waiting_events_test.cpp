#include "core/waiting_events.hpp"

#include "catch.hpp"

using namespace weir::core;

namespace {

WaitingEvent waiting_event(std::uint64_t sequence) {
    return {sequence, {100 + static_cast<std::int64_t>(sequence)}, {}, {}};
}

}  // namespace

TEST_CASE("Waiting events are taken from the front or by number, each once") {
    WaitingEvents waiting(8);
    for (const std::uint64_t sequence : {3U, 4U, 6U, 7U}) {  // 5 was lost
        waiting.push(waiting_event(sequence));
    }
    CHECK(waiting.size() == 4);
    CHECK(waiting.pop(6)->bytes == Bytes{106});
    CHECK_FALSE(waiting.pop(6));
    CHECK_FALSE(waiting.pop(5));
    CHECK_FALSE(waiting.pop(2));
    CHECK_FALSE(waiting.pop(8));
    CHECK(waiting.pop_oldest().sequence == 3);
    CHECK(waiting.pop_oldest().sequence == 4);
    CHECK(waiting.pop_oldest().sequence == 7);
    CHECK(waiting.empty());
}

TEST_CASE("Events taken behind one that waits still need room") {
    WaitingEvents waiting(3);
    for (const std::uint64_t sequence : {0U, 1U, 2U}) {
        waiting.push(waiting_event(sequence));
    }
    CHECK(waiting.pop(1));
    CHECK(waiting.pop(2));
    CHECK(waiting.full());
    CHECK(waiting.pop(0));
    CHECK_FALSE(waiting.full());
    CHECK(waiting.empty());
}
