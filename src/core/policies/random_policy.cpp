#include "core/policies/random_policy.hpp"

#include "core/assertion.hpp"

namespace weir::core {

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
