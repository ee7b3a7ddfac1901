// The checker's part about messages: where the credit of a slot is, what may be granted into it, and what is
// said when it is done.
#include <algorithm>

#include "simulation/checker.hpp"

namespace weir::simulation {

using core::ConsumerId;
using core::EventId;
using core::NodeId;
using core::ProducerId;
using core::Role;

void Checker::place_opened(ConsumerId consumer, core::PlaceId opened) {
    Place& place = places_[flat(consumer.value, consumers_[consumer.value].own_epoch, opened)];
    if (!consumers_[consumer.value].joined) {
        object("consumer {} posts receives before it is taken in", consumer.value);
    }
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
               owner_of(place), what, holders[static_cast<std::size_t>(moved.credit)]);
    }
    moved.credit = to;
}

void Checker::move_credit_of_slot(std::uint32_t consumer, core::Epoch epoch, core::SlotId slot, Credit from,
                                  Credit to, const char* what) {
    for (std::uint32_t fragment = 0; fragment < plan_.fragments_per_event(); ++fragment) {
        move_credit(flat(consumer, epoch, plan_.place_of(slot, fragment)), from, to, what);
    }
}

void Checker::check_posted(std::uint32_t consumer, core::Epoch epoch, core::SlotId slot) {
    for (std::uint32_t fragment = 0; fragment < plan_.fragments_per_event(); ++fragment) {
        if (!places_[flat(consumer, epoch, plan_.place_of(slot, fragment))].posted) {
            object("consumer {} gives the credit of slot {} before its receives are posted", consumer,
                   slot.value);
        }
    }
}

void Checker::message_sent(NodeId from, const core::SendMessage& message) {
    std::visit(
        [&](const auto& body) {
            if constexpr (requires { sent(from, message.to, body); }) {
                sent(from, message.to, body);
            }
        },
        message.message);
}

void Checker::sent(NodeId from, NodeId /*to*/, const core::Ready& ready) {
    check_own_epoch(from.index, ready.epoch);
    move_credit_of_slot(from.index, ready.epoch, ready.slot, Credit::withheld, Credit::under_way,
                        "it is said to be ready");
    check_posted(from.index, ready.epoch, ready.slot);
}

void Checker::sent(NodeId from, NodeId /*to*/, const core::Done& done) {
    check_own_epoch(from.index, done.epoch);
    const std::uint32_t fragments = plan_.fragments_per_event();
    std::uint32_t delivered = 0;
    for (std::uint32_t fragment = 0; fragment < fragments; ++fragment) {
        const std::uint32_t place = flat(from.index, done.epoch, plan_.place_of(done.slot, fragment));
        delivered += places_[place].delivered ? 1U : 0U;
    }
    if (done.fragments != delivered) {
        object("consumer {} says that {} fragments arrived in slot {}, and {} of {} did", from.index,
               done.fragments, done.slot.value, delivered, fragments);
    }
    declined_ = declined_ || delivered < fragments;  // it brought less than it was granted
    const bool free = done.credit == core::Done::Credit::given;
    move_credit_of_slot(from.index, done.epoch, done.slot, Credit::granted,
                        free ? Credit::under_way : Credit::withheld, "an event came into it");
    if (free) {
        check_posted(from.index, done.epoch, done.slot);
    }
}

void Checker::sent(NodeId from, NodeId to, const core::Grant& grant) {
    const auto [consumer, granted, number, epoch] = grant;
    const bool by_consumer = plan_.consumers_grant() || plan_.pulls();
    if (consumer.value >= plan_.consumers || granted.value >= plan_.places() || to.role != Role::producer ||
        to.index >= plan_.producers || from != (by_consumer ? node_of(consumer) : core::scheduler_node())) {
        object("a grant that names no place, goes to no producer or comes from the wrong node");
        return;
    }
    const std::uint32_t flat_place = flat(consumer.value, epoch, granted);
    if (is_over(consumer.value, epoch)) {
        object("a slot of consumer {} is granted in its life {}, which is over", consumer.value, epoch);
    }
    Place& place = places_[flat_place];
    if (plan_.pulls()) {
        if (place.credit != Credit::granted || place.producer != to.index || place.asked ||
            (plan_.builds() && place.event.sequence() != number)) {
            object(
                "consumer {} asks producer {} for a fragment in place {} that was not assigned or was asked "
                "for",
                from.index, to.index, granted.value);
        }
        place.asked = true;
        if (++consumers_[from.index].asked > plan_.requests) {
            object("consumer {} has asked for more than {} fragments at a time", from.index, plan_.requests);
        }
        return;
    }
    move_credit(flat_place, plan_.consumers_grant() ? Credit::withheld : Credit::at_scheduler,
                Credit::granted, "it is granted");
    place.producer = to.index;
    place.delivered = false;
    place.outstanding = true;
    if (!place.posted) {
        object("place {} of consumer {} is granted before its receives are posted", granted.value,
               consumer.value);
    }
    if (plan_.consumers_grant()) {
        return;
    }
    const std::uint32_t fragment = plan_.fragment_of(granted);
    if (plan_.builds()) {
        place.event = EventId::of(ProducerId{to.index}, number);
        if (fragment != to.index || number + (fragment > 0 ? 1 : 0) != together_.granted) {
            object("event {} is granted to producer {} for the fragment of producer {}, or out of order",
                   number, to.index, fragment);
        }
    }
    if (fragment == 0) {
        granted_by_scheduler(to.index, consumer.value);
    }
}

