#include "core/scheduler.hpp"

#include <algorithm>
#include <limits>

#include "core/ledger_report.hpp"
#include "core/plan_limits.hpp"

namespace weir::core {

namespace {

std::uint32_t most_under_way(const Plan& plan) {
    if (plan.pattern == Pattern::distribute) {
        return plan.streams;
    }
    // Without a limit it is credits that run short, and that is what is to be said then.
    return plan.assigned_events > 0 ? plan.assigned_events : std::numeric_limits<std::uint32_t>::max();
}

}  // namespace

Scheduler::Scheduler(const Plan& plan, std::unique_ptr<Policy> policy)
    : plan_(plan),
      policy_(std::move(policy)),
      under_way_limit_(most_under_way(plan)),
      most_events_(most_events(plan)),
      most_bytes_(most_generated(plan)),
      producers_(plan.producers),
      least_offered_(plan.pattern == Pattern::build ? plan.producers : 0),
      consumers_(plan.consumers, ConsumerAccount(plan.slots)),
      drain_grace_(drain_grace(plan)),
      drain_until_(plan.give_up_at() + drain_grace_),
      accounted_until_(Instant{} - plan.warmup) {
    WEIR_ASSERT((policy_ == nullptr) == (plan.policy == PolicyKind::none));
    WEIR_ASSERT(!builds() || !direct());
    if (plan.shaping.kind == ShapingKind::in_step) {
        next_tick_ = Instant{} - plan.warmup;  // at once, then at multiples of the time between ticks
    }
    for (std::uint32_t producer = 0; builds() && producer < plan.producers; ++producer) {
        least_offered_.update(producer, 0);
    }
}

void Scheduler::on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    account_time(now);
    // The sender's place in the accounts is looked up with `from`, which the runtime knows from the rank;
    // what the message itself says is checked against it.
    const bool from_producer = from.role == Role::producer && from.index < producers_.size();
    const bool from_consumer = from.role == Role::consumer && from.index < consumers_.size();
    const std::uint64_t waited_before = waiting_events_;
    switch (message.kind) {
        case MessageKind::ready:
            from_consumer ? on_ready(from, message, out) : violation(from, "ready from no consumer", out);
            break;
        case MessageKind::offer:
            from_producer ? on_offer(from, message, out) : violation(from, "offer from no producer", out);
            break;
        case MessageKind::done:
            from_consumer ? on_done(from, message, out) : violation(from, "done from no consumer", out);
            break;
        case MessageKind::decline:
            from_producer ? on_decline(from, message, out) : violation(from, "decline from no producer", out);
            break;
        case MessageKind::drained:
            from_producer ? on_drained(now, from, message, out)
                          : violation(from, "drained from no producer", out);
            break;
        case MessageKind::progress:
            from_consumer ? on_progress(from, message, out)
                          : violation(from, "progress from no consumer", out);
            break;
        case MessageKind::ledger:
            from_producer || from_consumer ? on_ledger(from, message, out)
                                           : violation(from, "ledger from the scheduler", out);
            break;
        default:
            violation(from, "a message that a scheduler does not take", out);
    }
    if (message.kind == MessageKind::done || message.kind == MessageKind::drained) {
        drain_until_ = std::max(drain_until_, now + drain_grace_);
    }
    const std::uint64_t came = waiting_events_ > waited_before ? waiting_events_ - waited_before : 0;
    grant_all(out);
    if (came > 0 && !consumer_available()) {
        events_without_credit_ += std::min(came, waiting_events_);
    }
    finish_if_settled(out);
    short_of_credits_ = producer_available() && !consumer_available();
}

void Scheduler::on_ready(NodeId from, const ControlMessage& message, Actions& out) {
    ConsumerAccount& consumer = consumers_[from.index];
    if (message.slot >= consumer.slots.size() || direct() ||
        consumer.slots[message.slot].state != SlotState::held_by_consumer) {
        violation(from, "ready for a slot whose credit the scheduler already holds", out);
        return;
    }
    if (!take_result(from, message)) {
        violation(from, "ready with a result that did not arrive", out);
        return;
    }
    add_credit({from.index}, {message.slot});
}

