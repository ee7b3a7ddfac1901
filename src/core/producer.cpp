#include "core/producer.hpp"

#include <algorithm>

#include "core/ledger_report.hpp"

namespace weir::core {

namespace {

/// When the account of the last second (of sets: of the last set) is closed: the end of generation; of sets
/// the first multiple of the interval from there on, when the next set would have been generated.
Instant closing_instant(const Plan& plan) {
    if (plan.generation != Generation::sets) {
        return {plan.duration.ns};
    }
    const auto interval = plan.interval.ns;
    return {(plan.duration.ns + interval - 1) / interval * interval};
}

}  // namespace

Producer::Producer(const Plan& plan, ProducerId id, EventGenerator generator)
    : plan_(plan),
      id_(id),
      generator_(std::move(generator)),
      closing_(closing_instant(plan)),
      give_up_(Instant{plan.duration.ns} + plan.drain),
      waiting_(waiting_events_limit),
      grants_(plan, id),
      retained_(plan),
      pacer_(plan.shaping),
      transfers_(plan.streams) {
    WEIR_ASSERT(plan.streams > 0);
    WEIR_ASSERT(plan.window > 0 && plan.window <= window_limit);
    WEIR_ASSERT(plan.chunk_size > Bytes{0});
}

void Producer::on_time(Instant now, Actions& out) {
    if (finished_) {
        return;
    }
    if (!closed_account_ && now >= closing_) {
        closed_account_ = true;
        // As if one more set came: would it have fitted?
        overflowed_at_close_ =
            plan_.generation == Generation::sets && backlog_ + plan_.set_bytes() > plan_.buffer;
    }
    generate(now, out);
    start_transfers(now, out);
    hand_over(now, out);
    // Fragments that wait to be asked for again are not given up: the consumer's limit ends that.
    if (!gave_up_ && now >= give_up_) {
        gave_up_ = true;
        abandon_waiting(out);
    }
    settle_account(out);
}

void Producer::generate(Instant now, Actions& out) {
    while (const auto event = generator_.take(now, occupied())) {
        add(now, *event, out);
    }
    offer(out);
}

Bytes Producer::occupied() const {
    return waiting_.full() ? std::max(backlog_, plan_.buffer) : backlog_;
}

void Producer::add(Instant now, const GeneratedEvent& event, Actions& out) {
    ledger_.generated.add(EventId::of(id_, event.sequence), event.bytes);
    out.observations.push_back({.kind = Observation::Kind::generated,
                                .peer = scheduler_node(),
                                .event = EventId::of(id_, event.sequence),
                                .bytes = event.bytes,
                                .elapsed = now - event.generated_at});
    const bool fits = backlog_ + event.bytes <= plan_.buffer;
    const bool lost = (plan_.overflow == Overflow::drop && !fits) || waiting_.full();
    if (lost) {
        lose(event, LostRange::Reason::overflow, out);
    } else {
        waiting_.push({event.sequence, event.bytes, event.generated_at, now});
        backlog_ += event.bytes;
    }
    // A lost fragment is offered all the same: its event has fragments elsewhere, and an end.
    if (!lost || builds()) {
        ++offered_events_;
        offered_bytes_ += event.bytes;
    }
}

void Producer::offer(Actions& out) {
    const bool last = builds() && closed_account_ && generator_.next_due() == Instant::never();
    const bool news = announced_events_ != offered_events_ || (last && !announced_last_);
    if (plan_.policy == PolicyKind::none || !news) {
        return;
    }
    announced_events_ = offered_events_;
    announced_last_ = last;
    out.messages.push_back({scheduler_node(),
                            {.kind = MessageKind::offer,
                             .flag = static_cast<std::uint8_t>(last ? 1 : 0),
                             .node = id_.value,
                             .events = offered_events_,
                             .bytes = offered_bytes_.count}});
}

void Producer::on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    switch (message.kind) {
        case MessageKind::grant:
            on_grant(now, from, message, out);
            return;
        case MessageKind::tick:
            if (plan_.shaping.kind != ShapingKind::in_step || from != scheduler_node()) {
                violation(from, {}, "a tick that nobody waits for, or not from the scheduler", out);
                return;
            }
            pacer_.on_tick(now, static_cast<std::int64_t>(message.events));
            hand_over(now, out);
            return;
        case MessageKind::complete:
            on_complete(now, from, message, out);
            return;
        case MessageKind::again:
            on_again(now, from, message, out);
            return;
        case MessageKind::taken:
            on_taken(now, from, message, out);
            return;
        case MessageKind::finish:
            if (!finished_) {
                report_ledger(out);
            }
            return;
        default:
            violation(from, {}, "a message that a producer does not take", out);
    }
}

void Producer::violation(NodeId from, EventId event, const char* detail, Actions& out) const {
    out.faults.push_back({.source = from, .destination = node_of(id_), .event = event, .detail = detail});
}

void Producer::on_grant(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    const bool names_a_place = message.node < plan_.consumers && message.slot < plan_.places() &&
                               message.slot % plan_.fragments_per_event() == (builds() ? id_.value : 0);
    const bool in_order = asked_by_consumers()
                              ? from == NodeId{Role::consumer, message.node}
                              : from == scheduler_node() && message.events == granted_events_;
    const bool offered = !builds() || message.events < offered_events_;
    if (!names_a_place || !in_order || !offered || grants_.full({message.node})) {
        violation(from, {message.event}, "a grant that is out of order or names no slot", out);
        return;
    }
    ++granted_events_;
    if (finished_) {
        return;
    }
    if (plan_.asks_again()) {
        backlog_ -= retained_.release({{message.node}, {message.slot}}).value_or(Bytes{});
    }
    grants_.push({{message.node}, {message.slot}, message.events, now});
    start_transfers(now, out);
    settle_account(out);
}

