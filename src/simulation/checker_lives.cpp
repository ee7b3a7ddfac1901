// The checker's part about consumers that are lost and come back. Each life of a consumer has places of its
// own here, so that what comes from or for an earlier life cannot pass for something of the present one.
#include <algorithm>

#include "simulation/checker.hpp"

namespace weir::simulation {

using core::Bytes;
using core::EventId;
using core::NodeId;
using core::Observation;

void Checker::life_changed(NodeId node, const Observation& observation) {
    if (!plan_.outlives_consumers) {
        object("a consumer is lost in a run that should have ended with it");
    } else if (observation.kind == Observation::Kind::taken_back) {
        taken_back(node, observation);
    } else if (observation.kind == Observation::Kind::consumer_lost) {
        lose_consumer(observation.peer.index);
    } else {
        admit_consumer(observation.peer.index);
    }
}

/// The scheduler has no credit of it any more, and what it granted to it can be granted again.
void Checker::lose_consumer(std::uint32_t index) {
    ConsumerAccount& consumer = consumers_[index];
    if (consumer.lost) {
        object("consumer {} is lost twice", index);
        return;
    }
    consumer.lost = true;
    --consumers_by_credits_[consumer.credits];
    ++consumers_by_credits_[0];
    credits_ -= consumer.credits;
    consumer.credits = 0;
    std::erase(tokens_, index);
    const std::uint32_t first = consumer.lives[consumer.epoch];
    for (std::uint32_t place = first; place < first + plan_.places(); ++place) {
        if (!places_[place].outstanding) {
            continue;
        }
        places_[place].outstanding = false;
        const std::uint32_t producer = places_[place].producer;
        --producers_[producer].under_way;
        --producers_[producer].granted;
        if (producers_[producer].drained) {
            producers_[producer].offered = producers_[producer].granted;
        }
        --consumer.granted;
        update_eligible(producer);
        if (std::find(consumer.revoked.begin(), consumer.revoked.end(), producer) == consumer.revoked.end()) {
            consumer.revoked.push_back(producer);
        }
    }
    skip_lost();
}

void Checker::admit_consumer(std::uint32_t index) {
    ConsumerAccount& consumer = consumers_[index];
    if (!consumer.lost || closed_) {
        object("consumer {} is taken in, but it was not lost or the run was closed", index);
        return;
    }
    consumer.lost = false;
    ++consumer.epoch;
    consumer.lives.push_back(static_cast<std::uint32_t>(places_.size()));
    places_.resize(places_.size() + plan_.places());
    owners_.push_back(index);
    skip_lost();
}

/// Rule `turn`: who is lost has none.
void Checker::skip_lost() {
    for (std::uint32_t skipped = 0; consumers_[turn_].lost && skipped < plan_.consumers; ++skipped) {
        turn_ = (turn_ + 1) % plan_.consumers;
    }
}

void Checker::sent(NodeId /*from*/, NodeId to, const core::Revoke& revoke) {
    std::vector<std::uint32_t>& revoked = consumers_[revoke.consumer.value].revoked;
    if (std::erase(revoked, to.index) == 0) {
        object("producer {} is told that consumer {} was lost, without an event for it or twice", to.index,
               revoke.consumer.value);
    }
}

void Checker::sent(NodeId /*from*/, NodeId to, const core::Admit& admit) {
    if (is_over(to.index, admit.epoch)) {
        object("consumer {} is told of its life {}, which is not its present one", to.index, admit.epoch);
    }
}

void Checker::check_own_epoch(std::uint32_t consumer, core::Epoch epoch) {
    if (!consumers_[consumer].joined || epoch != consumers_[consumer].own_epoch) {
        object("consumer {} speaks for its life {}, which is not the one that it is in", consumer, epoch);
    }
}

Checker::Attempt* Checker::attempt_at(EventId event, std::uint32_t place) {
    const auto found = attempts_.find(event.value);
    if (found == attempts_.end()) {
        return nullptr;
    }
    const auto attempt = std::find_if(found->second.begin(), found->second.end(),
                                      [&](const Attempt& former) { return former.place == place; });
    return attempt == found->second.end() ? nullptr : &*attempt;
}

/// A producer takes an event back: only from a life that is over, or when the run is.
void Checker::taken_back(NodeId node, const Observation& observation) {
    Event* const event = find(observation.event);
    if (event == nullptr || event->fate != Fate::waiting || event->place == no_place || event->done ||
        observation.event.producer().value != node.index ||
        owner_of(event->place) != observation.peer.index || observation.bytes != event->handed_over) {
        object("producer {} takes event {} back from consumer {}, which was not sent it", node.index,
               observation.event.sequence(), observation.peer.index);
        return;
    }
    const ConsumerAccount& consumer = consumers_[observation.peer.index];
    const std::uint32_t present = consumer.lives[consumer.epoch];
    const bool in_present_life = event->place >= present && event->place < present + plan_.places();
    if (in_present_life && !consumer.lost && !closed_) {
        object("producer {} takes event {} back from consumer {}, which was not lost", node.index,
               observation.event.sequence(), observation.peer.index);
        return;
    }
    attempts_[observation.event.value].push_back({event->place, event->handed_over, event->arrived});
    event->broken = true;
    event->place = no_place;
    event->handed_over = event->arrived = Bytes{};
}

/// Whole at a consumer: by the delivery that goes on, or by one that was broken off when all had been sent.
void Checker::received_in_a_life(NodeId node, const Observation& observation) {
    const EventId id = observation.event;
    Event* const event = find(id);
    const ConsumerAccount& consumer = consumers_[node.index];
    const std::uint32_t first = consumer.lives[consumer.own_epoch];
    const auto is_here = [&](std::uint32_t place) {
        return consumer.joined && place >= first && place < first + plan_.places() &&
               places_[place].carries && places_[place].event == id;
    };
    std::uint32_t place = no_place;
    Bytes arrived;
    if (event != nullptr && event->place != no_place && is_here(event->place)) {
        place = event->place;
        arrived = event->arrived;
    } else if (const auto found = attempts_.find(id.value); event != nullptr && found != attempts_.end()) {
        for (const Attempt& attempt : found->second) {
            if (is_here(attempt.place) && attempt.handed_over == event->bytes) {
                place = attempt.place;
                arrived = attempt.arrived;
            }
        }
    }
    if (place == no_place || arrived != event->bytes || observation.bytes != event->bytes) {
        object(
            "consumer {} received event {} of producer {}, which was not sent to this life of it as a whole",
            node.index, id.sequence(), id.producer().value);
        return;
    }
    ++event->receptions;
    places_[place].delivered = true;
    places_[place].carries = false;
    places_[place].posted = false;
}

/// The scheduler confirms the event.
void Checker::confirmed(core::Instant now, NodeId producer, EventId id) {
    Event* const event = find(id);
    if (event == nullptr || event->fate != Fate::waiting || !event->done || event->receptions == 0 ||
        id.producer().value != producer.index) {
        object("producer {} is told that event {} is done, which is not so", producer.index, id.sequence());
        return;
    }
    event->fate = Fate::delivered;
    producers_[producer.index].backlog -= event->bytes;
    set_oracle_.released(now, id);
    forget_ended(producers_[producer.index]);
}

/// Exactly once, or each further time by a delivery that was named as doubtful.
void Checker::check_receptions(EventId id, const Event& event) {
    if (!plan_.outlives_consumers) {
        return;
    }
    std::uint32_t doubtful = 0;
    if (const auto found = attempts_.find(id.value); found != attempts_.end()) {
        for (const Attempt& attempt : found->second) {
            doubtful += attempt.handed_over == event.bytes ? 1U : 0U;
        }
    }
    const std::uint32_t regular = event.fate == Fate::delivered ? 1 : 0;
    if (event.receptions < regular || event.receptions > regular + doubtful || event.done != (regular == 1)) {
        object(
            "event {} of producer {} was received {} times; it is {}, and {} deliveries of it are doubtful",
            id.sequence(), id.producer().value, event.receptions, regular == 1 ? "done" : "lost", doubtful);
    }
}

}  // namespace weir::simulation