void Scheduler::on_result(NodeId from, const SendResult& result, Actions& out) {
    const bool expected = from.role == Role::consumer && from.index < consumers_.size() && !direct() &&
                          plan_.result_size.kind != DistributionKind::none &&
                          result.slot.value < plan_.slots && result.bytes > Bytes{0} &&
                          result.bytes.count <= std::numeric_limits<std::uint32_t>::max();
    Slot* const slot = expected ? &consumers_[from.index].slots[result.slot.value] : nullptr;
    if (slot == nullptr || !slot->occupied || slot->result != Bytes{0} ||
        !is_from(*slot, result.event.producer())) {
        violation(from, "a result that no event in a slot can have", out);
        return;
    }
    slot->result = result.bytes;
    results_.add(result.event, result.bytes);
}

bool Scheduler::take_result(NodeId from, const ControlMessage& message) {
    Slot& slot = consumers_[from.index].slots[message.slot];
    const Bytes arrived = slot.result;
    slot.result = Bytes{0};
    return arrived == Bytes{std::int64_t{message.result_bytes}};
}

void Scheduler::add_credit(ConsumerId consumer, SlotId slot) {
    ConsumerAccount& account = consumers_[consumer.value];
    account.slots[slot.value].state = SlotState::free;
    account.slots[slot.value].occupied = false;
    account.free.push(slot.value);
    ++free_slots_;
    update_policy(consumer);
}

/// Whether an offer can follow what its producer offered before. Pattern `build`: some producers make more
/// events than their own rate gives, as many as the others have; all of them together must be countable.
bool Scheduler::can_follow(const ProducerAccount& producer, const ControlMessage& offer) const {
    const Bytes bytes{offer.bytes};
    if (bytes < producer.offered_bytes || offer.events < producer.offered_events ||
        offer.events > most_events_) {
        return false;
    }
    const Bytes more = bytes - producer.offered_bytes;
    return is_amount(plan_, offer.events - producer.offered_events, more) &&
           (builds() ? adds_up(offered_bytes_, more) : bytes <= most_bytes_);
}

void Scheduler::on_offer(NodeId from, const ControlMessage& message, Actions& out) {
    ProducerAccount& producer = producers_[from.index];
    if (direct() || producer.drained || !can_follow(producer, message)) {
        violation(from, "an offer that takes back what was offered before, or of more than there can be",
                  out);
        return;
    }
    if (builds()) {
        offered_fragments_ += message.events - producer.offered_events;
        offered_bytes_ += Bytes{message.bytes} - producer.offered_bytes;
    } else {
        waiting_events_ += message.events - producer.offered_events;
    }
    producer.offered_events = message.events;
    producer.offered_bytes = Bytes{message.bytes};
    if (!builds()) {
        update_policy(ProducerId{from.index});
        return;
    }
    least_offered_.update(from.index, message.events);
    update_common_offers();
    if (message.flag != 0 && !producer.last_offer) {
        producer.last_offer = true;
        if (++last_offers_ == producers_.size()) {
            complete_generation(out);
        }
    }
}

/// Pattern `build`: an event is there when every producer has offered its fragment.
void Scheduler::update_common_offers() {
    const std::uint64_t common = std::max(least_offered_.key(least_offered_.top()), together_.granted_events);
    waiting_events_ = common - together_.granted_events;
    together_.offered_events = common;
    update_policy(ProducerId{0});
}

/// Generation `saturate` ends with some producers ahead of others; every event that was begun gets all of
/// its fragments.
void Scheduler::complete_generation(Actions& out) {
    std::uint64_t events = 0;
    for (const ProducerAccount& producer : producers_) {
        events = std::max(events, producer.offered_events);
    }
    for (std::uint32_t producer = 0; producer < producers_.size(); ++producer) {
        out.messages.push_back(
            {node_of(ProducerId{producer}), {.kind = MessageKind::complete, .events = events}});
    }
}

