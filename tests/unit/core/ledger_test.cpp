// Ledgers: sums that do not depend on order and show when events were exchanged.
#include "core/ledger.hpp"

#include <set>

#include "catch.hpp"

using namespace weir::core;

TEST_CASE("A tally does not depend on the order of its events") {
    Tally forwards;
    Tally backwards;
    for (std::uint64_t i = 0; i < 100; ++i) {
        forwards.add(EventId::of({3}, i), {static_cast<std::int64_t>(i) + 1});
        backwards.add(EventId::of({3}, 99 - i), {static_cast<std::int64_t>(99 - i) + 1});
    }
    CHECK(forwards == backwards);
    CHECK(forwards.events == 100);
    CHECK(forwards.bytes == Bytes{5050});
}

TEST_CASE("Equal totals of different events have different hashes") {
    Tally one_set;
    one_set.add(EventId::of({0}, 1), {100});
    one_set.add(EventId::of({0}, 2), {200});
    Tally other_event = {};
    other_event.add(EventId::of({0}, 1), {100});
    other_event.add(EventId::of({1}, 2), {200});
    Tally sizes_exchanged = {};
    sizes_exchanged.add(EventId::of({0}, 1), {200});
    sizes_exchanged.add(EventId::of({0}, 2), {100});
    Tally one_twice = {};
    one_twice.add(EventId::of({0}, 1), {150});
    one_twice.add(EventId::of({0}, 1), {150});
    for (const Tally& other : {other_event, sizes_exchanged, one_twice}) {
        CHECK(other.events == one_set.events);
        CHECK(other.bytes == one_set.bytes);
        CHECK(other.hash != one_set.hash);
    }
}

TEST_CASE("Neighbouring events and sizes mix to different values") {
    std::set<std::uint64_t> mixes;
    for (std::uint32_t producer = 0; producer < 8; ++producer) {
        for (std::uint64_t sequence = 0; sequence < 64; ++sequence) {
            for (std::int64_t bytes = 1; bytes <= 4; ++bytes) {
                mixes.insert(ledger_mix(EventId::of({producer}, sequence), {bytes}));
            }
        }
    }
    CHECK(mixes.size() == 8 * 64 * 4);
}

TEST_CASE("Parts of a tally sum to the whole") {
    Tally whole;
    Tally parts[3];
    for (std::uint64_t i = 0; i < 30; ++i) {
        whole.add(EventId::of({1}, i), {7});
        parts[i % 3].add(EventId::of({1}, i), {7});
    }
    CHECK(parts[0] + parts[1] + parts[2] == whole);
}

TEST_CASE("Ledgers sum entry by entry") {
    const auto tally = [](std::uint64_t n) { return Tally{n, {static_cast<std::int64_t>(10 * n)}, 100 * n}; };
    const Ledger a{tally(1), tally(2), tally(3), tally(4), tally(5), tally(6), tally(7), tally(8), {9}};
    Ledger sum = a;
    sum += a;
    CHECK(sum ==
          Ledger{tally(2), tally(4), tally(6), tally(8), tally(10), tally(12), tally(14), tally(16), {18}});
    CHECK(Ledger{} != a);
}
