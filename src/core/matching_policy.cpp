#include "core/matching_policy.hpp"

#include <utility>

#include "core/assertion.hpp"
#include "core/bits.hpp"

namespace weir::core {

namespace {

/// Of the numbers below `count` in both sets, the one with the smallest preference; of equals the next from
/// `turn` on, or all nodes that are alike would choose the same partner.
template <typename Preference>
std::optional<std::uint32_t> best_of(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                                     std::uint32_t turn, std::uint32_t count, const Preference& preference) {
    std::optional<std::uint32_t> best;
    const auto key = [&](std::uint32_t node) {
        return std::pair(preference(node), (node + count - turn) % count);
    };
    for_each_in_both(a, b, [&](std::uint32_t node) {
        if (!best || key(node) < key(*best)) {
            best = node;
        }
    });
    return best;
}

}  // namespace

MatchingPolicy::Side::Side(std::uint32_t nodes, std::uint32_t others)
    : words(words_for(others)), able(words_for(nodes)), partners(words * nodes), changed(nodes), turn(nodes) {
    // Not all begin with the same partner.
    for (std::uint32_t node = 0; node < nodes; ++node) {
        turn[node] = (node + 1) % others;
    }
}

MatchingPolicy::MatchingPolicy(std::shared_ptr<const TrafficPlan> traffic, MatchRule rule)
    : traffic_(std::move(traffic)),
      rule_(rule),
      producers_(traffic_->producers(), traffic_->consumers()),
      consumers_(traffic_->consumers(), traffic_->producers()),
      waiting_(traffic_->pairs()),
      since_(traffic_->pairs()),
      occupied_(traffic_->consumers()),
      credit_since_(traffic_->consumers()) {
    WEIR_ASSERT(rule != MatchRule::none);
}

void MatchingPolicy::set_able(Side& side, std::uint32_t node, bool able) {
    if (!able) {
        clear_bit(side.able, node);
        side.changed.erase(node);
        return;
    }
    set_bit(side.able, node);
    if (!side.changed.contains(node)) {
        side.changed.push_back(node);
    }
}

void MatchingPolicy::update(ProducerId producer, const ProducerStanding& standing) {
    const bool was = has_bit(producers_.able, producer.value);
    set_able(producers_, producer.value, standing.eligible);
    eligible_producers_ += standing.eligible ? 1U : 0U;
    eligible_producers_ -= was ? 1U : 0U;
}

void MatchingPolicy::update(ConsumerId consumer, const ConsumerStanding& standing) {
    const bool was = has_bit(consumers_.able, consumer.value);
    const bool is = standing.free_slots > 0;
    if (is && !was) {
        credit_since_[consumer.value] = credits_++;
    }
    occupied_[consumer.value] = standing.occupied_slots;
    set_able(consumers_, consumer.value, is);
    consumers_with_credit_ += is ? 1U : 0U;
    consumers_with_credit_ -= was ? 1U : 0U;
}

void MatchingPolicy::update(ProducerId producer, ConsumerId consumer, const Traffic& waiting) {
    const std::uint32_t index = pair(producer.value, consumer.value);
    const std::span<std::uint64_t> consumers = producers_.partners_of(producer.value);
    const std::span<std::uint64_t> producers = consumers_.partners_of(consumer.value);
    waiting_[index] = waiting.bytes.count;
    if (waiting.events == 0) {
        clear_bit(consumers, consumer.value);
        clear_bit(producers, producer.value);
        return;
    }
    if (!has_bit(consumers, consumer.value)) {
        since_[index] = choices_;
        set_bit(consumers, consumer.value);
        set_bit(producers, producer.value);
    }
    if (has_bit(producers_.able, producer.value)) {
        set_able(producers_, producer.value, true);
    }
}

std::uint32_t MatchingPolicy::pair(std::uint32_t producer, std::uint32_t consumer) const {
    const auto found = traffic_->pair({producer}, {consumer});
    WEIR_ASSERT(found.has_value());
    return *found;
}

MatchingPolicy::Preference MatchingPolicy::preference(std::uint32_t producer, std::uint32_t consumer) const {
    switch (rule_) {
        case MatchRule::fewest_occupied:
            return {occupied_[consumer], -waiting_[pair(producer, consumer)]};
        case MatchRule::first_credit:
            return {credit_since_[consumer], 0};
        case MatchRule::longest_queue:
            return {-waiting_[pair(producer, consumer)], 0};
        case MatchRule::oldest:
            return {since_[pair(producer, consumer)], 0};
        case MatchRule::turn:
        case MatchRule::none:
            break;
    }
    WEIR_UNREACHABLE("a rule without a preference");
}

std::optional<std::uint32_t> MatchingPolicy::partner_for_consumer(std::uint32_t consumer) {
    const std::span<const std::uint64_t> waiting = consumers_.partners_of(consumer);
    const std::uint32_t turn = consumers_.turn[consumer];
    if (rule_ == MatchRule::turn || rule_ == MatchRule::first_credit) {
        return next_in_both(waiting, producers_.able, turn);
    }
    return best_of(waiting, producers_.able, turn, traffic_->producers(),
                   [&](std::uint32_t producer) { return preference(producer, consumer); });
}

std::optional<std::uint32_t> MatchingPolicy::partner_for_producer(std::uint32_t producer) {
    const std::span<const std::uint64_t> waiting = producers_.partners_of(producer);
    const std::uint32_t turn = producers_.turn[producer];
    if (rule_ == MatchRule::turn) {
        return next_in_both(waiting, consumers_.able, turn);
    }
    return best_of(waiting, consumers_.able, turn, traffic_->consumers(),
                   [&](std::uint32_t consumer) { return preference(producer, consumer); });
}

Pairing MatchingPolicy::take(std::uint32_t producer, std::uint32_t consumer) {
    producers_.turn[producer] = (consumer + 1) % traffic_->consumers();
    consumers_.turn[consumer] = (producer + 1) % traffic_->producers();
    since_[pair(producer, consumer)] = ++choices_;
    credit_since_[consumer] = credits_++;
    return {{producer}, {consumer}};
}

std::optional<Pairing> MatchingPolicy::choose() {
    while (!consumers_.changed.empty()) {
        const std::uint32_t consumer = consumers_.changed.front();
        if (const auto producer = partner_for_consumer(consumer)) {
            return take(*producer, consumer);
        }
        consumers_.changed.erase(consumer);
    }
    while (!producers_.changed.empty()) {
        const std::uint32_t producer = producers_.changed.front();
        if (const auto consumer = partner_for_producer(producer)) {
            return take(producer, *consumer);
        }
        producers_.changed.erase(producer);
    }
    return std::nullopt;
}

bool MatchingPolicy::consumer_available() const {
    // After choose() has found nothing, no credit is of use to those producers that could send.
    return consumers_with_credit_ > 0 && eligible_producers_ == 0;
}

}  // namespace weir::core
