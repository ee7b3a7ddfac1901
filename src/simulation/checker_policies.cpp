// The checker's part about grants: who may be granted, whose turn it is by the policy, and that none
// starves.
#include <algorithm>

#include "simulation/checker.hpp"

namespace weir::simulation {

using core::ConsumerRule;

void Checker::update_eligible(std::uint32_t index) {
    ProducerAccount& producer = source(index);
    const std::uint32_t most = !plan_.builds()             ? plan_.streams
                               : plan_.assigned_events > 0 ? plan_.assigned_events
                                                           : plan_.consumers * plan_.slots;
    const bool eligible = producer.offered > producer.granted && producer.under_way < most;
    if (eligible != producer.eligible) {
        producer.eligible = eligible;
        producer.passed_over = 0;
        eligible_producers_ = eligible ? eligible_producers_ + 1 : eligible_producers_ - 1;
    }
}

void Checker::granted_by_scheduler(std::uint32_t producer, std::uint32_t consumer) {
    ProducerAccount& served = source(producer);
    if (!served.eligible) {
        object("producer {} is granted a slot, but it has no event waiting or no stream free", producer);
        return;
    }
    if (closed_) {
        object("producer {} is granted a slot after the run was closed", producer);
        return;
    }
    if (consumers_[consumer].credits == 0) {
        object("a slot of consumer {} is granted, but no credit of it is there", consumer);
        return;
    }
    if (addresses_) {
        object_if(addresses_->granted({producer}, {consumer},
                                      [this](std::uint32_t index) { return consumers_[index].credits; }));
    }
    check_choice(consumer);
    ++grants_;
    ++served.granted;
    ++served.under_way;
    served.passed_over = 0;
    update_eligible(producer);
    ConsumerAccount& taken = consumers_[consumer];
    --consumers_by_credits_[taken.credits];
    --taken.credits;
    ++consumers_by_credits_[taken.credits];
    --credits_;
    ++taken.granted;
    taken.available_since = grants_;
    check_producers_patience();
    check_consumers_patience();
}

void Checker::check_choice(std::uint32_t consumer) {
    switch (policy_.consumer_rule) {
        case ConsumerRule::first_credit:
            if (tokens_.empty() || tokens_.front() != consumer) {
                object("policy {}: consumer {} is served before consumer {}, whose credit came first",
                       policy_.name, consumer, tokens_.empty() ? 0 : tokens_.front());
                return;
            }
            tokens_.pop_front();
            return;
        case ConsumerRule::turn:
            if (consumer != turn_) {
                object("policy {}: consumer {} is served, but it is the turn of consumer {}", policy_.name,
                       consumer, turn_);
                return;
            }
            turn_ = (turn_ + 1) % plan_.consumers;
            skip_lost();
            return;
        case ConsumerRule::most_free:
            check_balance(consumer);
            return;
        case ConsumerRule::none:
            return;
    }
}

void Checker::check_balance(std::uint32_t consumer) {
    const ConsumerAccount& chosen = consumers_[consumer];
    if (grants_ - chosen.available_since >= patience * plan_.consumers) {
        return;  // has waited for so long that it is its turn, whatever the others have
    }
    for (std::uint32_t more = chosen.credits + 1; more <= plan_.slots; ++more) {
        if (consumers_by_credits_[more] > 0) {
            object("policy {}: consumer {} is served with {} of its slots free, while another has {} free",
                   policy_.name, consumer, chosen.credits, more);
            return;
        }
    }
    // Walking over all consumers at each grant is for small runs only; the rule is the same in large
    // ones.
    constexpr std::uint32_t few = 64;
    if (!equal_events_ || declined_ || plan_.consumers > few) {
        return;
    }
    for (std::uint32_t other = 0; other < plan_.consumers; ++other) {
        if (consumers_[other].credits == chosen.credits && consumers_[other].granted < chosen.granted) {
            object("policy {}: consumer {} is served, while consumer {} is as ready and was granted less",
                   policy_.name, consumer, other);
            return;
        }
    }
}

void Checker::check_producers_patience() {
    const std::uint64_t together = std::max<std::uint64_t>(1, plan_.producers / 4);
    if (!policy_.serves_every_producer || grants_ % together != 0) {
        return;
    }
    const std::uint64_t bound = (patience + 2) * plan_.producers + plan_.streams + together;
    for (std::uint32_t index = 0; index < producers_.size(); ++index) {
        ProducerAccount& producer = producers_[index];
        if (producer.eligible && (producer.passed_over += together) > bound) {
            object("producer {} starves: {} grants went to others while it waited with a stream free", index,
                   producer.passed_over);
            return;
        }
    }
}

/// Policies with another rule keep an order, which is checked at each grant, or promise nothing.
void Checker::check_consumers_patience() {
    const std::uint64_t together = std::max<std::uint64_t>(1, plan_.consumers / 4);
    if (policy_.consumer_rule != ConsumerRule::most_free || grants_ % together != 0) {
        return;
    }
    const std::uint64_t bound = (patience + 2) * plan_.consumers;
    for (std::uint32_t index = 0; index < consumers_.size(); ++index) {
        const ConsumerAccount& consumer = consumers_[index];
        if (consumer.credits > 0 && grants_ - consumer.available_since > bound) {
            object("consumer {} starves: {} grants went to others while its credits were there", index,
                   grants_ - consumer.available_since);
            return;
        }
    }
}

void Checker::scheduler_decided() {
    if (plan_.outlives_consumers) {
        for (std::uint32_t consumer = 0; consumer < plan_.consumers; ++consumer) {
            if (!consumers_[consumer].revoked.empty()) {
                object("producer {} is not told that consumer {} was lost",
                       consumers_[consumer].revoked.front(), consumer);
            }
        }
    }
    if (plan_.consumers_grant() || closed_ || eligible_producers_ == 0) {
        return;
    }
    if (addresses_) {
        object_if(addresses_->decided([this](std::uint32_t index) { return producers_[index].eligible; },
                                      [this](std::uint32_t index) { return consumers_[index].credits; }));
        return;
    }
    const bool credit =
        policy_.consumer_rule == ConsumerRule::turn ? consumers_[turn_].credits > 0 : credits_ > 0;
    if (credit) {
        object(
            "the scheduler leaves events waiting although it has a credit for them ({} producers could send)",
            eligible_producers_);
    }
}

}  // namespace weir::simulation
