#include "core/event_generator.hpp"

#include <vector>

#include "catch.hpp"

using namespace weir::core;

namespace {

Plan plan_of(Generation generation, std::int64_t bits_per_second, Duration interval = Duration::seconds(1)) {
    Plan plan;
    plan.generation = generation;
    plan.rate = {bits_per_second};
    plan.interval = interval;
    plan.slot_size = {1000};
    plan.buffer = {5000};
    return plan;
}

Sampler normal_sizes(double mean, double deviation, std::uint64_t seed) {
    Distribution distribution;
    distribution.kind = DistributionKind::normal;
    distribution.mean = mean;
    distribution.deviation = deviation;
    return {distribution, Random(seed, 0)};
}
Sampler sizes_of(double bytes) {
    Distribution distribution;
    distribution.kind = DistributionKind::fixed;
    distribution.mean = bytes;
    return {distribution, Random(1, 0)};
}

std::vector<GeneratedEvent> take_all(EventGenerator& generator, Instant now) {
    std::vector<GeneratedEvent> events;
    while (const auto event = generator.next(now, {0})) {
        events.push_back(*event);
    }
    return events;
}

Bytes total_of(const std::vector<GeneratedEvent>& events) {
    Bytes total;
    for (const auto& event : events) {
        total += event.bytes;
    }
    return total;
}

constexpr Instant at(Duration since_second_0) {
    return Instant{} + since_second_0;
}

}  // namespace

TEST_CASE("A set comes at once with its last event cut to the remainder") {
    // 20000 b/s: sets of 2500 bytes.
    EventGenerator generator(plan_of(Generation::sets, 20000), sizes_of(1000), Instant{0},
                             at(Duration::seconds(2)));
    CHECK(generator.next_due() == Instant{0});
    CHECK_FALSE(generator.next(Instant{-1}, {0}));
    const auto first = take_all(generator, Instant{0});
    CHECK(first == std::vector<GeneratedEvent>{{0, {1000}, {0}}, {1, {1000}, {0}}, {2, {500}, {0}}});
    CHECK(generator.next_due() == at(Duration::seconds(1)));
    CHECK(take_all(generator, at(Duration::milliseconds(999))).empty());
    const auto second = take_all(generator, at(Duration::milliseconds(1700)));
    REQUIRE(second.size() == 3);
    CHECK(second.front() == GeneratedEvent{3, {1000}, at(Duration::seconds(1))});
    CHECK(generator.next_due() == Instant::never());
    CHECK(take_all(generator, at(Duration::seconds(100))).empty());
}

TEST_CASE("A late caller gets every set that came meanwhile with its own time") {
    EventGenerator generator(plan_of(Generation::sets, 8000), sizes_of(1000), Instant{0},
                             at(Duration::seconds(10)));
    const auto events = take_all(generator, at(Duration::seconds(4)));
    REQUIRE(events.size() == 5);
    for (std::size_t k = 0; k < events.size(); ++k) {
        CHECK(events[k] == GeneratedEvent{k, {1000}, at(Duration::seconds(static_cast<std::int64_t>(k)))});
    }
}

TEST_CASE("Sets begin at the first multiple of the interval that is not before the start") {
    const Duration interval = Duration::milliseconds(700);
    const auto first_due = [&](Duration start) {
        return EventGenerator(plan_of(Generation::sets, 8000, interval), sizes_of(1000), at(start),
                              at(Duration::seconds(100)))
            .next_due();
    };
    CHECK(first_due(Duration::seconds(-5)) == at(interval * -7));
    CHECK(first_due(interval * -7) == at(interval * -7));
    CHECK(first_due(Duration::nanoseconds(-1)) == Instant{0});
    CHECK(first_due(Duration::nanoseconds(0)) == Instant{0});
    CHECK(first_due(Duration::nanoseconds(1)) == at(interval));
}

TEST_CASE("No set comes at or after the end") {
    const auto plan = plan_of(Generation::sets, 8000);
    const auto sets_until = [&](Duration end) {
        EventGenerator generator(plan, sizes_of(1000), at(Duration::seconds(-2)), at(end));
        return take_all(generator, at(Duration::seconds(50))).size();
    };
    CHECK(sets_until(Duration::seconds(3)) == 5);
    CHECK(sets_until(Duration::seconds(3) + Duration{1}) == 6);
    CHECK(sets_until(Duration::seconds(-2)) == 0);
}

