#include "core/consumer_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "catch.hpp"
#include "core/random.hpp"

namespace core_fragment_place_test_file {

using namespace weir::core;

namespace {

constexpr Bytes chunk_size{10};

Plan plan_of(std::uint32_t chunks) {
    Plan plan;
    plan.producers = 1;
    plan.chunk_size = chunk_size;
    plan.slot_size = chunk_size * chunks;
    return plan;
}

}  // namespace

TEST_CASE("A place marks which chunks have arrived, in whatever order they come") {
    constexpr std::uint32_t chunks = 40;
    FragmentPlace place(plan_of(chunks));
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        Random random(seed, 0);
        std::vector<std::uint32_t> order(chunks);
        std::iota(order.begin(), order.end(), 0U);
        for (std::uint64_t swaps = random.below(30); swaps > 0; --swaps) {
            std::swap(order[random.below(chunks)], order[random.below(chunks)]);
        }
        const EventId event = EventId::of({0}, seed);
        CHECK_FALSE(place.has(event, 0));
        place.begin(event, chunk_size * chunks, chunk_size, Instant{});
        std::set<std::uint32_t> arrived;
        for (std::size_t next = 0; next < order.size();) {
            // Neighbours now and then come together.
            std::uint32_t count = 1;
            while (next + count < order.size() && order[next + count] == order[next] + count &&
                   random.below(2) == 0) {
                ++count;
            }
            CHECK_FALSE(place.has(event, order[next], count));
            CHECK_FALSE(place.whole());
            place.add(order[next], count);
            for (; count > 0; --count, ++next) {
                arrived.insert(order[next]);
            }
            std::uint32_t missing = 0;
            for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
                CHECK(place.has(event, chunk) == arrived.contains(chunk));
                missing += missing == chunk && arrived.contains(chunk) ? 1U : 0U;
            }
            CHECK(place.first_missing() == missing);
        }
        CHECK(place.whole());
        place.complete();
        CHECK(place.has(event, chunks - 1));  // a late copy
        CHECK_FALSE(place.has(event, chunks));
        CHECK_FALSE(place.has(event, 0xffffffff));
    }
}

}  // namespace core_fragment_place_test_file
