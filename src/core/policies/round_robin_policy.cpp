#include "core/policies/round_robin_policy.hpp"

#include "core/assertion.hpp"

namespace weir::core {

RoundRobinPolicy::RoundRobinPolicy(std::uint32_t producers, std::uint32_t consumers)
    : producers_(producers), ready_(consumers), present_(consumers, true) {
    WEIR_ASSERT(consumers > 0);
}

void RoundRobinPolicy::update(ProducerId producer, const ProducerStanding& standing) {
    if (standing.eligible) {
        const bool had_its_turn = producer.value < next_producer_;
        producers_.update(producer.value, had_its_turn ? round_ + 1 : round_);
    } else {
        producers_.erase(producer.value);
    }
}

void RoundRobinPolicy::update(ConsumerId consumer, const ConsumerStanding& standing) {
    ready_.at(consumer.value) = standing.free_slots > 0;
    if (present_[consumer.value] != standing.present) {
        present_[consumer.value] = standing.present;
        skip_absent();
    }
}

void RoundRobinPolicy::skip_absent() {
    for (std::size_t skipped = 0; !present_[next_consumer_] && skipped < present_.size(); ++skipped) {
        next_consumer_ = next_consumer_ + 1 == present_.size() ? 0 : next_consumer_ + 1;
    }
}

std::optional<Pairing> RoundRobinPolicy::choose() {
    if (!producer_available() || !consumer_available()) {
        return std::nullopt;
    }
    const Pairing pairing{{producers_.top()}, {next_consumer_}};
    round_ = producers_.key(pairing.producer.value);
    next_producer_ = pairing.producer.value + 1;
    next_consumer_ = next_consumer_ + 1 == ready_.size() ? 0 : next_consumer_ + 1;
    skip_absent();
    return pairing;
}

}  // namespace weir::core
