#include "core/policies/matching_policy.hpp"

namespace weir::core {

namespace {

/// A pair is overdue when it was passed over in so many grants of both of its ends, for each of their
/// partners.
constexpr std::uint64_t patience = 16;
/// A pair is late when it has had so many events less than its share at both of its ends.
constexpr std::int64_t late_events = 4;
/// What a pair is behind or ahead of its share counts up to so many.
constexpr std::int64_t most_events_apart = 8;
/// A kept credit is idle until its producer's next stream is free: with fewer slots this costs too much.
constexpr std::uint32_t fewest_slots_to_keep = 4;
constexpr std::int64_t one_event = 1 << 20;

/// Puts the members of all sets, of equally many words, into `common`. False: there are none.
template <typename... Sets>
bool intersect(std::vector<std::uint64_t>& common, std::span<const std::uint64_t> first,
               const Sets&... others) {
    common.resize(first.size());
    std::uint64_t any = 0;
    for (std::size_t word = 0; word < first.size(); ++word) {
        common[word] = (first[word] & ... & others[word]);
        any |= common[word];
    }
    return any != 0;
}

/// The candidate (a number below `count`) with the smallest preference; among equals the next from `turn` on,
/// or all nodes that are alike would choose the same partner.
template <typename Preference>
std::optional<std::uint32_t> best_of(std::span<const std::uint64_t> candidates, std::uint32_t turn,
                                     std::uint32_t count, const Preference& preference) {
    std::optional<std::uint32_t> best;
    const auto key = [&](std::uint32_t node) {
        return std::pair(preference(node), (node + count - turn) % count);
    };
    for_each_in_both(candidates, candidates, [&](std::uint32_t node) {
        if (!best || key(node) < key(*best)) {
            best = node;
        }
    });
    return best;
}

}  // namespace

MatchingPolicy::PairSet::PairSet(std::uint32_t producers, std::uint32_t consumers)
    : producer_words(words_for(producers)),
      consumer_words(words_for(consumers)),
      by_producer(consumer_words * producers),
      by_consumer(producer_words * consumers) {}

void MatchingPolicy::PairSet::insert(std::uint32_t producer, std::uint32_t consumer) {
    set_bit(of_producer(producer), consumer);
    set_bit(of_consumer(consumer), producer);
}

void MatchingPolicy::PairSet::erase(std::uint32_t producer, std::uint32_t consumer) {
    clear_bit(of_producer(producer), consumer);
    clear_bit(of_consumer(consumer), producer);
}

MatchingPolicy::Side::Side(std::uint32_t nodes, std::uint32_t others)
    : able(words_for(nodes)),
      changed(nodes),
      turn(nodes),
      kept(nodes, none),
      grants(nodes),
      checked(nodes),
      share(nodes) {
    // Not all begin with the same partner.
    for (std::uint32_t node = 0; node < nodes; ++node) {
        turn[node] = (node + 1) % others;
    }
}

MatchingPolicy::MatchingPolicy(std::shared_ptr<const TrafficPlan> traffic, MatchRule rule,
                               std::uint32_t streams, std::uint32_t slots)
    : traffic_(std::move(traffic)),
      rule_(rule),
      fair_(is_fair(rule)),
      most_ahead_(streams),
      keeps_credits_(fair_ && slots >= fewest_slots_to_keep),
      producers_(traffic_->producers(), traffic_->consumers()),
      consumers_(traffic_->consumers(), traffic_->producers()),
      waits_(traffic_->producers(), traffic_->consumers()),
      due_to_producer_(waits_),
      due_to_consumer_(waits_),
      overdue_to_producer_(waits_),
      overdue_to_consumer_(waits_),
      not_ahead_(waits_),
      with_credit_(words_for(traffic_->consumers())),
      waiting_(traffic_->pairs()),
      since_(traffic_->pairs()),
      ages_(traffic_->pairs()),
      free_(traffic_->consumers()),
      occupied_(traffic_->consumers()),
      credit_since_(traffic_->consumers()) {
    WEIR_ASSERT(rule != MatchRule::none && streams > 0);
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
    const std::uint32_t index = consumer.value;
    const bool was = has_bit(with_credit_, index);
    const bool is = standing.free_slots > 0;
    if (is && !was) {
        credit_since_[index] = credits_++;
    }
    free_[index] = standing.free_slots;
    occupied_[index] = standing.occupied_slots;
    is ? set_bit(with_credit_, index) : clear_bit(with_credit_, index);
    set_consumer_able(index);
    consumers_with_credit_ += is ? 1U : 0U;
    consumers_with_credit_ -= was ? 1U : 0U;
}

/// A consumer with overdue pairs, or whose only credit is kept, serves no other pair.
void MatchingPolicy::set_consumer_able(std::uint32_t consumer) {
    const std::uint32_t kept = consumers_.kept[consumer] == none ? 0 : 1;
    const bool overdue = free_[consumer] > 0 && has_overdue(consumer);
    set_able(consumers_, consumer, overdue || free_[consumer] > kept);
    if (overdue) {
        clear_bit(consumers_.able, consumer);
    }
}

void MatchingPolicy::update(ProducerId producer, ConsumerId consumer, const Traffic& waiting) {
    waiting_[pair(producer.value, consumer.value)] = waiting.bytes.count;
    if (waiting.events == 0) {
        end_to_wait(producer.value, consumer.value);
        return;
    }
    if (!waits_.contains(producer.value, consumer.value)) {
        begin_to_wait(producer.value, consumer.value);
    }
    if (has_bit(producers_.able, producer.value)) {
        set_able(producers_, producer.value, true);
    }
}

void MatchingPolicy::begin_to_wait(std::uint32_t producer, std::uint32_t consumer) {
    const std::uint32_t index = pair(producer, consumer);
    since_[index] = choices_;
    set_ahead(producer, consumer, ages_[index].ahead);
    ages_[index].producer_grants = producers_.grants[producer];
    ages_[index].consumer_grants = consumers_.grants[consumer];
    waits_.insert(producer, consumer);
    ++producers_.share[producer].waiting;
    ++consumers_.share[consumer].waiting;
    // What a pair did not request it does not get later.
    PairAge& age = ages_[index];
    age.producer_share = std::max(age.producer_share, producers_.share[producer].served);
    age.consumer_share = std::max(age.consumer_share, consumers_.share[consumer].served);
}

void MatchingPolicy::end_to_wait(std::uint32_t producer, std::uint32_t consumer) {
    if (waits_.contains(producer, consumer)) {
        --producers_.share[producer].waiting;
        --consumers_.share[consumer].waiting;
    }
    waits_.erase(producer, consumer);
    due_to_producer_.erase(producer, consumer);
    due_to_consumer_.erase(producer, consumer);
    overdue_to_producer_.erase(producer, consumer);
    overdue_to_consumer_.erase(producer, consumer);
    if (consumers_.kept[consumer] == producer) {
        drop_credit_kept_for(producer);
    }
    set_consumer_able(consumer);
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
            return {occupied_[consumer], credit_since_[consumer]};
        case MatchRule::longest_queue:
            return {-waiting_[pair(producer, consumer)], 0};
        case MatchRule::oldest:
            return {occupied_[consumer], since_[pair(producer, consumer)]};
        case MatchRule::turn:
            return {occupied_[consumer], 0};
        case MatchRule::none:
            break;
    }
    WEIR_UNREACHABLE("a rule without a preference");
}

