#include "simulation/checker.hpp"

#include <algorithm>

namespace weir::simulation {

using core::Bytes;
using core::ConsumerId;
using core::EventId;
using core::MessageKind;
using core::NodeId;
using core::Observation;
using core::PolicyKind;
using core::ProducerId;
using core::Role;

Checker::Checker(const core::Plan& plan)
    : plan_(plan),
      direct_(plan.policy == PolicyKind::none),
      equal_events_(plan.event_size.kind == core::DistributionKind::fixed &&
                    (plan.generation != core::Generation::sets ||
                     plan.set_bytes().count % static_cast<std::int64_t>(plan.event_size.mean) == 0)),
      producers_(plan.producers),
      consumers_(plan.consumers),
      places_(std::size_t{plan.consumers} * plan.places()),
      consumers_by_credits_(plan.slots + 1) {
    consumers_by_credits_[0] = plan.consumers;
}

Checker::Event* Checker::find(EventId event) {
    if (event.producer().value >= producers_.size()) {
        return nullptr;
    }
    Producer& producer = producers_[event.producer().value];
    if (event.sequence() < producer.first || event.sequence() - producer.first >= producer.events.size()) {
        return nullptr;
    }
    return &producer.events[event.sequence() - producer.first];
}

// Events

void Checker::observed(core::Instant now, NodeId node, const Observation& observation) {
    switch (observation.kind) {
        case Observation::Kind::generated: {
            Producer& producer = producers_[node.index];
            if (observation.event.producer().value != node.index ||
                observation.event.sequence() != producer.first + producer.events.size()) {
                object("producer {} generated event {} out of order", node.index,
                       observation.event.sequence());
                return;
            }
            producer.events.push_back(
                {.bytes = observation.bytes, .generated = now, .handed_over = {}, .arrived = {}});
            producer.backlog += observation.bytes;
            return;
        }
        case Observation::Kind::lost: {
            Event* event = find(observation.event);
            if (event == nullptr || event->fate != Fate::waiting) {
                object("producer {} lost event {}, which was already delivered or lost", node.index,
                       observation.event.sequence());
                return;
            }
            const bool drained = now >= core::Instant{plan_.duration.ns} + plan_.drain;
            const bool dropped = plan_.overflow == core::Overflow::drop && event->generated == now;
            if (!drained && !dropped) {
                object("producer {} loses event {} although there is time left to send it", node.index,
                       observation.event.sequence());
                return;
            }
            event->fate = Fate::lost;
            producers_[node.index].backlog -= event->bytes;
            forget_settled(producers_[node.index]);
            return;
        }
        case Observation::Kind::received: {
            Event* event = find(observation.event);
            if (event == nullptr || event->fate != Fate::waiting) {
                object("consumer {} received event {} of producer {}, which was already delivered or lost",
                       node.index, observation.event.sequence(), observation.event.producer().value);
                return;
            }
            if ((plan_.lossy() ? event->arrived < event->bytes : event->arrived != event->bytes) ||
                observation.bytes != event->bytes || event->place == no_place ||
                event->place / plan_.places() != node.index) {
                object(
                    "consumer {} received event {} of producer {} with {} of {} bytes arrived, or it was not "
                    "sent there",
                    node.index, observation.event.sequence(), observation.event.producer().value,
                    event->arrived.count, event->bytes.count);
                return;
            }
            event->fate = Fate::delivered;
            Place& place = places_[event->place];
            place.carries = false;
            place.posted = false;
            place.delivered = true;
            ask_settled(event->place);
            if (direct_) {
                move_credit(event->place, Credit::granted, Credit::withheld, "an event came into it");
            }
            forget_settled(producers_[observation.event.producer().value]);
            return;
        }
        case Observation::Kind::given_up: {
            if (observation.bytes == Bytes{}) {
                return;  // declined
            }
            Event* event = find(observation.event);
            if (!plan_.lossy() || event == nullptr || event->fate != Fate::waiting ||
                (event->handed_over != event->bytes && !event->again) || event->place == no_place ||
                event->place / plan_.places() != node.index) {
                object("consumer {} gives up event {} of producer {}, which was not sent to it", node.index,
                       observation.event.sequence(), observation.event.producer().value);
                return;
            }
            event->fate = Fate::lost;
            Place& place = places_[event->place];
            place.carries = false;
            place.posted = false;
            ask_settled(event->place);
            if (direct_) {
                move_credit(event->place, Credit::granted, Credit::withheld, "an event was given up in it");
            }
            forget_settled(producers_[observation.event.producer().value]);
            return;
        }
        default:
            return;
    }
}

void Checker::forget_settled(Producer& producer) {
    while (!producer.events.empty() && producer.events.front().fate != Fate::waiting &&
           !producer.events.front().retained) {
        producer.events.pop_front();
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
        sent.slot.value >= plan_.places()) {
        object("producer {} sends a chunk of event {} at byte {} that it does not have or has sent before",
               producer.value, chunk.event.sequence(), chunk.offset.count);
        return;
    }
    const std::uint32_t flat_place = flat(sent.to.value, sent.slot.value);
    Place& place = places_[flat_place];
    if (event->place == no_place) {
        if (place.credit != Credit::granted || place.producer != producer.value || place.carries ||
            (pulls() && !place.asked)) {
            object("producer {} sends event {} into place {} of consumer {}, which was not granted to it",
                   producer.value, chunk.event.sequence(), sent.slot.value, sent.to.value);
            return;
        }
        if (builds() && place.event != chunk.event) {
            object("producer {} sends event {} where event {} was granted", producer.value,
                   chunk.event.sequence(), place.event.sequence());
            return;
        }
        event->place = flat_place;
        place.carries = true;
        place.event = chunk.event;
    } else if (event->place != flat_place) {
        object("producer {} sends event {} into two slots", producer.value, chunk.event.sequence());
        return;
    }
    event->handed_over += chunk.length;
    if (plan_.asks_again()) {
        event->retained = true;
        kept_[{producer.value, flat_place}] = chunk.event;
    }
}

void Checker::chunk_left(ProducerId producer, const core::ChunkDescription& chunk) {
    if (plan_.asks_again()) {
        return;
    }
    producers_[producer.value].backlog -= chunk.length;
}

void Checker::backlog_claimed(ProducerId producer, Bytes backlog) {
    if (backlog != producers_[producer.value].backlog) {
        object(
            "producer {} says that it holds {} bytes, but {} were generated and have neither left nor been "
            "lost",
            producer.value, backlog.count, producers_[producer.value].backlog.count);
    }
}

void Checker::chunk_arrived(ConsumerId consumer, core::SlotId slot, const core::ChunkDescription& chunk) {
    const Place& place = places_[flat(consumer.value, slot.value)];
    Event* event = find(chunk.event);
    if (plan_.lossy()) {
        // May be late, of an event that is over; what counts is what the consumer makes of it.
        if (event != nullptr) {
            event->arrived += chunk.length;
        }
        return;
    }
    const bool in_order = event != nullptr && event->arrived == chunk.offset;
    if (!place.posted || !place.carries || place.event != chunk.event || event == nullptr ||
        (!in_order && plan_.shaping.kind == core::ShapingKind::none) ||
        event->arrived + chunk.length > event->handed_over) {
        object("a chunk of event {} of producer {} at byte {} arrives unexpected in slot {} of consumer {}",
               chunk.event.sequence(), chunk.event.producer().value, chunk.offset.count, slot.value,
               consumer.value);
        return;
    }
    event->arrived += chunk.length;
}

void Checker::all_finished() {
    for (std::uint32_t producer = 0; producer < producers_.size(); ++producer) {
        std::uint64_t sequence = producers_[producer].first;
        for (const Event& event : producers_[producer].events) {
            if (event.fate == Fate::waiting) {
                object("event {} of producer {} was neither delivered nor lost when the run was over",
                       sequence, producer);
                break;
            }
            ++sequence;
        }
    }
}

// Credits

void Checker::slot_opened(ConsumerId consumer, core::SlotId slot) {
    Place& place = places_[flat(consumer.value, slot.value)];
    // An event that lacks a fragment frees its slot with receives left over.
    if (place.posted && !place.declined) {
        object("consumer {} posts the receives of slot {} twice", consumer.value, slot.value);
    }
    place.posted = true;
    place.declined = false;
}

void Checker::move_credit(std::uint32_t place, Credit from, Credit to, const char* what) {
    static constexpr const char* holders[] = {"its consumer", "a message to the scheduler", "the scheduler",
                                              "a producer", "a message of a producer"};
    Place& moved = places_[place];
    if (moved.credit != from) {
        object("place {} of consumer {}: {}, but its credit is with {}", place % plan_.places(),
               place / plan_.places(), what, holders[static_cast<std::size_t>(moved.credit)]);
    }
    moved.credit = to;
}

void Checker::move_credit_of_slot(std::uint32_t consumer, std::uint32_t slot, Credit from, Credit to,
                                  const char* what) {
    const std::uint32_t fragments = plan_.fragments_per_event();
    for (std::uint32_t fragment = 0; fragment < fragments; ++fragment) {
        move_credit(flat(consumer, slot * fragments + fragment), from, to, what);
    }
}

void Checker::check_posted(std::uint32_t consumer, std::uint32_t slot) {
    const std::uint32_t fragments = plan_.fragments_per_event();
    for (std::uint32_t fragment = 0; fragment < fragments; ++fragment) {
        if (!places_[flat(consumer, slot * fragments + fragment)].posted) {
            object("consumer {} gives the credit of slot {} before its receives are posted", consumer, slot);
        }
    }
}

void Checker::message_sent(NodeId from, const core::SendMessage& sent) {
    const core::ControlMessage& message = sent.message;
    switch (message.kind) {
        case MessageKind::ready:
            ready_sent(from, message);
            return;
        case MessageKind::done:
            done_sent(from, message);
            return;
        case MessageKind::grant:
            grant_sent(from, sent.to, message);
            return;
        case MessageKind::assign:
            assign_sent(from, sent.to, message);
            return;
        case MessageKind::decline:
            decline_sent(from, sent.to, message);
            return;
        case MessageKind::finish:
            closed_ = true;
            return;
        default:
            return;
    }
}

void Checker::ready_sent(NodeId from, const core::ControlMessage& message) {
    move_credit_of_slot(from.index, message.slot, Credit::withheld, Credit::under_way,
                        "it is said to be ready");
    check_posted(from.index, message.slot);
}

void Checker::done_sent(NodeId from, const core::ControlMessage& message) {
    const std::uint32_t fragments = plan_.fragments_per_event();
    std::uint64_t delivered = 0;
    for (std::uint32_t fragment = 0; fragment < fragments; ++fragment) {
        delivered += places_[flat(from.index, message.slot * fragments + fragment)].delivered ? 1U : 0U;
    }
    const bool incomplete = (message.flag & core::DoneFlag::incomplete) != 0;
    if (message.events != delivered || incomplete != (delivered < fragments)) {
        object("consumer {} says that {} fragments arrived in slot {}, and {} of {} did", from.index,
               message.events, message.slot, delivered, fragments);
    }
    declined_ = declined_ || incomplete;  // it brought less than it was granted
    const bool free = (message.flag & core::DoneFlag::slot_is_free) != 0;
    move_credit_of_slot(from.index, message.slot, Credit::granted,
                        free ? Credit::under_way : Credit::withheld, "an event came into it");
    if (free) {
        check_posted(from.index, message.slot);
    }
}

void Checker::grant_sent(NodeId from, NodeId to, const core::ControlMessage& message) {
    const bool by_consumer = direct_ || pulls();
    if (message.node >= plan_.consumers || message.slot >= plan_.places() || to.role != Role::producer ||
        to.index >= plan_.producers ||
        (by_consumer ? from != NodeId{Role::consumer, message.node} : from != core::scheduler_node())) {
        object("a grant that names no slot, goes to no producer or comes from the wrong node");
        return;
    }
    const std::uint32_t flat_place = flat(message.node, message.slot);
    Place& place = places_[flat_place];
    if (pulls()) {
        if (place.credit != Credit::granted || place.producer != to.index || place.asked ||
            (builds() && place.event.sequence() != message.events)) {
            object(
                "consumer {} asks producer {} for a fragment in place {} that was not assigned or was asked "
                "for",
                from.index, to.index, message.slot);
        }
        place.asked = true;
        if (++consumers_[from.index].asked > plan_.requests) {
            object("consumer {} has asked for more than {} fragments at a time", from.index, plan_.requests);
        }
        return;
    }
    move_credit(flat_place, direct_ ? Credit::withheld : Credit::at_scheduler, Credit::granted,
                "it is granted");
    place.producer = to.index;
    place.delivered = false;
    if (!place.posted) {
        object("place {} of consumer {} is granted before its receives are posted", message.slot,
               message.node);
    }
    if (direct_) {
        return;
    }
    const std::uint32_t fragment = message.slot % plan_.fragments_per_event();
    if (builds()) {
        place.event = EventId::of(ProducerId{to.index}, message.events);
        if (fragment != to.index || message.events + (fragment > 0 ? 1 : 0) != together_.granted) {
            object("event {} is granted to producer {} for the fragment of producer {}, or out of order",
                   message.events, to.index, fragment);
        }
    }
    if (fragment == 0) {
        granted_by_scheduler(to.index, message.node);
    }
}

void Checker::assign_sent(NodeId from, NodeId to, const core::ControlMessage& message) {
    if (!pulls() || from != core::scheduler_node() || to.role != Role::consumer ||
        to.index >= plan_.consumers || message.slot >= plan_.slots ||
        (!builds() && message.node >= plan_.producers)) {
        object("an assignment that names no slot, goes to no consumer or comes from the wrong node");
        return;
    }
    const std::uint32_t fragments = plan_.fragments_per_event();
    move_credit_of_slot(to.index, message.slot, Credit::at_scheduler, Credit::granted, "it is assigned");
    check_posted(to.index, message.slot);
    for (std::uint32_t fragment = 0; fragment < fragments; ++fragment) {
        Place& place = places_[flat(to.index, message.slot * fragments + fragment)];
        place.producer = builds() ? fragment : message.node;
        place.event = EventId::of(ProducerId{place.producer}, message.events);
        place.asked = false;
        place.delivered = false;
    }
    granted_by_scheduler(builds() ? 0 : message.node, to.index);
}

void Checker::decline_sent(NodeId from, NodeId to, const core::ControlMessage& message) {
    declined_ = true;
    const std::uint32_t flat_place = flat(message.node, message.slot);
    if (!builds() && !pulls()) {
        move_credit(flat_place, Credit::granted, Credit::declined, "its grant is declined");
        return;
    }
    Place& place = places_[flat_place];
    if (place.credit != Credit::granted || place.producer != from.index || place.carries || place.delivered ||
        to != NodeId{Role::consumer, message.node}) {
        object("producer {} declines place {} of consumer {}, which was not granted to it or is in use",
               from.index, message.slot, message.node);
    }
    place.declined = true;
}

/// It will not be asked for any more.
void Checker::release(EventId event) {
    Event* released = find(event);
    if (released == nullptr || !released->retained) {
        return;
    }
    Producer& producer = producers_[event.producer().value];
    released->retained = false;
    producer.backlog -= released->bytes;
    forget_settled(producer);
}

/// Pull: a fragment that was asked for has come, or has been declined.
void Checker::ask_settled(std::uint32_t place) {
    if (pulls() && places_[place].asked) {
        --consumers_[place / plan_.places()].asked;
    }
}

void Checker::message_taken(NodeId from, NodeId to, const core::ControlMessage& message) {
    if (to.role == Role::consumer && message.kind == MessageKind::decline && !direct_) {
        ask_settled(flat(message.node, message.slot));
        return;
    }
    if (to.role == Role::consumer && message.kind == MessageKind::decline) {
        move_credit(flat(message.node, message.slot), Credit::declined, Credit::withheld,
                    "a decline comes back");
    }
    if (to.role == Role::producer && message.kind == MessageKind::taken) {
        const Event* event = find(EventId{message.event});
        if (event != nullptr && event->fate == Fate::waiting) {
            object("consumer {} has taken event {} of producer {}, which it did not receive", from.index,
                   EventId{message.event}.sequence(), to.index);
            return;
        }
        release(EventId{message.event});
    }
    if (to.role == Role::producer && message.kind == MessageKind::grant && plan_.asks_again()) {
        // Then it knows that the place was free, also if it has not been told yet.
        const auto kept = kept_.find({to.index, flat(message.node, message.slot)});
        if (kept != kept_.end()) {
            release(kept->second);
        }
    }
    if (to.role != Role::scheduler || direct_) {
        return;
    }
    switch (message.kind) {
        case MessageKind::ready:
            move_credit_of_slot(from.index, message.slot, Credit::under_way, Credit::at_scheduler,
                                "its credit comes");
            credit_comes(from.index);
            return;
        case MessageKind::done: {
            const std::uint32_t producer = EventId{message.event}.producer().value;
            --source(producer).under_way;
            update_eligible(producer);
            if ((message.flag & core::DoneFlag::slot_is_free) != 0) {
                move_credit_of_slot(from.index, message.slot, Credit::under_way, Credit::at_scheduler,
                                    "its credit comes");
                credit_comes(from.index);
            }
            return;
        }
        case MessageKind::decline:
            move_credit(flat(message.node, message.slot), Credit::declined, Credit::at_scheduler,
                        "a decline comes back");
            --producers_[from.index].under_way;
            update_eligible(from.index);
            credit_comes(message.node);
            return;
        case MessageKind::offer:
            producers_[from.index].offered = message.events;
            offers_change(from.index);
            return;
        case MessageKind::drained:
            producers_[from.index].offered =
                std::min(producers_[from.index].offered, source(from.index).granted);
            offers_change(from.index);
            return;
        default:
            return;
    }
}

/// Pattern `build`: an event is there when all have offered it.
void Checker::offers_change(std::uint32_t producer) {
    if (builds()) {
        const auto least =
            std::min_element(producers_.begin(), producers_.end(),
                             [](const Producer& a, const Producer& b) { return a.offered < b.offered; });
        together_.offered = least->offered;
    }
    update_eligible(producer);
}

void Checker::credit_comes(std::uint32_t consumer) {
    Consumer& account = consumers_[consumer];
    if (account.credits == 0) {
        account.available_since = grants_;
    }
    --consumers_by_credits_[account.credits];
    ++account.credits;
    if (account.credits > plan_.slots) {
        object("consumer {} has more credits than slots", consumer);
        return;
    }
    ++consumers_by_credits_[account.credits];
    ++credits_;
    if (plan_.policy == PolicyKind::token) {
        tokens_.push_back(consumer);
    }
}

}  // namespace weir::simulation
