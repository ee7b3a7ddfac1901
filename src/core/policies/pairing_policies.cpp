#include "core/policies/pairing_policies.hpp"

namespace weir::core {

void BalancedPolicy::Candidates::update(std::uint32_t node, Preference preference, std::uint64_t choices) {
    by_preference_.update(node, preference);
    if (!by_age_.contains(node)) {
        by_age_.push_back(node);
        since_[node] = choices;
    }
}

void BalancedPolicy::Candidates::erase(std::uint32_t node) {
    by_preference_.erase(node);
    by_age_.erase(node);
}

std::uint32_t BalancedPolicy::Candidates::choose(std::uint64_t choices) {
    const std::uint32_t oldest = by_age_.front();
    const bool overdue = choices - since_[oldest] >= patience_;
    const std::uint32_t chosen = overdue ? oldest : by_preference_.top();
    // Whether it stays a candidate follows from the next update.
    by_age_.erase(chosen);
    by_age_.push_back(chosen);
    since_[chosen] = choices + 1;
    return chosen;
}

BalancedPolicy::BalancedPolicy(std::uint32_t producers, std::uint32_t consumers)
    : producers_(producers), consumers_(consumers) {}

void BalancedPolicy::update(ProducerId producer, const ProducerStanding& standing) {
    if (standing.eligible) {
        producers_.update(producer.value, {-standing.waiting.count, standing.granted}, choices_);
    } else {
        producers_.erase(producer.value);
    }
}

void BalancedPolicy::update(ConsumerId consumer, const ConsumerStanding& standing) {
    if (standing.free_slots > 0) {
        consumers_.update(consumer.value, {std::int64_t{standing.occupied_slots}, standing.granted},
                          choices_);
    } else {
        consumers_.erase(consumer.value);
    }
}

std::optional<Pairing> BalancedPolicy::choose() {
    if (!producer_available() || !consumer_available()) {
        return std::nullopt;
    }
    const Pairing pairing{{producers_.choose(choices_)}, {consumers_.choose(choices_)}};
    ++choices_;
    return pairing;
}

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

void RandomPolicy::IndexSet::set(std::uint32_t index, bool member) {
    WEIR_ASSERT(index < places_.size());
    if (member == (places_[index] != absent)) {
        return;
    }
    if (member) {
        places_[index] = static_cast<std::uint32_t>(members_.size());
        members_.push_back(index);
        return;
    }
    // The last member fills the gap.
    members_[places_[index]] = members_.back();
    places_[members_.back()] = places_[index];
    places_[index] = absent;
    members_.pop_back();
}

RandomPolicy::RandomPolicy(std::uint32_t producers, std::uint32_t consumers, Random random)
    : producers_(producers), consumers_(consumers), random_(random) {}

void RandomPolicy::update(ProducerId producer, const ProducerStanding& standing) {
    producers_.set(producer.value, standing.eligible);
}

void RandomPolicy::update(ConsumerId consumer, const ConsumerStanding& standing) {
    consumers_.set(consumer.value, standing.free_slots > 0);
}

std::optional<Pairing> RandomPolicy::choose() {
    if (!producer_available() || !consumer_available()) {
        return std::nullopt;
    }
    const std::uint32_t producer = producers_.draw(random_);
    const std::uint32_t consumer = consumers_.draw(random_);
    return Pairing{{producer}, {consumer}};
}

}  // namespace weir::core