std::optional<std::uint32_t> MatchingPolicy::best_producer(std::uint32_t consumer,
                                                           std::span<const std::uint64_t> candidates) const {
    const std::uint32_t turn = consumers_.turn[consumer];
    if (rule_ == MatchRule::turn || rule_ == MatchRule::first_credit) {
        return next_in_both(candidates, candidates, turn);
    }
    return best_of(candidates, turn, traffic_->producers(),
                   [&](std::uint32_t producer) { return preference(producer, consumer); });
}

std::optional<std::uint32_t> MatchingPolicy::best_consumer(std::uint32_t producer,
                                                           std::span<const std::uint64_t> candidates) const {
    return best_of(candidates, producers_.turn[producer], traffic_->consumers(),
                   [&](std::uint32_t consumer) { return preference(producer, consumer); });
}

bool MatchingPolicy::has_overdue(std::uint32_t consumer) {
    return intersect(candidates_, overdue_to_consumer_.of_consumer(consumer),
                     overdue_to_producer_.of_consumer(consumer));
}

std::optional<std::uint32_t> MatchingPolicy::partner_for_consumer(std::uint32_t consumer) {
    if (has_overdue(consumer)) {
        intersect(candidates_, candidates_, producers_.able);
        return best_producer(consumer, candidates_);
    }
    const BitRow waiting = waits_.of_consumer(consumer);
    if (fair_ && intersect(candidates_, waiting, producers_.able, due_to_consumer_.of_consumer(consumer))) {
        return best_producer(consumer, candidates_);
    }
    keep_credit(consumer);
    if (!has_bit(consumers_.able, consumer) || !intersect(candidates_, waiting, producers_.able)) {
        return std::nullopt;
    }
    return best_producer(consumer, candidates_);
}