TEST_CASE("Every one of many sets has exactly its bytes whatever the rate and event sizes") {
    // 1 Gb/s x 1/3 ms is no whole number of bytes.
    auto plan = plan_of(Generation::sets, 1000000000, Duration::nanoseconds(333333));
    plan.slot_size = {5000};
    CHECK(plan.set_bytes() == Bytes{41666});
    const Instant end = at(plan.interval * 1000);
    EventGenerator generator(plan, normal_sizes(4000, 1500, 3), Instant{0}, end);
    Bytes in_set;
    std::int64_t set = 0;
    for (const auto& event : take_all(generator, end)) {
        REQUIRE((event.bytes >= Bytes{1} && event.bytes <= plan.slot_size));
        if (event.generated_at != at(plan.interval * set)) {
            REQUIRE(in_set == plan.set_bytes());
            in_set = {0};
            ++set;
            REQUIRE(event.generated_at == at(plan.interval * set));
        }
        in_set += event.bytes;
    }
    CHECK(in_set == plan.set_bytes());
    CHECK(set == 999);
}

TEST_CASE("A steady event is due when the rate has produced its bytes") {
    // 8000 b/s: 1 byte per ms.
    EventGenerator generator(plan_of(Generation::steady, 8000), sizes_of(250),
                             at(Duration::milliseconds(-100)), at(Duration::seconds(1)));
    CHECK(generator.next_due() == at(Duration::milliseconds(150)));
    CHECK_FALSE(generator.next(at(Duration::milliseconds(150)) - Duration{1}, {0}));
    CHECK(generator.next(at(Duration::milliseconds(150)), {0}) ==
          GeneratedEvent{0, {250}, at(Duration::milliseconds(150))});
    CHECK(generator.next_due() == at(Duration::milliseconds(400)));
    // 900 ms is the last multiple of 250 ms after -100 ms that is before the end.
    const auto rest = take_all(generator, at(Duration::seconds(5)));
    CHECK(rest == std::vector<GeneratedEvent>{{1, {250}, at(Duration::milliseconds(400))},
                                              {2, {250}, at(Duration::milliseconds(650))},
                                              {3, {250}, at(Duration::milliseconds(900))}});
    CHECK(generator.next_due() == Instant::never());
}

TEST_CASE("Steady generation keeps its rate exactly over a long time") {
    auto plan = plan_of(Generation::steady, 85799999999);
    plan.slot_size = {3000000};
    const Instant end = at(Duration::seconds(100));
    EventGenerator generator(plan, normal_sizes(1e6, 3e5, 4), Instant{0}, end);
    Bytes total;
    Instant last{0};
    while (const auto event = generator.next(end, {0})) {
        total += event->bytes;
        REQUIRE(event->generated_at >= last);
        last = event->generated_at;
        REQUIRE(bytes_in(plan.rate, last - Instant{0}) >= total);
        REQUIRE(bytes_in(plan.rate, last - Instant{1}) < total);
    }
    CHECK(total <= bytes_in(plan.rate, end - Instant{0}));
    CHECK(total + plan.slot_size > bytes_in(plan.rate, end - Instant{0}));
}

TEST_CASE("The last steady event is before the end") {
    // An event that would be due at the end exactly does not come.
    const auto plan = plan_of(Generation::steady, 8000);
    EventGenerator until(plan, sizes_of(1000), Instant{0}, at(Duration::seconds(3)));
    CHECK(take_all(until, at(Duration::seconds(9))).size() == 2);
    EventGenerator beyond(plan, sizes_of(1000), Instant{0}, at(Duration::seconds(3)) + Duration{1});
    CHECK(take_all(beyond, at(Duration::seconds(9))).size() == 3);
    EventGenerator empty(plan, sizes_of(1000), Instant{7}, Instant{7});
    CHECK(empty.next_due() == Instant::never());
}

TEST_CASE("A rate near zero generates nothing and overflows nothing") {
    for (const auto generation : {Generation::sets, Generation::steady}) {
        for (const std::int64_t bits_per_second : {0, 1}) {
            auto plan = plan_of(generation, bits_per_second);
            plan.slot_size = {std::int64_t{1} << 50};
            EventGenerator generator(plan, sizes_of(0x1p50), Instant{-1}, at(Duration::seconds(7)));
            CHECK(generator.next_due() == Instant::never());
            CHECK(take_all(generator, at(Duration::seconds(8))).empty());
        }
    }
}

