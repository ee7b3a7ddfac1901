// The producer's part of --on-failure continue: an event stays in its buffer until the scheduler confirms
// that it is done, and is taken back from a consumer that was lost. Messages of the scheduler come in order,
// so whatever was done before the loss has been confirmed when the Revoke comes: both sides agree on which
// events are sent again.
#include <algorithm>

#include "core/producer.hpp"

namespace weir::core {

const char* Producer::on_done(Instant now, const Taken& taken, Actions& out) {
    const std::uint64_t sequence = taken.event.sequence();
    if (taken.event.producer() != id_) {
        return "taken, of an event of another producer";
    }
    if (finished_) {
        return nullptr;
    }
    const auto event = unconfirmed_.confirm(sequence);
    if (!event) {
        for (Transfer& transfer : transfers_) {
            if (transfer.active && !transfer.done && transfer.event.sequence == sequence &&
                transfer.handed_over == transfer.event.bytes) {
                transfer.done = true;
                return nullptr;
            }
        }
        return "taken, of an event that was not sent";
    }
    confirm(now, *event, out);
    go_on(now, out);
    return nullptr;
}

void Producer::confirm(Instant now, const WaitingEvent& event, Actions& out) {
    ledger_.sent.add(EventId::of(id_, event.sequence), event.bytes);
    backlog_ -= event.bytes;
    WEIR_ASSERT(backlog_ >= Bytes{0});
    gone(now, event, scheduler_node(), out);
}

/// Also takes the stream's chunks out of `out`: the transport has not been given these yet.
void Producer::cancel(StreamId stream, Actions& out) {
    out.cancelled.push_back(stream);
    std::erase_if(out.chunks, [stream](const SendChunk& chunk) { return chunk.stream == stream; });
}

const char* Producer::on(Instant now, NodeId from, const Revoke& revoke, Actions& out) {
    if (!plan_.outlives_consumers || from != scheduler_node() || revoke.consumer.value >= plan_.consumers) {
        return "a consumer is revoked that there is not, or not by the scheduler";
    }
    if (finished_) {
        return nullptr;
    }
    grants_.erase(revoke.consumer);
    break_off_transfers(now, revoke.consumer, out);
    while (const auto event = unconfirmed_.take_from(revoke.consumer)) {
        break_off(*event, revoke.consumer, event->bytes, out);
        put_back(now, *event, out);
    }
    go_on(now, out);
    return nullptr;
}

void Producer::break_off(const WaitingEvent& event, ConsumerId consumer, Bytes handed_over, Actions& out) {
    if (handed_over == Bytes{0}) {
        return;  // nothing of it has left
    }
    const BrokenDelivery delivery{EventId::of(id_, event.sequence), consumer, handed_over == event.bytes};
    ++taken_back_events_;
    doubtful_events_ += delivery.doubtful ? 1U : 0U;
    if (broken_deliveries_.size() < broken_deliveries_limit) {
        broken_deliveries_.push_back(delivery);
    }
    out.observe(Observation::Kind::taken_back, node_of(consumer), delivery.event, handed_over);
}

void Producer::put_back(Instant now, const WaitingEvent& event, Actions& out) {
    if (!gave_up_) {
        unconfirmed_.put_back(event);
        return;
    }
    backlog_ -= event.bytes;
    lose(now, {event.sequence, event.bytes, event.generated_at}, LostRange::Reason::undelivered, out);
}

void Producer::break_off_transfers(Instant now, std::optional<ConsumerId> to, Actions& out) {
    for (std::uint32_t stream = 0; stream < transfers_.size(); ++stream) {
        Transfer& transfer = transfers_[stream];
        if (!transfer.active || (to && transfer.consumer != *to)) {
            continue;
        }
        transfer.active = false;
        --active_transfers_;
        first_idle_ = std::min(first_idle_, stream);
        cancel({stream}, out);
        if (transfer.done) {
            confirm(now, transfer.event, out);
        } else {
            break_off(transfer.event, transfer.consumer, transfer.handed_over, out);
            put_back(now, transfer.event, out);
        }
    }
}

void Producer::break_off_all(Instant now, Actions& out) {
    break_off_transfers(now, std::nullopt, out);
    while (const auto sent = unconfirmed_.take_any()) {
        break_off(sent->event, sent->consumer, sent->event.bytes, out);
        put_back(now, sent->event, out);
    }
}

}  // namespace weir::core
