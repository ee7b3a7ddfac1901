// The checker's part about messages: where the credit of a slot is, what may be granted into it, and what is
// said when it is done.
#include <algorithm>

#include "simulation/checker.hpp"

namespace weir::simulation {

using core::ConsumerId;
using core::EventId;
using core::MessageKind;
using core::NodeId;
using core::PolicyKind;
using core::ProducerId;
using core::Role;

void Checker::place_opened(ConsumerId consumer, core::PlaceId opened) {
    Place& place = places_[flat(consumer.value, opened.value)];
    // An event that lacks a fragment frees its slot with receives left over.
    if (place.posted && !place.declined) {
        object("consumer {} posts the receives of place {} twice", consumer.value, opened.value);
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
void Checker::release(core::Instant now, EventId event) {
    Event* released = find(event);
    if (released == nullptr || !released->retained) {
        return;
    }
    Producer& producer = producers_[event.producer().value];
    released->retained = false;
    producer.backlog -= released->bytes;
    set_oracle_.released(now, event);
    forget_settled(producer);
}

/// Pull: a fragment that was asked for has come, or has been declined.
void Checker::ask_settled(std::uint32_t place) {
    if (pulls() && places_[place].asked) {
        --consumers_[place / plan_.places()].asked;
    }
}

void Checker::message_taken(core::Instant now, NodeId from, NodeId to, const core::ControlMessage& message) {
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
        release(now, EventId{message.event});
    }
    if (to.role == Role::producer && message.kind == MessageKind::grant && plan_.asks_again()) {
        // Then it knows that the place was free, also if it has not been told yet.
        const auto kept = kept_.find({to.index, flat(message.node, message.slot)});
        if (kept != kept_.end()) {
            release(now, kept->second);
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