std::optional<std::uint32_t> MatchingPolicy::partner_for_producer(std::uint32_t producer) {
    if (intersect(candidates_, overdue_to_consumer_.of_producer(producer),
                  overdue_to_producer_.of_producer(producer), with_credit_)) {
        return best_consumer(producer, candidates_);
    }
    if (producers_.kept[producer] != none) {
        return producers_.kept[producer];
    }
    const BitRow waiting = waits_.of_producer(producer);
    const bool any =
        (fair_ && (intersect(candidates_, waiting, consumers_.able, due_to_producer_.of_producer(producer)) ||
                   intersect(candidates_, waiting, consumers_.able, not_ahead_.of_producer(producer)))) ||
        intersect(candidates_, waiting, consumers_.able);
    if (any) {
        return best_consumer(producer, candidates_);
    }
    return std::nullopt;
}

/// Keeps a credit for the next of those that are late, have no stream free and no credit kept.
void MatchingPolicy::keep_credit(std::uint32_t consumer) {
    if (!keeps_credits_ || consumers_.kept[consumer] != none ||
        !intersect(candidates_, due_to_consumer_.of_consumer(consumer),
                   due_to_producer_.of_consumer(consumer))) {
        return;
    }
    const std::uint32_t count = traffic_->producers();
    const std::uint32_t turn = consumers_.turn[consumer];
    std::uint32_t next = none;
    for_each_in_both(candidates_, candidates_, [&](std::uint32_t producer) {
        const auto place = [&](std::uint32_t node) { return (node + count - turn) % count; };
        if (is_late(producer, consumer) && producers_.kept[producer] == none &&
            !has_bit(producers_.able, producer) && (next == none || place(producer) < place(next))) {
            next = producer;
        }
    });
    if (next != none) {
        producers_.kept[next] = consumer;
        consumers_.kept[consumer] = next;
        set_consumer_able(consumer);
    }
}

bool MatchingPolicy::is_late(std::uint32_t producer, std::uint32_t consumer) const {
    const PairAge& age = ages_[pair(producer, consumer)];
    return producers_.share[producer].served - age.producer_share >= late_events * one_event &&
           consumers_.share[consumer].served - age.consumer_share >= late_events * one_event;
}

/// A partner of the node has got an event: its share grows by one, that of the node by that of each.
void MatchingPolicy::advance(Share& node, std::int64_t& partner) {
    node.served += one_event / node.waiting;
    partner = std::clamp(partner + one_event, node.served - most_events_apart * one_event,
                         node.served + most_events_apart * one_event);
}

void MatchingPolicy::drop_credit_kept_for(std::uint32_t producer) {
    const std::uint32_t consumer = producers_.kept[producer];
    producers_.kept[producer] = none;
    consumers_.kept[consumer] = none;
    set_consumer_able(consumer);
}

/// Looks at all partners, once in `patience` grants for each.
void MatchingPolicy::find_overdue_of_producer(std::uint32_t producer) {
    const std::uint64_t grants = producers_.grants[producer];
    const std::uint64_t since = producers_.checked[producer];
    if (grants - since < patience * traffic_->receivers_of({producer}).size()) {
        return;
    }
    producers_.checked[producer] = grants;
    const BitRow waiting = waits_.of_producer(producer);
    for_each_in_both(waiting, waiting, [&](std::uint32_t consumer) {
        if (ages_[pair(producer, consumer)].producer_grants <= since) {
            overdue_to_producer_.insert(producer, consumer);
            set_consumer_able(consumer);
        }
    });
}

