#include "core/policies/pairing_policies.hpp"

#include "catch.hpp"

namespace core_policies_token_policy_test_file {

using namespace weir::core;

namespace {

constexpr ProducerStanding can_send{true, {1}, {0}};
constexpr ProducerStanding cannot_send{};
ConsumerStanding free_slots(std::uint32_t free) {
    return {free, 0, {0}};
}

}  // namespace

TEST_CASE("Tokens are spent in the order in which slots became free") {
    TokenPolicy policy(1, 3, 4);
    policy.update(ProducerId{0}, can_send);
    policy.update(ConsumerId{2}, free_slots(1));
    policy.update(ConsumerId{0}, free_slots(2));
    policy.update(ConsumerId{2}, free_slots(2));
    policy.update(ConsumerId{1}, free_slots(1));
    std::uint32_t left[] = {2, 1, 2};
    for (const std::uint32_t expected : {2U, 0U, 0U, 2U, 1U}) {
        const auto pair = policy.choose();
        REQUIRE(pair);
        CHECK(pair->consumer.value == expected);
        policy.update(pair->consumer, free_slots(--left[expected]));
        policy.update(pair->producer, can_send);
    }
    CHECK_FALSE(policy.consumer_available());
    CHECK_FALSE(policy.choose());
}

TEST_CASE("Producers are served in the order in which they became able to send") {
    TokenPolicy policy(4, 1, 8);
    policy.update(ConsumerId{0}, free_slots(8));
    for (const std::uint32_t producer : {3U, 1U, 0U, 2U}) {
        policy.update(ProducerId{producer}, can_send);
    }
    // More waiting bytes do not change the place in the queue; leaving it does.
    policy.update(ProducerId{3}, {true, {1000}, {0}});
    policy.update(ProducerId{1}, cannot_send);
    policy.update(ProducerId{1}, can_send);
    std::uint32_t left = 8;
    for (const std::uint32_t expected : {3U, 0U, 2U, 1U, 3U, 0U, 2U, 1U}) {
        const auto pair = policy.choose();
        REQUIRE(pair);
        CHECK(pair->producer.value == expected);
        policy.update(pair->consumer, free_slots(--left));
        policy.update(pair->producer, can_send);
    }
}

TEST_CASE("A producer that can send no more leaves the token queue") {
    TokenPolicy policy(2, 1, 4);
    policy.update(ConsumerId{0}, free_slots(4));
    policy.update(ProducerId{0}, can_send);
    CHECK(policy.choose()->producer.value == 0);
    policy.update(ConsumerId{0}, free_slots(3));
    policy.update(ProducerId{0}, cannot_send);
    CHECK_FALSE(policy.producer_available());
    CHECK(policy.consumer_available());
    CHECK_FALSE(policy.choose());
}

TEST_CASE("A credit that comes back after a declined grant is a new token") {
    TokenPolicy policy(1, 2, 1);
    policy.update(ProducerId{0}, can_send);
    policy.update(ConsumerId{0}, free_slots(1));
    policy.update(ConsumerId{1}, free_slots(1));
    CHECK(policy.choose()->consumer.value == 0);
    policy.update(ConsumerId{0}, free_slots(0));
    policy.update(ProducerId{0}, can_send);
    policy.update(ConsumerId{0}, free_slots(1));
    CHECK(policy.choose()->consumer.value == 1);
}

}  // namespace core_policies_token_policy_test_file
