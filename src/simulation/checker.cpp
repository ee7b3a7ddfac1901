#include "simulation/checker.hpp"

#include <fmt/format.h>

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
      slots_(std::size_t{plan.consumers} * plan.slots),
      consumers_by_credits_(plan.slots + 1) {
    consumers_by_credits_[0] = plan.consumers;
}

template <typename... Arguments>
void Checker::object(const char* form, const Arguments&... arguments) {
    if (!objection_) {
        objection_ = fmt::format(fmt::runtime(form), arguments...);
    }
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
            if (event->arrived != event->bytes || observation.bytes != event->bytes ||
                event->slot == no_slot || event->slot / plan_.slots != node.index) {
                object(
                    "consumer {} received event {} of producer {} with {} of {} bytes arrived, or it was not "
                    "sent there",
                    node.index, observation.event.sequence(), observation.event.producer().value,
                    event->arrived.count, event->bytes.count);
                return;
            }
            event->fate = Fate::delivered;
            Slot& slot = slots_[event->slot];
            slot.carries = false;
            slot.posted = false;
            if (direct_) {
                move_credit(event->slot, Credit::granted, Credit::withheld, "an event came into it");
            }
            forget_settled(producers_[observation.event.producer().value]);
            return;
        }
        default:
            return;
    }
}

void Checker::forget_settled(Producer& producer) {
    while (!producer.events.empty() && producer.events.front().fate != Fate::waiting) {
        producer.events.pop_front();
        ++producer.first;
    }
}

void Checker::chunk_handed_over(ProducerId producer, const core::SendChunk& sent) {
    const core::ChunkDescription& chunk = sent.chunk;
    Event* event = find(chunk.event);
    if (event == nullptr || event->fate != Fate::waiting || chunk.event.producer() != producer ||
        chunk.offset != event->handed_over || chunk.offset + chunk.length > event->bytes ||
        chunk.event_bytes != event->bytes || sent.to.value >= plan_.consumers ||
        sent.slot.value >= plan_.slots) {
        object("producer {} sends a chunk of event {} at byte {} that it does not have or has sent before",
               producer.value, chunk.event.sequence(), chunk.offset.count);
        return;
    }
    const std::uint32_t place = flat(sent.to.value, sent.slot.value);
    Slot& slot = slots_[place];
    if (event->slot == no_slot) {
        if (slot.credit != Credit::granted || slot.producer != producer.value || slot.carries) {
            object("producer {} sends event {} into slot {} of consumer {}, which was not granted to it",
                   producer.value, chunk.event.sequence(), sent.slot.value, sent.to.value);
            return;
        }
        event->slot = place;
        slot.carries = true;
        slot.event = chunk.event;
    } else if (event->slot != place) {
        object("producer {} sends event {} into two slots", producer.value, chunk.event.sequence());
        return;
    }
    event->handed_over += chunk.length;
}

void Checker::chunk_left(ProducerId producer, const core::ChunkDescription& chunk) {
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
    const Slot& place = slots_[flat(consumer.value, slot.value)];
    Event* event = find(chunk.event);
    if (!place.posted || !place.carries || place.event != chunk.event || event == nullptr ||
        event->arrived != chunk.offset || event->arrived + chunk.length > event->handed_over) {
        object("a chunk of event {} of producer {} at byte {} arrives unexpected in slot {} of consumer {}",
               chunk.event.sequence(), chunk.event.producer().value, chunk.offset.count, slot.value,
               consumer.value);
        return;
    }
    event->arrived += chunk.length;
}

void Checker::all_finished() {
    for (std::uint32_t producer = 0; producer < producers_.size(); ++producer) {
        if (!producers_[producer].events.empty()) {
            object("event {} of producer {} was neither delivered nor lost when the run was over",
                   producers_[producer].first, producer);
        }
    }
}

// Credits

void Checker::slot_opened(ConsumerId consumer, core::SlotId slot) {
    Slot& place = slots_[flat(consumer.value, slot.value)];
    if (place.posted) {
        object("consumer {} posts the receives of slot {} twice", consumer.value, slot.value);
    }
    place.posted = true;
}