void MatchingPolicy::find_overdue_of_consumer(std::uint32_t consumer) {
    const std::uint64_t grants = consumers_.grants[consumer];
    const std::uint64_t since = consumers_.checked[consumer];
    if (grants - since < patience * traffic_->senders_to({consumer}).size()) {
        return;
    }
    consumers_.checked[consumer] = grants;
    const BitRow waiting = waits_.of_consumer(consumer);
    for_each_in_both(waiting, waiting, [&](std::uint32_t producer) {
        if (ages_[pair(producer, consumer)].consumer_grants <= since) {
            overdue_to_consumer_.insert(producer, consumer);
        }
    });
    set_consumer_able(consumer);
}

void MatchingPolicy::set_ahead(std::uint32_t producer, std::uint32_t consumer, std::uint32_t rounds) {
    ages_[pair(producer, consumer)].ahead = rounds;
    rounds == 0 ? not_ahead_.insert(producer, consumer) : not_ahead_.erase(producer, consumer);
}

void MatchingPolicy::begin_round_of_producer(std::uint32_t producer, std::uint32_t served) {
    const BitRow waiting = waits_.of_producer(producer);
    bool others = false;
    for_each_in_both(waiting, waiting, [&](std::uint32_t consumer) {
        const std::uint32_t ahead = ages_[pair(producer, consumer)].ahead;
        others = others || consumer != served;
        if (ahead > 0 && consumer != served) {
            set_ahead(producer, consumer, ahead - 1);
        } else {
            due_to_producer_.insert(producer, consumer);
        }
    });
    if (!others) {
        set_ahead(producer, served, std::min(ages_[pair(producer, served)].ahead + 1, most_ahead_));
    }
}

Pairing MatchingPolicy::take(std::uint32_t producer, std::uint32_t consumer) {
    producers_.turn[producer] = (consumer + 1) % traffic_->consumers();
    consumers_.turn[consumer] = (producer + 1) % traffic_->producers();
    const std::uint32_t index = pair(producer, consumer);
    since_[index] = ++choices_;
    credit_since_[consumer] = credits_++;
    ages_[index].producer_grants = ++producers_.grants[producer];
    ages_[index].consumer_grants = ++consumers_.grants[consumer];
    overdue_to_producer_.erase(producer, consumer);
    overdue_to_consumer_.erase(producer, consumer);
    if (fair_) {
        // No pair that is due could be served: a new round.
        if (!due_to_producer_.contains(producer, consumer)) {
            begin_round_of_producer(producer, consumer);
        }
        if (!due_to_consumer_.contains(producer, consumer)) {
            const BitRow waiting = waits_.of_consumer(consumer);
            for_each_in_both(waiting, waiting,
                             [&](std::uint32_t other) { due_to_consumer_.insert(other, consumer); });
        }
        due_to_producer_.erase(producer, consumer);
        due_to_consumer_.erase(producer, consumer);
        advance(producers_.share[producer], ages_[index].producer_share);
        advance(consumers_.share[consumer], ages_[index].consumer_share);
    }
    if (producers_.kept[producer] == consumer) {
        drop_credit_kept_for(producer);
    }
    find_overdue_of_producer(producer);
    find_overdue_of_consumer(consumer);
    set_consumer_able(consumer);
    return {{producer}, {consumer}};
}

std::optional<Pairing> MatchingPolicy::choose_for_consumer(std::uint32_t consumer) {
    const auto producer = partner_for_consumer(consumer);
    if (!producer) {
        return std::nullopt;
    }
    // The producer accepts one of all consumers that it could serve.
    const auto accepted = partner_for_producer(*producer);
    WEIR_ASSERT(accepted.has_value());
    return take(*producer, *accepted);
}

std::optional<Pairing> MatchingPolicy::choose() {
    while (!consumers_.changed.empty()) {
        const std::uint32_t consumer = consumers_.changed.front();
        if (const auto chosen = choose_for_consumer(consumer)) {
            return chosen;
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
