#include "core/policies/pairing_policies.hpp"

#include "catch.hpp"

using namespace weir::core;

namespace {

constexpr ProducerStanding can_send{true, {1}, {0}};
constexpr ProducerStanding cannot_send{};
constexpr ConsumerStanding ready{1, 0, {0}};
constexpr ConsumerStanding busy{0, 1, {0}};

}  // namespace

TEST_CASE("Round robin gives consumers strict turns and waits for the one whose turn it is") {
    RoundRobinPolicy policy(1, 3);
    policy.update(ProducerId{0}, can_send);
    const auto next = [&]() -> int {
        const auto pair = policy.choose();
        if (!pair) {
            return -1;
        }
        policy.update(pair->producer, can_send);
        return static_cast<int>(pair->consumer.value);
    };
    CHECK(next() == -1);
    policy.update(ConsumerId{1}, ready);
    policy.update(ConsumerId{2}, ready);
    CHECK_FALSE(policy.consumer_available());
    CHECK(next() == -1);
    policy.update(ConsumerId{0}, ready);
    CHECK(policy.consumer_available());
    CHECK(next() == 0);
    CHECK(next() == 1);
    CHECK(next() == 2);
    CHECK(next() == 0);
    policy.update(ConsumerId{1}, busy);
    CHECK_FALSE(policy.consumer_available());
    CHECK(next() == -1);
    policy.update(ConsumerId{1}, ready);
    CHECK(next() == 1);
}

TEST_CASE("Round robin gives producers turns and skips those that cannot send") {
    RoundRobinPolicy policy(4, 1);
    policy.update(ConsumerId{0}, ready);
    const auto next = [&]() -> int {
        const auto pair = policy.choose();
        if (!pair) {
            return -1;
        }
        policy.update(pair->producer, can_send);
        return static_cast<int>(pair->producer.value);
    };
    CHECK_FALSE(policy.producer_available());
    policy.update(ProducerId{1}, can_send);
    policy.update(ProducerId{3}, can_send);
    CHECK(next() == 1);
    // 0 has missed its turn of this round, 2 has not.
    policy.update(ProducerId{0}, can_send);
    policy.update(ProducerId{2}, can_send);
    CHECK(next() == 2);
    CHECK(next() == 3);
    CHECK(next() == 0);
    CHECK(next() == 1);
    policy.update(ProducerId{2}, cannot_send);
    CHECK(next() == 3);
    CHECK(next() == 0);
    for (const std::uint32_t producer : {0U, 1U, 3U}) {
        policy.update(ProducerId{producer}, cannot_send);
    }
    CHECK_FALSE(policy.producer_available());
    CHECK(next() == -1);
}