void Checker::move_credit(std::uint32_t slot, Credit from, Credit to, const char* what) {
    static constexpr const char* places[] = {"its consumer", "a message to the scheduler", "the scheduler",
                                             "a producer", "a message of a producer"};
    Slot& place = slots_[slot];
    if (place.credit != from) {
        object("slot {} of consumer {}: {}, but its credit is with {}", slot % plan_.slots,
               slot / plan_.slots, what, places[static_cast<std::size_t>(place.credit)]);
    }
    place.credit = to;
}

void Checker::message_sent(NodeId from, const core::SendMessage& sent) {
    const core::ControlMessage& message = sent.message;
    switch (message.kind) {
        case MessageKind::ready: {
            const std::uint32_t slot = flat(from.index, message.slot);
            move_credit(slot, Credit::withheld, Credit::under_way, "it is said to be ready");
            if (!slots_[slot].posted) {
                object("consumer {} gives the credit of slot {} before its receives are posted", from.index,
                       message.slot);
            }
            return;
        }
        case MessageKind::done: {
            const std::uint32_t slot = flat(from.index, message.slot);
            const bool free = message.flag != 0;
            move_credit(slot, Credit::granted, free ? Credit::under_way : Credit::withheld,
                        "an event came into it");
            if (free && !slots_[slot].posted) {
                object("consumer {} gives the credit of slot {} before its receives are posted", from.index,
                       message.slot);
            }
            return;
        }
        case MessageKind::grant: {
            if (message.node >= plan_.consumers || message.slot >= plan_.slots ||
                sent.to.role != Role::producer || sent.to.index >= plan_.producers ||
                (direct_ ? from != NodeId{Role::consumer, message.node} : from != core::scheduler_node())) {
                object("a grant that names no slot, goes to no producer or comes from the wrong node");
                return;
            }
            const std::uint32_t slot = flat(message.node, message.slot);
            move_credit(slot, direct_ ? Credit::withheld : Credit::at_scheduler, Credit::granted,
                        "it is granted");
            slots_[slot].producer = sent.to.index;
            if (!slots_[slot].posted) {
                object("slot {} of consumer {} is granted before its receives are posted", message.slot,
                       message.node);
            }
            if (!direct_) {
                granted_by_scheduler(sent.to.index, message.node);
            }
            return;
        }
        case MessageKind::decline:
            move_credit(flat(message.node, message.slot), Credit::granted, Credit::declined,
                        "its grant is declined");
            declined_ = true;
            return;
        case MessageKind::finish:
            closed_ = true;
            return;
        default:
            return;
    }
}