/// Whether what `done` says can be, apart from the slot.
bool Scheduler::is_right(const ControlMessage& done) const {
    const EventId event{done.event};
    const Bytes bytes{done.bytes};
    const std::uint32_t fragments = plan_.fragments_per_event();
    const bool incomplete = (done.flag & DoneFlag::incomplete) != 0;
    const bool counts = incomplete ? done.events < fragments : done.events == fragments;
    const bool sizes = is_amount(plan_, done.events, bytes) && (done.events > 0 || done.hash == 0);
    const bool hash = builds() || done.events == 0 || done.hash == ledger_mix(event, bytes);
    return event.producer().value < producers_.size() && counts && sizes && hash;
}

void Scheduler::on_done(NodeId from, const ControlMessage& message, Actions& out) {
    ConsumerAccount& consumer = consumers_[from.index];
    if (message.slot >= consumer.slots.size() || consumer.slots[message.slot].state != SlotState::granted ||
        !is_right(message) ||
        (!builds() && consumer.slots[message.slot].producer != EventId{message.event}.producer().value)) {
        violation(from, "done for a slot that was not granted to this event's producer", out);
        return;
    }
    // Without the credit: the result of this event may have come already, for a credit behind this
    // message.
    if ((message.flag & DoneFlag::slot_is_free) != 0 && !take_result(from, message)) {
        violation(from, "done with a result that did not arrive", out);
        return;
    }
    done_ += Tally{message.events, {message.bytes}, message.hash};
    return_grant({from.index}, {message.slot}, {message.bytes});
    if ((message.flag & DoneFlag::slot_is_free) != 0) {
        add_credit({from.index}, {message.slot});
    }
}

void Scheduler::return_grant(ConsumerId consumer, SlotId id, Bytes actual) {
    ConsumerAccount& account = consumers_[consumer.value];
    Slot& slot = account.slots[id.value];
    ProducerAccount& producer = source(slot.producer);
    WEIR_ASSERT(slot.state == SlotState::granted);
    WEIR_ASSERT(producer.under_way > 0 && outstanding_ > 0);
    slot.state = SlotState::held_by_consumer;
    --producer.under_way;
    --outstanding_;
    producer.granted_bytes += actual - slot.estimate;
    account.granted_bytes += actual - slot.estimate;
    update_policy(ProducerId{slot.producer});
    update_policy(consumer);
}

void Scheduler::on_decline(NodeId from, const ControlMessage& message, Actions& out) {
    if (builds() || plan_.initiation == Initiation::pull || message.node >= consumers_.size() ||
        message.slot >= plan_.slots ||
        consumers_[message.node].slots[message.slot].state != SlotState::granted ||
        consumers_[message.node].slots[message.slot].producer != from.index) {
        violation(from, "decline of a grant that was not made", out);
        return;
    }
    return_grant({message.node}, {message.slot}, Bytes{0});
    add_credit({message.node}, {message.slot});
}

void Scheduler::grant_all(Actions& out) {
    if (direct() || phase_ != Phase::running) {
        return;
    }
    while (const auto pair = policy_->choose()) {
        grant(*pair, out);
    }
}

void Scheduler::grant(Pairing pair, Actions& out) {
    ProducerAccount& producer = source(pair.producer.value);
    ConsumerAccount& consumer = consumers_[pair.consumer.value];
    WEIR_ASSERT(producer.offered_events > producer.granted_events);
    WEIR_ASSERT(producer.under_way < under_way_limit_);
    const SlotId id{consumer.free.pop()};
    Slot& slot = consumer.slots[id.value];
    WEIR_ASSERT(slot.state == SlotState::free);
    const Bytes estimate = estimate_waiting(producer);
    slot = {SlotState::granted, true, pair.producer.value, estimate, {}};
    send_grant(pair, id, producer.granted_events, out);
    ++producer.granted_events;
    producer.granted_bytes += estimate;
    ++producer.under_way;
    consumer.granted_bytes += estimate;
    --free_slots_;
    --waiting_events_;
    ++outstanding_;
    ++granted_events_;
    update_policy(pair.producer);
    update_policy(pair.consumer);
}

