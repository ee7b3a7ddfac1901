#include "core/policies/token_policy.hpp"

#include "core/assertion.hpp"

namespace weir::core {

TokenPolicy::TokenPolicy(std::uint32_t producers, std::uint32_t consumers, std::uint32_t slots)
    : producers_(producers), tokens_(std::size_t{consumers} * slots), tokens_of_(consumers) {}

void TokenPolicy::update(ProducerId producer, const ProducerStanding& standing) {
    if (!standing.eligible) {
        producers_.erase(producer.value);
    } else if (!producers_.contains(producer.value)) {
        producers_.push_back(producer.value);
    }
}

void TokenPolicy::update(ConsumerId consumer, const ConsumerStanding& standing) {
    std::uint32_t& own = tokens_of_.at(consumer.value);
    if (!standing.present) {
        remove_tokens(consumer);
        return;
    }
    WEIR_ASSERT(standing.free_slots >= own);
    for (; own < standing.free_slots; ++own) {
        tokens_.push(consumer);
    }
}

void TokenPolicy::remove_tokens(ConsumerId consumer) {
    for (std::size_t left = tokens_.size(); left > 0; --left) {
        const ConsumerId token = tokens_.pop();
        if (token != consumer) {
            tokens_.push(token);
        }
    }
    tokens_of_[consumer.value] = 0;
}

std::optional<Pairing> TokenPolicy::choose() {
    if (!producer_available() || !consumer_available()) {
        return std::nullopt;
    }
    const Pairing pairing{{producers_.front()}, tokens_.pop()};
    producers_.erase(pairing.producer.value);
    --tokens_of_[pairing.consumer.value];
    return pairing;
}

}  // namespace weir::core
