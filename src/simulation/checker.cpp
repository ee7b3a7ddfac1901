#include "simulation/checker.hpp"

#include "core/plan.hpp"

namespace weir::simulation {

using core::Bytes;
using core::ConsumerId;
using core::EventId;
using core::NodeId;
using core::Observation;
using core::ProducerId;

namespace {

/// With addressed events policies keep none of their orders: the next producer may have nothing for a
/// consumer.
core::PolicyRow rules_of(const core::Plan& plan) {
    if (!plan.addressed()) {
        return core::policy_row(plan.policy);
    }
    return {plan.policy, "addressed", nullptr, core::ConsumerRule::none, false};
}

}  // namespace

Checker::Checker(const core::Plan& plan, bool in_order)
    : plan_(plan),
      chunks_in_order_(in_order && plan.shaping.kind == core::ShapingKind::none),
      policy_(rules_of(plan)),
      equal_events_(plan.event_size.kind == core::DistributionKind::fixed &&
                    (plan.generation != core::Generation::sets ||
                     plan.set_bytes().count % static_cast<std::int64_t>(plan.event_size.mean) == 0)),
      set_oracle_(plan),
      producers_(plan.producers),
      consumers_(plan.consumers),
      places_(std::size_t{plan.consumers} * plan.places()),
      at_common_offers_(plan.producers),
      consumers_by_credits_(plan.slots + 1) {
    consumers_by_credits_[0] = plan.consumers;
    if (plan.addressed()) {
        addresses_.emplace(plan);
        if (plan.traffic->has_dependencies()) {
            dependencies_.emplace(plan);
        }
    }
    for (std::uint32_t consumer = 0; consumer < plan.consumers; ++consumer) {
        consumers_[consumer].lives.push_back(consumer * plan.places());
        owners_.push_back(consumer);
    }
}

// Events

void Checker::event_changed(core::Instant now, NodeId node, const Observation& observation) {
    using Kind = Observation::Kind;
    if (observation.kind == Kind::generated) {
        event_generated(now, node, observation);
        return;
    }
    if (observation.kind == Kind::given_up && observation.bytes == Bytes{}) {
        return;  // declined
    }
    if (plan_.outlives_consumers && observation.kind == Kind::received) {
        received_in_a_life(node, observation);
        return;
    }
    Event* const event = find(observation.event);
    if (event == nullptr || event->fate != Fate::waiting) {
        object("{} {} ends event {} of producer {}, which was already delivered or lost",
               core::role_name(node.role), node.index, observation.event.sequence(),
               observation.event.producer().value);
    } else if (observation.kind == Kind::received) {
        event_received(node, observation, *event);
    } else if (observation.kind == Kind::given_up) {
        event_given_up(node, observation, *event);
    } else {
        event_lost(now, node, observation, *event);
    }
}

void Checker::event_generated(core::Instant now, NodeId node, const Observation& observation) {
    ProducerAccount& producer = producers_[node.index];
    if (observation.event.producer().value != node.index ||
        observation.event.sequence() != producer.first + producer.events.size()) {
        object("producer {} generated event {} out of order", node.index, observation.event.sequence());
        return;
    }
    producer.events.push({.bytes = observation.bytes, .generated = now, .handed_over = {}, .arrived = {}});
    producer.backlog += observation.bytes;
    if (addresses_) {
        producer.events.at(producer.events.size() - 1).to = observation.peer.index;
        object_if(addresses_->generated({node.index}, observation.peer, observation.bytes));
    }
    set_oracle_.generated(observation.event, observation.bytes, now - observation.elapsed);
}

void Checker::check_dependencies(core::Instant now, NodeId node, const Observation& observation) {
    if (observation.kind == Observation::Kind::generated) {
        dependencies_->generated(observation.event, {observation.peer.index}, now - observation.elapsed);
    } else if (observation.kind == Observation::Kind::received) {
        dependencies_->received(now, observation.event, observation.bytes);
    } else if (observation.kind == Observation::Kind::transfer_started && node.role == core::Role::producer) {
        object_if(dependencies_->started(now, observation.event));
    }
}

void Checker::event_lost(core::Instant now, NodeId node, const Observation& observation, Event& event) {
    const bool dropped = observation.kind == Observation::Kind::dropped;
    // Its events that are not over, and this one.
    const bool as_many_as_can = producers_[node.index].events.size() > core::waiting_events_limit;
    const bool allowed =
        dropped ? (plan_.overflow == core::Overflow::drop || as_many_as_can) && event.generated == now
                : now >= plan_.give_up_at();
    if (!allowed) {
        object("producer {} loses event {} although there is time left to send it", node.index,
               observation.event.sequence());
        return;
    }
    if (event.done) {
        object("producer {} loses event {}, which is done", node.index, observation.event.sequence());
        return;
    }
    event.fate = Fate::lost;
    producers_[node.index].backlog -= event.bytes;
    dropped ? set_oracle_.dropped(observation.event) : set_oracle_.left_over(observation.event);
    forget_ended(producers_[node.index]);
}

void Checker::event_received(NodeId node, const Observation& observation, Event& event) {
    const bool complete = plan_.lossy() ? event.arrived >= event.bytes : event.arrived == event.bytes;
    if (!complete || observation.bytes != event.bytes || !was_sent_to(event, node)) {
        object(
            "consumer {} received event {} of producer {} with {} of {} bytes arrived, or it was not "
            "sent there",
            node.index, observation.event.sequence(), observation.event.producer().value, event.arrived.count,
            event.bytes.count);
        return;
    }
    event.fate = Fate::delivered;
    places_[event.place].delivered = true;
    leave_place(observation.event, event, "an event came into it");
}

void Checker::event_given_up(NodeId node, const Observation& observation, Event& event) {
    if (!plan_.lossy() || (event.handed_over != event.bytes && !event.again) || !was_sent_to(event, node)) {
        object("consumer {} gives up event {} of producer {}, which was not sent to it", node.index,
               observation.event.sequence(), observation.event.producer().value);
        return;
    }
    event.fate = Fate::lost;
    leave_place(observation.event, event, "an event was given up in it");
}

/// Nothing more will come into the place that the event was sent to.
void Checker::leave_place(EventId id, const Event& event, const char* what) {
    Place& place = places_[event.place];
    place.carries = false;
    place.posted = false;
    end_request(event.place);
    if (plan_.consumers_grant()) {
        move_credit(event.place, Credit::granted, Credit::withheld, what);
    }
    forget_ended(producers_[id.producer().value]);
}

void Checker::forget_ended(ProducerAccount& producer) {
    while (!producer.events.empty() && producer.events.front().fate != Fate::waiting &&
           !producer.events.front().retained && !producer.events.front().broken) {
        check_receptions(EventId::of(ProducerId{static_cast<std::uint32_t>(&producer - producers_.data())},
                                     producer.first),
                         producer.events.front());
        producer.events.pop();
        ++producer.first;
    }
}

void Checker::chunk_handed_over(ProducerId producer, const core::SendChunk& sent) {
    const core::ChunkDescription& chunk = sent.chunk;
    Event* event = find(chunk.event);
    if (event != nullptr && event->retained && event->handed_over == event->bytes &&
        chunk.offset == Bytes{}) {
        event->handed_over = {};  // asked for again
        event->again = true;
    }
    if (event != nullptr && event->again) {
        event->handed_over += chunk.length;
        return;
    }
    const bool over = event != nullptr ? event->fate != Fate::waiting && !event->retained
                                       : chunk.event.sequence() < producers_[producer.value].first;
    if (plan_.asks_again() && over && chunk.event.producer() == producer) {
        return;  // the consumer took it while it was being sent again
    }
    if (event == nullptr || event->fate != Fate::waiting || chunk.event.producer() != producer ||
        chunk.offset != event->handed_over || chunk.offset + chunk.length > event->bytes ||
        chunk.event_bytes != event->bytes || sent.to.value >= plan_.consumers ||
        sent.place.value >= plan_.places()) {
        object("producer {} sends a chunk of event {} at byte {} that it does not have or has sent before",
               producer.value, chunk.event.sequence(), chunk.offset.count);
        return;
    }
    const std::uint32_t flat_place = flat(sent.to.value, chunk.epoch, sent.place);
    if (event->place == no_place) {
        enter_place(producer, sent, flat_place, *event);
    } else if (event->place != flat_place) {
        object("producer {} sends event {} into two slots", producer.value, chunk.event.sequence());
    }
    if (objection_) {
        return;
    }
    event->handed_over += chunk.length;
    prefetch_behind(chunk.event);
    if (plan_.asks_again()) {
        event->retained = true;
        const std::size_t at = kept_at(producer.value, flat_place);
        if (at >= kept_.size()) {
            kept_.resize(at + 1);
        }
        kept_[at] = chunk.event;
    }
}

/// The first chunk of an event is handed over: into a place that was granted to its producer.
void Checker::enter_place(ProducerId producer, const core::SendChunk& sent, std::uint32_t flat_place,
                          Event& event) {
    const EventId id = sent.chunk.event;
    Place& place = places_[flat_place];
    if (place.credit != Credit::granted || place.producer != producer.value || place.carries ||
        (plan_.pulls() && !place.asked)) {
        object("producer {} sends event {} into place {} of consumer {}, which was not granted to it",
               producer.value, id.sequence(), sent.place.value, sent.to.value);
    } else if (addresses_ && event.to != sent.to.value) {
        object("producer {} sends event {} for consumer {} to consumer {}", producer.value, id.sequence(),
               event.to, sent.to.value);
    } else if (plan_.builds() && place.event != id) {
        object("producer {} sends event {} where event {} was granted", producer.value, id.sequence(),
               place.event.sequence());
    } else {
        event.place = flat_place;
        place.carries = true;
        place.event = id;
    }
}

void Checker::chunk_left(core::Instant now, ProducerId producer, const core::ChunkDescription& chunk) {
    if (plan_.keeps_until_taken()) {
        return;
    }
    producers_[producer.value].backlog -= chunk.length;
    set_oracle_.left(now, chunk.event, chunk.length);
}

void Checker::chunk_dropped(ProducerId producer, const core::ChunkDescription& chunk) {
    if (!plan_.lossy()) {
        object("a chunk of event {} of producer {} is dropped, but the transport is reliable",
               chunk.event.sequence(), producer.value);
    }
}

void Checker::backlog_claimed(ProducerId producer, Bytes backlog) {
    if (backlog != producers_[producer.value].backlog) {
        object(
            "producer {} says that it holds {} bytes, but {} were generated and have neither left nor been "
            "lost",
            producer.value, backlog.count, producers_[producer.value].backlog.count);
    }
}

void Checker::chunk_arrived(ConsumerId consumer, core::PlaceId into, const core::ChunkDescription& chunk) {
    const ConsumerAccount& receiver = consumers_[consumer.value];
    if (!receiver.joined || chunk.epoch != receiver.own_epoch) {
        return;  // for an earlier life: it is refused
    }
    const std::uint32_t flat_place = flat(consumer.value, chunk.epoch, into);
    const Place& place = places_[flat_place];
    Event* event = find(chunk.event);
    if (Attempt* const attempt = attempt_at(chunk.event, flat_place)) {
        attempt->arrived += chunk.length;
        return;  // sent before it was taken back; if it becomes whole is looked at then
    }
    if (plan_.lossy()) {
        // May be late, of an event that is over; what counts is what the consumer makes of it.
        if (event != nullptr) {
            event->arrived += chunk.length;
        }
        return;
    }
    if (place.carries && place.event == chunk.event && (event == nullptr || event->fate == Fate::lost)) {
        return;  // it was on its way when its producer was told that the time is over
    }
    const bool in_order = event != nullptr && event->arrived == chunk.offset;
    if (!place.posted || !place.carries || place.event != chunk.event || event == nullptr ||
        (!in_order && chunks_in_order_) || event->arrived + chunk.length > event->handed_over) {
        object("a chunk of event {} of producer {} at byte {} arrives unexpected in place {} of consumer {}",
               chunk.event.sequence(), chunk.event.producer().value, chunk.offset.count, into.value,
               consumer.value);
        return;
    }
    event->arrived += chunk.length;
}

void Checker::all_finished(std::uint64_t sets, std::uint64_t late_sets) {
    for (std::uint32_t producer = 0; producer < producers_.size(); ++producer) {
        const ProducerAccount& account = producers_[producer];
        for (std::size_t position = 0; position < account.events.size(); ++position) {
            if (account.events.at(position).fate == Fate::waiting) {
                object("event {} of producer {} was neither delivered nor lost when the run was over",
                       account.first + position, producer);
                break;
            }
            check_receptions(EventId::of(ProducerId{producer}, account.first + position),
                             account.events.at(position));
        }
    }
    if (addresses_) {
        object_if(addresses_->finished());
    }
    if (sets != set_oracle_.sets() || late_sets != set_oracle_.late_sets()) {
        object("producers say that {} of {} sets were late, but it were {} of {}", late_sets, sets,
               set_oracle_.late_sets(), set_oracle_.sets());
    }
}

}  // namespace weir::simulation