void Producer::on_complete(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    if (!builds() || from != scheduler_node() || !announced_last_ || complete_ ||
        message.events < offered_events_) {
        violation(from, {}, "complete, said too early, twice or with too few events", out);
        return;
    }
    complete_ = true;
    while (!gave_up_ && offered_events_ < message.events) {
        add(now, generator_.take_beyond_end(now), out);
    }
    offer(out);
    settle_account(out);
}

bool Producer::names_a_fragment(NodeId from, const ControlMessage& message) const {
    return plan_.asks_again() && from.role == Role::consumer && from.index < plan_.consumers &&
           message.slot < plan_.places() && EventId{message.event}.producer() == id_;
}

void Producer::on_again(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    const EventId event{message.event};
    if (!names_a_fragment(from, message)) {
        violation(from, event, "again, for a fragment of another producer or for no place", out);
        return;
    }
    if (retained_.ask_again({{from.index}, {message.slot}}, event.sequence())) {
        start_transfers(now, out);
    }
}

void Producer::on_taken(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    const EventId event{message.event};
    if (!names_a_fragment(from, message)) {
        violation(from, event, "taken, of a fragment of another producer or in no place", out);
        return;
    }
    const auto released = retained_.release({{from.index}, {message.slot}}, event.sequence());
    if (released && !finished_) {
        backlog_ -= *released;
        generate(now, out);
        settle_account(out);
    }
}

void Producer::decline(const Grant& grant, Actions& out) const {
    const bool to_consumer = asked_by_consumers() || builds();
    out.messages.push_back({to_consumer ? node_of(grant.consumer) : scheduler_node(),
                            {.kind = MessageKind::decline,
                             .node = grant.consumer.value,
                             .slot = grant.place.value,
                             .events = builds() ? grant.number : 0}});
}

void Producer::lose(const GeneratedEvent& event, LostRange::Reason reason, Actions& out) {
    ledger_.lost.add(EventId::of(id_, event.sequence), event.bytes);
    out.observations.push_back({.kind = Observation::Kind::lost,
                                .peer = scheduler_node(),
                                .event = EventId::of(id_, event.sequence),
                                .bytes = event.bytes,
                                .elapsed = {}});
    if (!lost_ranges_.empty() && lost_ranges_.back().reason == reason &&
        lost_ranges_.back().last + 1 == event.sequence) {
        lost_ranges_.back().last = event.sequence;
    } else if (lost_ranges_.size() < lost_ranges_limit) {
        lost_ranges_.push_back({id_, event.sequence, event.sequence, reason});
    }
}

void Producer::abandon_waiting(Actions& out) {
    while (!waiting_.empty()) {
        const WaitingEvent event = waiting_.take_oldest();
        backlog_ -= event.bytes;
        lose({event.sequence, event.bytes, event.generated_at}, LostRange::Reason::undelivered, out);
    }
}

void Producer::settle_account(Actions& out) {
    // Not before the account is closed, or a run with few events would be shorter than it was asked to be.
    const bool nothing_to_come =
        closed_account_ && generator_.next_due() == Instant::never() && (!builds() || complete_ || gave_up_);
    if (!nothing_to_come || !waiting_.empty()) {
        return;
    }
    while (!grants_.empty()) {
        decline(grants_.pop(), out);
    }
    if (!drained_ && active_transfers_ == 0 && retained_.empty()) {
        drained_ = true;
        out.messages.push_back({scheduler_node(),
                                {.kind = MessageKind::drained,
                                 .node = id_.value,
                                 .events = ledger_.sent.events,
                                 .bytes = ledger_.sent.bytes.count}});
    }
}

void Producer::report_ledger(Actions& out) {
    // A run that was ended before it drained: what has not left is lost, transfers under way among it.
    abandon_waiting(out);
    for (Transfer& transfer : transfers_) {
        if (!transfer.active) {
            continue;
        }
        transfer.active = false;
        --active_transfers_;
        if (!transfer.again) {
            lose({transfer.event.sequence, transfer.event.bytes, transfer.event.generated_at},
                 LostRange::Reason::undelivered, out);
        }
    }
    finished_ = true;
    append_ledger_report(ledger_, node_of(id_), out);
}

StreamUse Producer::stream_use() const {
    const std::uint32_t idle = plan_.streams - active_transfers_;
    const auto waiting = static_cast<std::uint32_t>(std::min<std::size_t>(idle, waiting_.size()));
    return {active_transfers_, waiting, idle - waiting};
}

Instant Producer::next_deadline() const {
    if (finished_) {
        return Instant::never();
    }
    Instant next = generator_.next_due(occupied());
    if (!closed_account_) {
        next = std::min(next, closing_);
    }
    if (!gave_up_ && !drained_) {
        next = std::min(next, give_up_);
    }
    if (pacer_.shapes()) {
        for (const Transfer& transfer : transfers_) {
            if (wants_to_send(transfer)) {
                next = std::min(next, pacer_.ready_at(next_chunk(transfer)));
            }
        }
    }
    return next;
}

}  // namespace weir::core
