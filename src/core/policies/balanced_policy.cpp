#include "core/policies/balanced_policy.hpp"

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

}  // namespace weir::core
