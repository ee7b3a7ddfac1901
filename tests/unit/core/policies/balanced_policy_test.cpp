#include "core/policies/pairing_policies.hpp"

#include "catch.hpp"

using namespace weir::core;

namespace {

ProducerStanding waiting(std::int64_t bytes, std::int64_t granted = 0) {
    return {true, {bytes}, {granted}};
}
ConsumerStanding slots(std::uint32_t free, std::uint32_t occupied, std::int64_t granted = 0) {
    return {free, occupied, {granted}};
}

}  // namespace

TEST_CASE("The balanced policy chooses nothing unless both sides are available") {
    BalancedPolicy policy(2, 2);
    CHECK_FALSE(policy.choose());
    policy.update(ProducerId{1}, waiting(10));
    CHECK(policy.producer_available());
    CHECK_FALSE(policy.consumer_available());
    CHECK_FALSE(policy.choose());
    policy.update(ConsumerId{0}, slots(1, 0));
    CHECK(policy.consumer_available());
    CHECK(policy.choose());
    policy.update(ProducerId{1}, {});
    CHECK_FALSE(policy.producer_available());
    CHECK_FALSE(policy.choose());
    policy.update(ConsumerId{0}, slots(0, 1));
    CHECK_FALSE(policy.consumer_available());
}

TEST_CASE("The balanced policy takes the consumer with the fewest occupied slots") {
    BalancedPolicy policy(1, 4);
    policy.update(ProducerId{0}, waiting(10));
    const auto chosen = [&] { return policy.choose()->consumer.value; };
    policy.update(ConsumerId{0}, slots(0, 0));
    policy.update(ConsumerId{1}, slots(3, 2, 0));
    policy.update(ConsumerId{2}, slots(1, 1, 900));
    policy.update(ConsumerId{3}, slots(1, 1, 900));
    CHECK(chosen() == 2);
    policy.update(ConsumerId{3}, slots(1, 1, 899));
    CHECK(chosen() == 3);
    policy.update(ConsumerId{1}, slots(4, 0, 1000));
    CHECK(chosen() == 1);
    policy.update(ConsumerId{0}, slots(1, 0, 1000));
    CHECK(chosen() == 0);
}

TEST_CASE("The balanced policy takes the fullest producer") {
    BalancedPolicy policy(4, 1);
    policy.update(ConsumerId{0}, slots(1, 0));
    const auto chosen = [&] { return policy.choose()->producer.value; };
    policy.update(ProducerId{0}, {false, {9999}, {0}});
    policy.update(ProducerId{1}, waiting(10, 0));
    policy.update(ProducerId{2}, waiting(20, 500));
    policy.update(ProducerId{3}, waiting(20, 500));
    CHECK(chosen() == 2);
    policy.update(ProducerId{3}, waiting(20, 499));
    CHECK(chosen() == 3);
    policy.update(ProducerId{1}, waiting(21, 1000));
    CHECK(chosen() == 1);
    policy.update(ProducerId{0}, waiting(9999));
    CHECK(chosen() == 0);
}

TEST_CASE("The balanced policy passes no candidate over for longer than its bound") {
    constexpr std::uint32_t nodes = 5;
    constexpr std::uint64_t patience = BalancedPolicy::starvation_factor * nodes;
    BalancedPolicy policy(nodes, nodes);
    // Producer 4 is never the fullest and consumer 4 never the readiest; the others always are.
    for (std::uint32_t i = 0; i < nodes; ++i) {
        policy.update(ProducerId{i}, waiting(i == 4 ? 1 : 1000));
        policy.update(ConsumerId{i}, slots(1, i == 4 ? 7 : 0));
    }
    std::int64_t granted = 0;
    std::uint64_t passed_over_producer = 0;
    std::uint64_t passed_over_consumer = 0;
    std::uint64_t times = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto pair = policy.choose();
        REQUIRE(pair);
        ++granted;
        if (pair->producer.value == 4) {
            CHECK(passed_over_producer == patience);
            passed_over_producer = 0;
            ++times;
        } else {
            ++passed_over_producer;
            policy.update(pair->producer, waiting(1000, granted));
        }
        if (pair->consumer.value == 4) {
            CHECK(passed_over_consumer == patience);
            passed_over_consumer = 0;
        } else {
            ++passed_over_consumer;
            policy.update(pair->consumer, slots(1, 0, granted));
        }
    }
    CHECK(times == 1000 / (patience + 1));
}

TEST_CASE("Being passed over counts from the time of becoming a candidate") {
    BalancedPolicy policy(2, 1);
    policy.update(ConsumerId{0}, slots(1, 0));
    policy.update(ProducerId{0}, waiting(1000));
    for (int i = 0; i < 100; ++i) {
        CHECK(policy.choose()->producer.value == 0);
    }
    policy.update(ProducerId{1}, waiting(1));
    for (std::uint64_t i = 0; i < BalancedPolicy::starvation_factor * 2; ++i) {
        CHECK(policy.choose()->producer.value == 0);
    }
    CHECK(policy.choose()->producer.value == 1);
    CHECK(policy.choose()->producer.value == 0);
}
