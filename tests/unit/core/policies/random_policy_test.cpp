#include "core/policies/pairing_policies.hpp"

#include <vector>

#include "catch.hpp"

using namespace weir::core;

TEST_CASE("The random policy chooses all candidates equally often whatever their load") {
    RandomPolicy policy(6, 5, Random(1, 0));
    for (std::uint32_t producer = 0; producer < 6; ++producer) {
        policy.update(ProducerId{producer}, {producer != 2, {1000 * producer}, {0}});
    }
    for (std::uint32_t consumer = 0; consumer < 5; ++consumer) {
        policy.update(ConsumerId{consumer}, {consumer == 3 ? 0 : 1 + 10 * consumer, consumer, {0}});
    }
    constexpr int each = 1000;
    std::vector<int> pairs(6 * 5);
    for (int i = 0; i < 5 * 4 * each; ++i) {
        const auto pair = policy.choose();
        REQUIRE(pair);
        ++pairs[pair->producer.value * 5 + pair->consumer.value];
    }
    double chi_square = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (i / 5 == 2 || i % 5 == 3) {
            CHECK(pairs[i] == 0);
        } else {
            chi_square += (pairs[i] - each) * (pairs[i] - each) / static_cast<double>(each);
        }
    }
    // 19 degrees of freedom: above 43.8 with probability 0.001.
    CHECK(chi_square < 43.8);
}

TEST_CASE("The random policy chooses nothing unless both sides are available") {
    RandomPolicy policy(2, 2, Random(1, 0));
    CHECK_FALSE(policy.choose());
    policy.update(ProducerId{1}, {true, {1}, {0}});
    CHECK_FALSE(policy.choose());
    policy.update(ConsumerId{1}, {1, 0, {0}});
    CHECK(policy.choose()->producer == ProducerId{1});
    policy.update(ConsumerId{1}, {0, 1, {0}});
    CHECK(policy.producer_available());
    CHECK_FALSE(policy.consumer_available());
    CHECK_FALSE(policy.choose());
}

TEST_CASE("An unavailable side costs the random policy no draw") {
    RandomPolicy asked(9, 9, Random(1, 0));
    RandomPolicy quiet(9, 9, Random(1, 0));
    for (std::uint32_t i = 0; i < 9; ++i) {
        asked.update(ProducerId{i}, {true, {1}, {0}});
        quiet.update(ProducerId{i}, {true, {1}, {0}});
    }
    for (std::uint32_t i = 0; i < 9; ++i) {
        CHECK_FALSE(asked.choose());
    }
    for (std::uint32_t i = 0; i < 9; ++i) {
        asked.update(ConsumerId{i}, {1, 0, {0}});
        quiet.update(ConsumerId{i}, {1, 0, {0}});
    }
    for (int i = 0; i < 20; ++i) {
        const auto a = asked.choose();
        const auto b = quiet.choose();
        CHECK(a->producer == b->producer);
        CHECK(a->consumer == b->consumer);
    }
}
