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
      grants_(static_cast<std::size_t>(plan.consumers) * plan.slots),
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
    if (!gave_up_ && now >= give_up_) {
        gave_up_ = true;
        abandon_waiting(out);
    }
    settle_account(out);
}

void Producer::generate(Instant now, Actions& out) {
    while (const auto event = generator_.take(now, backlog_)) {
        ledger_.generated.add(EventId::of(id_, event->sequence), event->bytes);
        out.observations.push_back({.kind = Observation::Kind::generated,
                                    .peer = scheduler_node(),
                                    .event = EventId::of(id_, event->sequence),
                                    .bytes = event->bytes,
                                    .elapsed = now - event->generated_at});
        const bool fits = backlog_ + event->bytes <= plan_.buffer;
        if ((plan_.overflow == Overflow::drop && !fits) || waiting_.full()) {
            lose(*event, LostRange::Reason::overflow, out);
            continue;
        }
        waiting_.push({event->sequence, event->bytes, event->generated_at, now});
        backlog_ += event->bytes;
        ++offered_events_;
        offered_bytes_ += event->bytes;
    }
    offer(out);
}

void Producer::offer(Actions& out) {
    if (direct() || announced_events_ == offered_events_) {
        return;
    }
    announced_events_ = offered_events_;
    out.messages.push_back({scheduler_node(),
                            {.kind = MessageKind::offer,
                             .node = id_.value,
                             .events = offered_events_,
                             .bytes = offered_bytes_.count}});
}

void Producer::on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    switch (message.kind) {
        case MessageKind::grant:
            on_grant(now, from, message, out);
            return;
        case MessageKind::finish:
            if (!finished_) {
                report_ledger(out);
            }
            return;
        default:
            out.faults.push_back({.source = from,
                                  .destination = node_of(id_),
                                  .detail = "a producer takes grant and finish, not this message"});
    }
}

void Producer::on_grant(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    const bool names_a_slot = message.node < plan_.consumers && message.slot < plan_.slots;
    const bool in_order = direct() ? from == NodeId{Role::consumer, message.node}
                                   : from == scheduler_node() && message.events == granted_events_;
    if (!names_a_slot || !in_order || grants_.full()) {
        out.faults.push_back({.source = from,
                              .destination = node_of(id_),
                              .event = {message.event},
                              .detail = "a grant that is out of order or names no slot"});
        return;
    }
    ++granted_events_;
    const Grant grant{{message.node}, {message.slot}, now};
    if (finished_) {
        return;
    }
    grants_.push(grant);
    start_transfers(now, out);
    settle_account(out);
}

void Producer::start_transfers(Instant now, Actions& out) {
    for (std::uint32_t stream = 0; stream < transfers_.size(); ++stream) {
        if (grants_.empty() || waiting_.empty()) {
            return;
        }
        Transfer& transfer = transfers_[stream];
        if (transfer.active) {
            continue;
        }
        transfer = Transfer{.active = true,
                            .event = waiting_.pop(),
                            .grant = grants_.pop(),
                            .started_at = now,
                            .handed_over = {}};
        ++active_transfers_;
        const EventId event = EventId::of(id_, transfer.event.sequence);
        const NodeId consumer = node_of(transfer.grant.consumer);
        out.observations.push_back({.kind = Observation::Kind::granted,
                                    .peer = consumer,
                                    .event = event,
                                    .bytes = transfer.event.bytes,
                                    .elapsed = transfer.grant.received_at - transfer.event.offered_at});
        out.observations.push_back({.kind = Observation::Kind::transfer_started,
                                    .peer = consumer,
                                    .event = event,
                                    .bytes = transfer.event.bytes,
                                    .elapsed = now - transfer.grant.received_at});
        hand_over_chunks({stream}, out);
    }
}