void Checker::sent(NodeId from, NodeId to, const core::Assign& assign) {
    const auto [slot, producer, number] = assign;
    if (!plan_.pulls() || from != core::scheduler_node() || to.role != Role::consumer ||
        to.index >= plan_.consumers || slot.value >= plan_.slots ||
        (!plan_.builds() && producer.value >= plan_.producers)) {
        object("an assignment that names no slot, goes to no consumer or comes from the wrong node");
        return;
    }
    move_credit_of_slot(to.index, 0, slot, Credit::at_scheduler, Credit::granted, "it is assigned");
    check_posted(to.index, 0, slot);
    for (std::uint32_t fragment = 0; fragment < plan_.fragments_per_event(); ++fragment) {
        Place& place = places_[flat(to.index, 0, plan_.place_of(slot, fragment))];
        place.producer = plan_.builds() ? fragment : producer.value;
        place.event = EventId::of(ProducerId{place.producer}, number);
        place.asked = false;
        place.delivered = false;
    }
    granted_by_scheduler(plan_.builds() ? 0 : producer.value, to.index);
}

void Checker::sent(NodeId from, NodeId to, const core::Decline& decline) {
    declined_ = true;
    const std::uint32_t flat_place = flat(decline.consumer.value, decline.epoch, decline.place);
    if (!plan_.builds() && !plan_.pulls()) {
        move_credit(flat_place, Credit::granted, Credit::declined, "its grant is declined");
        return;
    }
    Place& place = places_[flat_place];
    if (place.credit != Credit::granted || place.producer != from.index || place.carries || place.delivered ||
        to != node_of(decline.consumer)) {
        object("producer {} declines place {} of consumer {}, which was not granted to it or is in use",
               from.index, decline.place.value, decline.consumer.value);
    }
    place.declined = true;
}

void Checker::sent(NodeId /*from*/, NodeId /*to*/, const core::Finish& /*finish*/) {
    closed_ = true;
}

/// It will not be asked for any more.
void Checker::release(core::Instant now, EventId event) {
    Event* released = find(event);
    if (released == nullptr || !released->retained) {
        return;
    }
    ProducerAccount& producer = producers_[event.producer().value];
    released->retained = false;
    producer.backlog -= released->bytes;
    set_oracle_.released(now, event);
    forget_ended(producer);
}

/// Pull: a fragment that was asked for has come, or has been declined.
void Checker::end_request(std::uint32_t place) {
    if (plan_.pulls() && places_[place].asked) {
        --consumers_[owner_of(place)].asked;
    }
}

void Checker::message_taken(core::Instant now, NodeId from, NodeId to, const core::ControlMessage& message) {
    if (to.role == Role::producer) {
        received_by_producer(now, from, to, message);
        return;
    }
    if (to.role == Role::consumer) {
        if (const auto* const admit = std::get_if<core::Admit>(&message)) {
            ConsumerAccount& consumer = consumers_[to.index];
            if (!consumer.joined || admit->epoch > consumer.own_epoch) {
                consumer.own_epoch = admit->epoch;
                consumer.joined = true;
            }
        }
        if (const auto* const decline = std::get_if<core::Decline>(&message)) {
            const std::uint32_t place = flat(decline->consumer.value, decline->epoch, decline->place);
            plan_.consumers_grant()
                ? move_credit(place, Credit::declined, Credit::withheld, "a decline comes back")
                : end_request(place);
        }
        return;
    }
    if (plan_.consumers_grant()) {
        return;
    }
    std::visit(
        [&](const auto& body) {
            if constexpr (requires { learned(from, body); }) {
                learned(from, body);
            }
        },
        message);
}