TEST_CASE("Saturating generation fills the buffer and refills it") {
    EventGenerator generator(plan_of(Generation::saturate, 0), sizes_of(1000), Instant{10}, Instant{100});
    CHECK(generator.next_due() == Instant{10});
    CHECK_FALSE(generator.next(Instant{9}, {0}));
    Bytes backlog;
    while (const auto event = generator.next(Instant{20}, backlog)) {
        CHECK(event->generated_at == Instant{20});
        backlog += event->bytes;
    }
    CHECK(backlog == Bytes{5000});
    CHECK_FALSE(generator.next(Instant{30}, {4001}));
    CHECK(generator.next(Instant{31}, {4000}) == GeneratedEvent{5, {1000}, Instant{31}});
    CHECK(generator.next_due() == Instant{10});
    CHECK(generator.next_due({4000}) == Instant{10});
    CHECK(generator.next_due({4001}) == Instant{100});  // no room: there is nothing to do before the end
    CHECK_FALSE(generator.next(Instant{100}, {0}));
    CHECK(generator.next_due({4001}) == Instant::never());
    CHECK(generator.next_due() == Instant::never());
}

TEST_CASE("A saturating event larger than the buffer comes when nothing waits") {
    auto plan = plan_of(Generation::saturate, 0);
    plan.buffer = {600};
    EventGenerator generator(plan, sizes_of(1000), Instant{0}, Instant{100});
    CHECK(generator.next(Instant{1}, {0}).has_value());
    CHECK_FALSE(generator.next(Instant{1}, {1}));
}

TEST_CASE("Event sizes are at least one byte and at most a slot") {
    for (const auto generation : {Generation::sets, Generation::steady, Generation::saturate}) {
        const auto plan = plan_of(generation, 8000000);
        EventGenerator generator(plan, normal_sizes(500, 1000, 5), Instant{0}, at(Duration::seconds(1)));
        bool smallest = false;
        bool largest = false;
        for (int i = 0; i < 500; ++i) {
            const auto event = generator.next(at(Duration::milliseconds(999)), {0});
            REQUIRE(event);
            REQUIRE(event->sequence == static_cast<std::uint64_t>(i));
            REQUIRE((event->bytes >= Bytes{1} && event->bytes <= Bytes{1000}));
            smallest = smallest || event->bytes == Bytes{1};
            largest = largest || event->bytes == Bytes{1000};
        }
        CHECK(smallest);
        CHECK(largest);
    }
}

TEST_CASE("How late a caller comes does not change what is generated") {
    for (const auto generation : {Generation::sets, Generation::steady}) {
        const auto plan = plan_of(generation, 1234567, Duration::milliseconds(100));
        const Instant end = at(Duration::seconds(1));
        EventGenerator punctual(plan, normal_sizes(500, 100, 6), Instant{0}, end);
        EventGenerator late(plan, normal_sizes(500, 100, 6), Instant{0}, end);
        std::vector<GeneratedEvent> events;
        while (punctual.next_due() != Instant::never()) {
            const auto event = punctual.next(punctual.next_due(), {0});
            REQUIRE(event);
            events.push_back(*event);
        }
        CHECK(events.size() > 200);
        CHECK(take_all(late, end) == events);
        CHECK(total_of(events) <= bytes_in(plan.rate, end - Instant{0}));
    }
}

TEST_CASE("With a phase sets come so much later, and as many of them") {
    const Duration interval = Duration::milliseconds(700);
    const Duration start = Duration::seconds(-1);  // whole intervals or not
    for (const std::int64_t phase_ms : {0, 1, 350, 699}) {
        const Duration phase = Duration::milliseconds(phase_ms);
        EventGenerator generator(plan_of(Generation::sets, 8000, interval), sizes_of(700), at(start),
                                 at(interval * 3), phase);
        CHECK(generator.next_due() == at(phase - interval));
        const auto events = take_all(generator, at(Duration::seconds(100)));
        REQUIRE(events.size() == 4);
        for (std::int64_t k = 0; k < 4; ++k) {
            CHECK(events[static_cast<std::size_t>(k)].generated_at == at(interval * (k - 1) + phase));
        }
    }
}
