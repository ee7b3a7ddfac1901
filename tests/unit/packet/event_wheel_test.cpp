#include "packet/event_wheel.hpp"

#include <algorithm>
#include <utility>

#include "catch.hpp"
#include "core/random.hpp"

using weir::core::Random;
using weir::packet::EventWheel;
using weir::packet::Item;
using weir::packet::Items;
using weir::packet::Picoseconds;

namespace {

/// Events that are numbers, in a wheel of 4096 slots of 2048 ps.
struct Numbered {
    Items items;
    EventWheel events{Picoseconds{8'388'607}};

    void push(Picoseconds at, int event) {
        events.push(at, items.add(Item::Kind::wake, static_cast<std::uint32_t>(event)));
    }
    int pop() {
        auto* const item = events.pop(events.next_time());
        const auto event = static_cast<int>(item->index);
        items.remove(item);
        return event;
    }
};

}  // namespace

TEST_CASE("Events of equal times come out in the order in which they went in") {
    Numbered numbered;
    EventWheel& events = numbered.events;
    CHECK(events.next_time() == Picoseconds::never());
    for (int event = 0; event < 100; ++event) {
        numbered.push({event % 2 == 0 ? 7 : 5}, event);
    }
    for (int event = 1; event < 100; event += 2) {
        REQUIRE(events.next_time() == Picoseconds{5});
        REQUIRE(events.pop(Picoseconds{4}) == nullptr);
        REQUIRE(numbered.pop() == event);
    }
    for (int event = 0; event < 100; event += 2) {
        REQUIRE(numbered.pop() == event);
    }
    CHECK(events.next_time() == Picoseconds::never());
    CHECK(events.pop(Picoseconds::never()) == nullptr);
}

TEST_CASE("Events come out by time and number, near and far ones mixed") {
    const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{21}));
    Random random(seed, 0);
    Numbered numbered;
    EventWheel& events = numbered.events;
    std::vector<std::pair<Picoseconds, int>> model;  // kept sorted, the next one last
    const auto earlier = [](const auto& a, const auto& b) { return a > b; };
    Picoseconds now;
    for (int step = 0; step < 3000; ++step) {
        if (model.empty() || random.below(100) < 52) {
            // As in the network: a few constants, sometimes far away, and equal times. Some are at the ends
            // of a slot and of the wheel.
            const std::int64_t ahead[] = {0,         82,        2'047,     2'048,     1'000'000,
                                          8'386'560, 8'388'607, 8'388'608, 8'390'656, 67'000'000'000};
            const Picoseconds at = now + Picoseconds{ahead[random.below(10)]};
            numbered.push(at, step);
            model.insert(std::upper_bound(model.begin(), model.end(), std::pair{at, step}, earlier),
                         {at, step});
            continue;
        }
        now = model.back().first;
        REQUIRE(events.next_time() == now);
        REQUIRE(numbered.pop() == model.back().second);
        model.pop_back();
    }
}