void Producer::hand_over_chunks(StreamId stream, Actions& out) {
    Transfer& transfer = transfers_[stream.value];
    while (transfer.handed_over < transfer.event.bytes &&
           transfer.next_sequence - transfer.oldest_under_way < plan_.window) {
        const Bytes length = std::min(plan_.chunk_size, transfer.event.bytes - transfer.handed_over);
        out.chunks.push_back({.to = transfer.grant.consumer,
                              .slot = transfer.grant.slot,
                              .stream = stream,
                              .chunk = {.event = EventId::of(id_, transfer.event.sequence),
                                        .event_bytes = transfer.event.bytes,
                                        .offset = transfer.handed_over,
                                        .length = length,
                                        .sequence = transfer.next_sequence,
                                        .generated_at = transfer.event.generated_at}});
        transfer.handed_over += length;
        ++transfer.next_sequence;
    }
}

void Producer::on_chunk_sent(Instant now, StreamId stream, std::uint32_t sequence, Actions& out) {
    if (finished_) {
        return;  // the account is closed: this transfer was reported as lost
    }
    WEIR_ASSERT(stream.value < transfers_.size());
    Transfer& transfer = transfers_[stream.value];
    WEIR_ASSERT(transfer.active);
    WEIR_ASSERT(sequence >= transfer.oldest_under_way && sequence < transfer.next_sequence);
    const std::uint64_t bit = std::uint64_t{1} << (sequence - transfer.oldest_under_way);
    WEIR_ASSERT((transfer.left & bit) == 0);
    transfer.left |= bit;

    const Bytes offset = plan_.chunk_size * sequence;
    const Bytes length = std::min(plan_.chunk_size, transfer.event.bytes - offset);
    backlog_ -= length;
    WEIR_ASSERT(backlog_ >= Bytes{0});
    const EventId event = EventId::of(id_, transfer.event.sequence);
    const NodeId consumer = node_of(transfer.grant.consumer);
    out.observations.push_back({.kind = Observation::Kind::chunk_sent,
                                .peer = consumer,
                                .event = event,
                                .bytes = length,
                                .elapsed = {}});

    while ((transfer.left & 1U) != 0) {
        transfer.left >>= 1U;
        ++transfer.oldest_under_way;
    }
    if (transfer.handed_over < transfer.event.bytes) {
        hand_over_chunks(stream, out);
        return;
    }
    if (transfer.oldest_under_way < transfer.next_sequence) {
        return;
    }
    transfer.active = false;
    --active_transfers_;
    ledger_.sent.add(event, transfer.event.bytes);
    out.observations.push_back({.kind = Observation::Kind::transfer_completed,
                                .peer = consumer,
                                .event = event,
                                .bytes = transfer.event.bytes,
                                .elapsed = now - transfer.started_at});
    generate(now, out);
    start_transfers(now, out);
    settle_account(out);
}

void Producer::decline(const Grant& grant, Actions& out) const {
    out.messages.push_back(
        {direct() ? node_of(grant.consumer) : scheduler_node(),
         {.kind = MessageKind::decline, .node = grant.consumer.value, .slot = grant.slot.value}});
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
        lost_ranges_.push_back({event.sequence, event.sequence, reason});
    }
}

void Producer::abandon_waiting(Actions& out) {
    while (!waiting_.empty()) {
        const WaitingEvent event = waiting_.pop();
        backlog_ -= event.bytes;
        lose({event.sequence, event.bytes, event.generated_at}, LostRange::Reason::undelivered, out);
    }
}

void Producer::settle_account(Actions& out) {
    // Not before the account is closed, however early the last event has left: a run lasts as long as it was
    // asked to.
    const bool nothing_to_come = closed_account_ && generator_.next_due() == Instant::never();
    if (!nothing_to_come || !waiting_.empty()) {
        return;
    }
    while (!grants_.empty()) {
        decline(grants_.pop(), out);
    }
    if (!drained_ && active_transfers_ == 0) {
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
        if (transfer.active) {
            transfer.active = false;
            --active_transfers_;
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
    Instant next = generator_.next_due();
    if (!closed_account_) {
        next = std::min(next, closing_);
    }
    if (!gave_up_ && !drained_) {
        next = std::min(next, give_up_);
    }
    return next;
}

}  // namespace weir::core