void Checker::received_by_producer(core::Instant now, NodeId from, NodeId to,
                                   const core::ControlMessage& message) {
    const auto* const taken = std::get_if<core::Taken>(&message);
    if (taken != nullptr && plan_.outlives_consumers) {
        confirmed(now, to, taken->event);
        return;
    }
    if (taken != nullptr) {
        const Event* event = find(taken->event);
        if (event != nullptr && event->fate == Fate::waiting) {
            object("consumer {} has taken event {} of producer {}, which it did not receive", from.index,
                   taken->event.sequence(), to.index);
            return;
        }
        release(now, taken->event);
    }
    const auto* const grant = std::get_if<core::Grant>(&message);
    if (grant != nullptr && plan_.asks_again()) {
        // The grant shows that the place was free, also if no message has said so yet.
        const std::size_t kept = kept_at(to.index, flat(grant->consumer.value, grant->epoch, grant->place));
        if (kept < kept_.size() && kept_[kept]) {
            release(now, *kept_[kept]);
        }
    }
}

void Checker::learned(NodeId from, const core::Ready& ready) {
    if (is_over(from.index, ready.epoch)) {
        return;
    }
    move_credit_of_slot(from.index, ready.epoch, ready.slot, Credit::under_way, Credit::at_scheduler,
                        "its credit comes");
    credit_comes(from.index);
}

void Checker::learned(NodeId from, const core::Done& done) {
    if (is_over(from.index, done.epoch)) {
        return;
    }
    places_[flat(from.index, done.epoch, plan_.place_of(done.slot, 0))].outstanding = false;
    Event* const event = plan_.outlives_consumers && !closed_ ? find(done.event) : nullptr;
    if (event != nullptr) {
        event->done = true;
    }
    const std::uint32_t producer = done.event.producer().value;
    --source(producer).under_way;
    update_eligible(producer);
    if (done.credit == core::Done::Credit::given) {
        learned(from, core::Ready{.slot = done.slot, .epoch = done.epoch});
    }
}

void Checker::learned(NodeId from, const core::Decline& decline) {
    if (is_over(decline.consumer.value, decline.epoch)) {
        return;
    }
    const std::uint32_t place = flat(decline.consumer.value, decline.epoch, decline.place);
    places_[place].outstanding = false;
    move_credit(place, Credit::declined, Credit::at_scheduler, "a decline comes back");
    --producers_[from.index].under_way;
    update_eligible(from.index);
    credit_comes(decline.consumer.value);
}

void Checker::learned(NodeId from, const core::Offer& offer) {
    const std::uint64_t before = producers_[from.index].offered;
    if (addresses_) {
        std::uint64_t more = 0;
        object_if(addresses_->offered({from.index}, offer, more));
        producers_[from.index].offered += more;
    } else {
        producers_[from.index].offered = offer.offered.events;
    }
    offers_change(from.index, before);
}

void Checker::learned(NodeId from, const core::Drained& /*drained*/) {
    const std::uint64_t before = producers_[from.index].offered;
    producers_[from.index].drained = true;
    if (addresses_) {
        addresses_->drained({from.index});
    }
    producers_[from.index].offered = std::min(before, source(from.index).granted);
    offers_change(from.index, before);
}

/// Pattern `build`: an event is there when all have offered it.
void Checker::offers_change(std::uint32_t producer, std::uint64_t before) {
    if (plan_.builds()) {
        at_common_offers_ -= before == together_.offered ? 1U : 0U;
        if (at_common_offers_ == 0 || producers_[producer].offered <= together_.offered) {
            find_common_offers();
        }
    }
    update_eligible(producer);
}

void Checker::find_common_offers() {
    const auto least = [](const ProducerAccount& a, const ProducerAccount& b) {
        return a.offered < b.offered;
    };
    together_.offered = std::min_element(producers_.begin(), producers_.end(), least)->offered;
    at_common_offers_ = static_cast<std::uint32_t>(
        std::count_if(producers_.begin(), producers_.end(),
                      [this](const ProducerAccount& each) { return each.offered == together_.offered; }));
}

void Checker::credit_comes(std::uint32_t consumer) {
    ConsumerAccount& account = consumers_[consumer];
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
    if (policy_.consumer_rule == core::ConsumerRule::first_credit) {
        tokens_.push_back(consumer);
    }
}

}  // namespace weir::simulation