/// Sizes of waiting events are known in sum only; the mean stands in until `done` tells the size.
Bytes Scheduler::estimate_waiting(const ProducerAccount& source) const {
    if (builds()) {
        return {offered_bytes_.count / static_cast<std::int64_t>(offered_fragments_) *
                static_cast<std::int64_t>(producers_.size())};
    }
    const std::uint64_t waiting = source.offered_events - source.granted_events;
    const Bytes bytes = source.offered_bytes - source.granted_bytes;
    return {bytes.count > 0 ? bytes.count / static_cast<std::int64_t>(waiting) : 0};
}

void Scheduler::send_grant(Pairing pair, SlotId slot, std::uint64_t number, Actions& out) const {
    if (plan_.initiation == Initiation::pull) {
        out.messages.push_back({node_of(pair.consumer),
                                {.kind = MessageKind::assign,
                                 .node = pair.producer.value,
                                 .slot = slot.value,
                                 .events = number}});
        return;
    }
    const std::uint32_t fragments = plan_.fragments_per_event();
    for (std::uint32_t fragment = 0; fragment < fragments; ++fragment) {
        out.messages.push_back({node_of(ProducerId{builds() ? fragment : pair.producer.value}),
                                {.kind = MessageKind::grant,
                                 .node = pair.consumer.value,
                                 .slot = plan_.place_of(slot, fragment).value,
                                 .events = number}});
    }
}

void Scheduler::update_policy(ProducerId producer) {
    const ProducerAccount& account = source(builds() ? 0 : producer.value);
    policy_->update(producer, {.eligible = account.offered_events > account.granted_events &&
                                           account.under_way < under_way_limit_,
                               .waiting = account.offered_bytes - account.granted_bytes,
                               .granted = account.granted_bytes});
}

void Scheduler::update_policy(ConsumerId consumer) {
    const ConsumerAccount& account = consumers_[consumer.value];
    const auto free = static_cast<std::uint32_t>(account.free.size());
    policy_->update(
        consumer,
        {.free_slots = free, .occupied_slots = plan_.slots - free, .granted = account.granted_bytes});
}

void Scheduler::on_time(Instant now, Actions& out) {
    account_time(now);
    tick(now, out);
    if ((phase_ == Phase::settling && now >= settle_until_) ||
        (phase_ == Phase::running && now >= drain_until_)) {
        finish(out);
    }
}

/// A late scheduler leaves out ticks rather than sending several at once.
void Scheduler::tick(Instant now, Actions& out) {
    if (now < next_tick_ || phase_ == Phase::closing || phase_ == Phase::closed) {
        return;
    }
    const std::int64_t number = periods_until(now, plan_.shaping.tick);
    next_tick_ = next_multiple(now, plan_.shaping.tick);
    for (std::uint32_t producer = 0; producer < producers_.size(); ++producer) {
        out.messages.push_back({node_of(ProducerId{producer}),
                                {.kind = MessageKind::tick, .events = static_cast<std::uint64_t>(number)}});
    }
}

Instant Scheduler::next_deadline() const {
    switch (phase_) {
        case Phase::running:
            return std::min(drain_until_, next_tick_);
        case Phase::settling:
            return std::min(settle_until_, next_tick_);
        default:
            return Instant::never();
    }
}

void Scheduler::account_time(Instant now) {
    if (short_of_credits_ && now > accounted_until_) {
        no_credit_ += now - accounted_until_;
    }
    if (now > accounted_until_) {
        accounted_until_ = now;
    }
}

Duration Scheduler::no_credit_time(Instant now) const {
    return short_of_credits_ && now > accounted_until_ ? no_credit_ + (now - accounted_until_) : no_credit_;
}

bool Scheduler::has_reported(NodeId node) const {
    const std::uint32_t messages = node.role == Role::producer ? producers_.at(node.index).ledger_messages
                                                               : consumers_.at(node.index).ledger_messages;
    return messages == ledger_report_messages;
}

void Scheduler::violation(NodeId from, const char* detail, Actions& out) {
    out.faults.push_back({.source = from, .destination = scheduler_node(), .detail = detail});
}

}  // namespace weir::core
