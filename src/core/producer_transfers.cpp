// The producer's transfers: which event goes on which stream, its chunks, and what their departure leads to.
#include <algorithm>

#include "core/producer.hpp"

namespace weir::core {

void Producer::start_transfers(Instant now, Actions& out) {
    for (; first_idle_ < transfers_.size(); ++first_idle_) {
        if (!transfers_[first_idle_].active && !start_transfer(now, {first_idle_}, out)) {
            return;
        }
    }
}

/// What was asked for again comes first. False: there is nothing to start.
bool Producer::start_transfer(Instant now, StreamId stream, Actions& out) {
    if (const auto asked = retained_.pop_asked()) {
        start_again(now, stream, *asked, out);
        return true;
    }
    std::optional<WaitingEvent> found;
    WaitingGrant waiting;
    const Grant& grant = waiting.grant;
    while (!found) {
        const std::optional<WaitingGrant> next = next_grant();
        if (!next) {
            return false;
        }
        waiting = *next;
        found = unconfirmed_.any_returned() ? unconfirmed_.pop_returned() : waiting_->take(grant);
        if (!found) {
            decline(grant, out);
        }
    }
    Transfer& transfer = transfers_[stream.value];
    transfer = Transfer{.active = true,
                        .epoch = grant.epoch,
                        .event = *found,
                        .consumer = grant.consumer,
                        .place = grant.place,
                        .started_at = now,
                        .handed_over = {}};
    ++active_transfers_;
    const EventId event = EventId::of(id_, transfer.event.sequence);
    const NodeId consumer = node_of(grant.consumer);
    // A grant that was there before the event (policy `none`) was not waited for, and waited itself.
    const Instant ready_at = std::max(waiting.received_at, transfer.event.offered_at);
    out.observe(Observation::Kind::granted, consumer, event, transfer.event.bytes,
                ready_at - transfer.event.offered_at);
    out.observe(Observation::Kind::transfer_started, consumer, event, transfer.event.bytes, now - ready_at);
    hand_over_chunks(now, stream, out);
    return true;
}

std::optional<WaitingGrant> Producer::next_grant() {
    if (grants_.empty() || (!plan_.builds() && !any_waiting())) {
        return std::nullopt;
    }
    if (plan_.addressed() && plan_.consumers_grant()) {
        return grants_.pop_for(waiting_->addressees());
    }
    return grants_.pop();
}

void Producer::start_again(Instant now, StreamId stream, const RetainedFragments::Asked& asked,
                           Actions& out) {
    transfers_[stream.value] = Transfer{.active = true,
                                        .again = true,
                                        .event = asked.event,
                                        .consumer = asked.to.consumer,
                                        .place = asked.to.place,
                                        .started_at = now,
                                        .handed_over = {}};
    ++active_transfers_;
    hand_over_chunks(now, stream, out);
}

bool Producer::wants_to_send(const Transfer& transfer) const {
    return transfer.active && transfer.handed_over < transfer.event.bytes &&
           transfer.next_sequence - transfer.oldest_under_way < plan_.window;
}

Bytes Producer::next_chunk(const Transfer& transfer) const {
    return std::min(plan_.chunk_size, transfer.event.bytes - transfer.handed_over);
}

/// Shaping: what was held back and may go now, streams in turn.
void Producer::hand_over(Instant now, Actions& out) {
    if (!pacer_.shapes() || finished_) {
        return;
    }
    bool held_up = false;
    for (std::uint32_t tried = 0, stream = next_stream_; tried < transfers_.size(); ++tried) {
        const std::size_t before = out.chunks.size();
        if (transfers_[stream].active) {
            hand_over_chunks(now, {stream}, out);
            held_up = held_up || transfers_[stream].handed_over < transfers_[stream].event.bytes;
        }
        stream = stream + 1 < transfers_.size() ? stream + 1 : 0;
        if (out.chunks.size() > before) {
            tried = 0;
            next_stream_ = stream;  // whoever sent is the last in the next round
        }
    }
    if (!held_up && (waiting_->empty() || grants_.empty())) {
        pacer_.skip_until(now);
    }
}

void Producer::describe_next(const Transfer& transfer, StreamId stream, Bytes length, SendChunk& next) const {
    next.to = transfer.consumer;
    next.place = transfer.place;
    next.stream = stream;
    next.chunk.event = EventId::of(id_, transfer.event.sequence);
    next.chunk.event_bytes = transfer.event.bytes;
    next.chunk.offset = transfer.handed_over;
    next.chunk.length = length;
    next.chunk.sequence = transfer.next_sequence;
    next.chunk.epoch = transfer.epoch;
    next.chunk.generated_at = transfer.event.generated_at;
    next.chunk.begun_at = transfer.begun_at;
}

/// Without shaping as many as the window lets, with shaping one.
void Producer::hand_over_chunks(Instant now, StreamId stream, Actions& out) {
    Transfer& transfer = transfers_[stream.value];
    while (wants_to_send(transfer)) {
        const Bytes length = next_chunk(transfer);
        if (pacer_.shapes() && pacer_.ready_at(length) > now) {
            return;
        }
        if (transfer.next_sequence == 0) {
            transfer.begun_at = now;
        }
        // Filled in place, as the observation of its departure is: this is done for every chunk.
        SendChunk& next = out.chunks.emplace_back();
        describe_next(transfer, stream, length, next);
        next.due_at = pacer_.shapes() ? pacer_.spend(now, length) : now;
        transfer.handed_over += length;
        ++transfer.next_sequence;
        if (pacer_.shapes()) {
            return;
        }
    }
}

void Producer::on_chunks_sent(Instant now, StreamId stream, std::uint32_t first, std::uint32_t count,
                              Actions& out) {
    if (finished_) {
        return;  // the account is closed: this transfer was reported as lost
    }
    WEIR_ASSERT(stream.value < transfers_.size());
    Transfer& transfer = transfers_[stream.value];
    WEIR_ASSERT(transfer.active);
    const Bytes offset = plan_.chunk_size * first;
    const Bytes length = std::min(plan_.chunk_size * count, transfer.event.bytes - offset);
    Observation& departure = out.observations.emplace_back();
    departure.kind = transfer.again ? Observation::Kind::chunk_sent_again : Observation::Kind::chunk_sent;
    departure.peer = node_of(transfer.consumer);
    departure.event = EventId::of(id_, transfer.event.sequence);
    departure.bytes = length;
    departure.chunks = count;
    Bytes left = length;
    if (count > plan_.window) {
        WEIR_ASSERT(first == transfer.oldest_under_way);
        const std::uint32_t passed = count - plan_.window;
        on_chunks_passed(stream, passed, out);
        left -= plan_.chunk_size * passed;
        first += passed;
        count = plan_.window;
    }
    WEIR_ASSERT(count > 0 && first >= transfer.oldest_under_way && first + count <= transfer.next_sequence);
    const std::uint64_t bits = (~std::uint64_t{0} >> (window_limit - count))
                               << (first - transfer.oldest_under_way);
    WEIR_ASSERT((transfer.left & bits) == 0);
    transfer.left |= bits;
    if (!plan_.keeps_until_taken()) {
        backlog_ -= left;
        WEIR_ASSERT(backlog_ >= Bytes{0});
    }

    while ((transfer.left & 1U) != 0) {
        transfer.left >>= 1U;
        ++transfer.oldest_under_way;
    }
    if (transfer.handed_over < transfer.event.bytes) {
        hand_over_chunks(now, stream, out);
        if (pacer_.shapes()) {
            hand_over(now, out);
        }
        return;
    }
    if (transfer.oldest_under_way < transfer.next_sequence) {
        return;
    }
    end_transfer(now, transfer, out);
    go_on(now, out);
}

void Producer::on_chunks_passed(StreamId stream, std::uint32_t count, Actions& out) {
    if (finished_) {
        return;  // as on_chunks_sent
    }
    WEIR_ASSERT(stream.value < transfers_.size());
    WEIR_ASSERT(!pacer_.shapes() && !plan_.asks_again());
    Transfer& transfer = transfers_[stream.value];
    WEIR_ASSERT(transfer.active && transfer.left == 0);
    const Bytes length = plan_.chunk_size * count;
    WEIR_ASSERT(plan_.chunk_size * transfer.oldest_under_way + length < transfer.event.bytes);
    if (!plan_.keeps_until_taken()) {
        backlog_ -= length;
    }
    transfer.oldest_under_way += count;
    const std::uint32_t window_end = transfer.oldest_under_way + plan_.window;
    const Bytes handed_over = std::min(plan_.chunk_size * window_end, transfer.event.bytes);
    if (handed_over > transfer.handed_over) {
        describe_next(transfer, stream, handed_over - transfer.handed_over, out.chunks.emplace_back());
        transfer.handed_over = handed_over;
        transfer.next_sequence = static_cast<std::uint32_t>((handed_over.count + plan_.chunk_size.count - 1) /
                                                            plan_.chunk_size.count);
    }
}

void Producer::end_transfer(Instant now, Transfer& transfer, Actions& out) {
    transfer.active = false;
    --active_transfers_;
    first_idle_ = std::min(first_idle_, static_cast<std::uint32_t>(&transfer - transfers_.data()));
    const EventId event = EventId::of(id_, transfer.event.sequence);
    const NodeId consumer = node_of(transfer.consumer);
    const Destination to{transfer.consumer, transfer.place};
    if (!transfer.again) {
        if (!plan_.outlives_consumers) {
            ledger_.sent.add(event, transfer.event.bytes);
        }
        out.observe(Observation::Kind::transfer_completed, consumer, event, transfer.event.bytes,
                    now - transfer.started_at);
        if (plan_.asks_again()) {
            // Granted twice before either had left: what the place is for now is the later one.
            let_go(now, retained_.release(to), consumer, out);
            retained_.keep(to, transfer.event);
        } else if (plan_.outlives_consumers && !transfer.done) {
            unconfirmed_.add_sent(transfer.event, transfer.consumer);
        } else if (plan_.outlives_consumers) {
            confirm(now, transfer.event, out);
        } else {
            gone(now, transfer.event, consumer, out);
        }
    } else if (!retained_.keeps(to, transfer.event.sequence)) {
        return;  // the consumer has got it, or has given it up, since it asked
    }
    if (plan_.lossy()) {
        out.messages.emplace_back(consumer, Sent{event, transfer.event.bytes, transfer.place,
                                                 transfer.event.generated_at, transfer.begun_at});
    }
}

}  // namespace weir::core
