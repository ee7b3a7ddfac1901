#include "core/indexed_heap.hpp"

#include <map>

#include "catch.hpp"
#include "core/random.hpp"

using weir::core::IndexedHeap;
using weir::core::Random;

TEST_CASE("An indexed heap gives the smallest key first and of equal keys the smallest index") {
    IndexedHeap<int> heap(5);
    CHECK(heap.empty());
    heap.update(4, 1);
    heap.update(2, 7);
    heap.update(3, 1);
    CHECK(heap.size() == 3);
    CHECK(heap.top() == 3);
    heap.update(3, 8);
    CHECK(heap.top() == 4);
    CHECK(heap.key(3) == 8);
    heap.erase(4);
    CHECK_FALSE(heap.contains(4));
    CHECK(heap.top() == 2);
    heap.erase(4);
    heap.erase(2);
    heap.erase(3);
    CHECK(heap.empty());
}

TEST_CASE("An indexed heap agrees with a sorted map under random updates") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed, 0);
        const auto capacity = static_cast<std::uint32_t>(1 + random.below(40));
        IndexedHeap<std::uint64_t> heap(capacity);
        std::map<std::uint32_t, std::uint64_t> model;
        for (int step = 0; step < 300; ++step) {
            const auto index = static_cast<std::uint32_t>(random.below(capacity));
            if (random.below(3) == 0) {
                heap.erase(index);
                model.erase(index);
            } else if (random.below(4) == 0) {
                for (std::uint64_t more = random.below(2 * capacity); more > 0; --more) {
                    const auto changed = static_cast<std::uint32_t>(random.below(capacity));
                    model[changed] = random.below(10);
                    heap.update_unsorted(changed, model[changed]);
                }
                heap.restore();
            } else {
                const std::uint64_t key = random.below(10);
                heap.update(index, key);
                model[index] = key;
            }
            CAPTURE(seed, step);
            REQUIRE(heap.size() == model.size());
            REQUIRE(heap.contains(index) == model.contains(index));
            if (!model.empty()) {
                // The map goes by index, so the first of the smallest keys is the one wanted.
                auto smallest = model.begin();
                for (auto entry = model.begin(); entry != model.end(); ++entry) {
                    if (entry->second < smallest->second) {
                        smallest = entry;
                    }
                }
                REQUIRE(heap.top() == smallest->first);
                REQUIRE(heap.key(heap.top()) == smallest->second);
            }
        }
    }
}
