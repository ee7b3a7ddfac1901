// The scheduler's part about addressed events: what each producer has offered for each consumer.
#include "core/plan_limits.hpp"
#include "core/scheduler.hpp"

namespace weir::core {

Scheduler::PairAccount* Scheduler::pair_account(Pairing pair) {
    if (!plan_.addressed()) {
        return nullptr;
    }
    const auto index = plan_.traffic->pair(pair.producer, pair.consumer);
    return index ? &pairs_[*index] : nullptr;
}

void Scheduler::update_policy(Pairing pair) {
    const PairAccount& account = *pair_account(pair);
    policy_->update(pair.producer, pair.consumer, account.offered - account.granted);
}

const char* Scheduler::on_addressed(ProducerId from, const Offer& offer) {
    ProducerAccount& producer = producers_[from.value];
    PairAccount* const pair = offer.to.value < consumers_.size() ? pair_account({from, offer.to}) : nullptr;
    if (plan_.consumers_grant() || producer.drained || pair == nullptr ||
        offer.offered.bytes < pair->offered.bytes || offer.offered.events < pair->offered.events) {
        return "an offer for a consumer that the producer does not send to, or less than it offered before";
    }
    const Traffic more = offer.offered - pair->offered;
    // As much as there is between two of them: no producer offers more than it can have generated.
    if (!is_amount(plan_, more) || !adds_up(producer.offered.bytes, more.bytes) ||
        !can_follow(producer, {producer.offered.events + more.events, producer.offered.bytes + more.bytes})) {
        return "an offer of more than there can be";
    }
    pair->offered = offer.offered;
    producer.offered += more;
    waiting_events_ += more.events;
    update_policy(from);
    update_policy({from, offer.to});
    return nullptr;
}

/// The producer has drained: what it offered and did not send is lost.
void Scheduler::forget_waiting(ProducerId producer) {
    if (!plan_.addressed() || policy_ == nullptr) {
        return;
    }
    for (const ConsumerId consumer : plan_.traffic->receivers_of(producer)) {
        PairAccount& pair = *pair_account({producer, consumer});
        pair.offered = pair.granted;
        update_policy({producer, consumer});
    }
}

}  // namespace weir::core