void Checker::message_taken(NodeId from, NodeId to, const core::ControlMessage& message) {
    if (to.role == Role::consumer && message.kind == MessageKind::decline) {
        move_credit(flat(message.node, message.slot), Credit::declined, Credit::withheld,
                    "a decline comes back");
    }
    if (to.role != Role::scheduler || direct_) {
        return;
    }
    switch (message.kind) {
        case MessageKind::ready:
            move_credit(flat(from.index, message.slot), Credit::under_way, Credit::at_scheduler,
                        "its credit comes");
            credit_comes(from.index);
            return;
        case MessageKind::done: {
            const std::uint32_t producer = EventId{message.event}.producer().value;
            --producers_[producer].under_way;
            update_eligible(producer);
            if (message.flag != 0) {
                move_credit(flat(from.index, message.slot), Credit::under_way, Credit::at_scheduler,
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
            update_eligible(from.index);
            return;
        case MessageKind::drained:
            producers_[from.index].offered = producers_[from.index].granted;
            update_eligible(from.index);
            return;
        default:
            return;
    }
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

// Grants and policies

void Checker::update_eligible(std::uint32_t index) {
    Producer& producer = producers_[index];
    const bool eligible = producer.offered > producer.granted && producer.under_way < plan_.streams;
    if (eligible != producer.eligible) {
        producer.eligible = eligible;
        producer.passed_over = 0;
        eligible_producers_ = eligible ? eligible_producers_ + 1 : eligible_producers_ - 1;
    }
}

void Checker::granted_by_scheduler(std::uint32_t producer, std::uint32_t consumer) {
    Producer& served = producers_[producer];
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
    check_choice(consumer);
    ++grants_;
    ++served.granted;
    ++served.under_way;
    served.passed_over = 0;
    update_eligible(producer);
    Consumer& taken = consumers_[consumer];
    --consumers_by_credits_[taken.credits];
    --taken.credits;
    ++consumers_by_credits_[taken.credits];
    --credits_;
    ++taken.granted;
    taken.available_since = grants_;
    check_patience();
}

void Checker::check_choice(std::uint32_t consumer) {
    switch (plan_.policy) {
        case PolicyKind::token:
            if (tokens_.empty() || tokens_.front() != consumer) {
                object("policy token: consumer {} is served before consumer {}, whose credit came first",
                       consumer, tokens_.empty() ? 0 : tokens_.front());
                return;
            }
            tokens_.pop_front();
            return;
        case PolicyKind::round_robin:
            if (consumer != turn_) {
                object("policy round-robin: consumer {} is served, but it is the turn of consumer {}",
                       consumer, turn_);
                return;
            }
            turn_ = (turn_ + 1) % plan_.consumers;
            return;
        case PolicyKind::balanced:
            check_balance(consumer);
            return;
        default:
            return;
    }
}

void Checker::check_balance(std::uint32_t consumer) {
    const Consumer& chosen = consumers_[consumer];
    if (grants_ - chosen.available_since >= patience * plan_.consumers) {
        return;  // has waited for so long that it is its turn, whatever the others have
    }
    for (std::uint32_t more = chosen.credits + 1; more <= plan_.slots; ++more) {
        if (consumers_by_credits_[more] > 0) {
            object(
                "policy balanced: consumer {} is served with {} of its slots free, while another has {} free",
                consumer, chosen.credits, more);
            return;
        }
    }
    // Walking over all consumers at each grant is for small runs only; the rule is the same in large ones.
    constexpr std::uint32_t few = 64;
    if (!equal_events_ || declined_ || plan_.consumers > few) {
        return;
    }
    for (std::uint32_t other = 0; other < plan_.consumers; ++other) {
        if (consumers_[other].credits == chosen.credits && consumers_[other].granted < chosen.granted) {
            object(
                "policy balanced: consumer {} is served, while consumer {} is as ready and was granted less",
                consumer, other);
            return;
        }
    }
}

/// All of a role are looked at together, now and then, which costs little.
void Checker::check_patience() {
    check_producers_patience();
    check_consumers_patience();
}

void Checker::check_producers_patience() {
    const std::uint64_t together = std::max<std::uint64_t>(1, plan_.producers / 4);
    if (plan_.policy == PolicyKind::random || grants_ % together != 0) {
        return;
    }
    const std::uint64_t bound = (patience + 2) * plan_.producers + plan_.streams + together;
    for (std::uint32_t index = 0; index < producers_.size(); ++index) {
        Producer& producer = producers_[index];
        if (producer.eligible && (producer.passed_over += together) > bound) {
            object("producer {} starves: {} grants went to others while it waited with a stream free", index,
                   producer.passed_over);
            return;
        }
    }
}

/// Policies token and round-robin keep an order, which is checked at each grant.
void Checker::check_consumers_patience() {
    const std::uint64_t together = std::max<std::uint64_t>(1, plan_.consumers / 4);
    if (plan_.policy != PolicyKind::balanced || grants_ % together != 0) {
        return;
    }
    const std::uint64_t bound = (patience + 2) * plan_.consumers;
    for (std::uint32_t index = 0; index < consumers_.size(); ++index) {
        const Consumer& consumer = consumers_[index];
        if (consumer.credits > 0 && grants_ - consumer.available_since > bound) {
            object("consumer {} starves: {} grants went to others while its credits were there", index,
                   grants_ - consumer.available_since);
            return;
        }
    }
}

void Checker::scheduler_decided() {
    if (direct_ || closed_ || eligible_producers_ == 0) {
        return;
    }
    const bool credit =
        plan_.policy == PolicyKind::round_robin ? consumers_[turn_].credits > 0 : credits_ > 0;
    if (credit) {
        object(
            "the scheduler leaves events waiting although it has a credit for them ({} producers could send)",
            eligible_producers_);
    }
}

}  // namespace weir::simulation
