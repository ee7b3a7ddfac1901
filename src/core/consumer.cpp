#include "core/consumer.hpp"

#include <algorithm>

#include "core/ledger_report.hpp"

namespace weir::core {

namespace {

bool is_busy(const Plan& plan, ConsumerId id) {
    return plan.busy.kind != DistributionKind::none &&
           (plan.busy_consumers.empty() ||
            std::binary_search(plan.busy_consumers.begin(), plan.busy_consumers.end(), id.value));
}

}  // namespace

Consumer::Consumer(const Plan& plan, ConsumerId id, Sampler processing_time)
    : plan_(plan),
      id_(id),
      processing_time_(std::move(processing_time)),
      busy_(is_busy(plan, id)),
      slots_(plan.slots),
      queue_(plan.slots),
      producer_drained_(plan.producers, false),
      next_producer_(id.value % plan.producers) {
    WEIR_ASSERT(plan.slots > 0);
    for (Slot& slot : slots_) {
        slot.arrived.assign(plan.chunks_per_slot(), false);
    }
}

void Consumer::on_start(Instant /*now*/, Actions& out) {
    // Here and not when constructed: in a simulation of thousands the counts then lie behind all consumers
    // and not between them, where they would push what every chunk touches out of the cache (12 % of the
    // time, measured).
    received_from_.resize(plan_.producers);
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
        WEIR_ASSERT(slots_[slot].state == SlotState::closed);
        slots_[slot].state = SlotState::free;
        ++use_.free;
        out.open_slots.push_back({slot});
        give_credit({slot}, out);
    }
}

void Consumer::give_credit(SlotId slot, Actions& out) {
    if (!direct()) {
        out.messages.push_back(
            {scheduler_node(), {.kind = MessageKind::ready, .node = id_.value, .slot = slot.value}});
        return;
    }
    for (std::uint32_t tried = 0; tried < plan_.producers; ++tried) {
        const std::uint32_t producer = next_producer_;
        next_producer_ = (next_producer_ + 1) % plan_.producers;
        if (!producer_drained_[producer]) {
            out.messages.push_back({node_of(ProducerId{producer}),
                                    {.kind = MessageKind::grant, .node = id_.value, .slot = slot.value}});
            return;
        }
    }
}

void Consumer::on_chunk(Instant now, SlotId slot, const ArrivedChunk& arrived, Actions& out) {
    WEIR_ASSERT(slot.value < slots_.size());
    if (finished_) {
        return;
    }
    if (!arrived.header_intact) {
        refuse_chunk(Fault::Kind::corrupt_header, slot, arrived, "the header does not verify", out);
        return;
    }
    const ChunkDescription& chunk = arrived.chunk;
    Slot& place = slots_[slot.value];
    // A free slot still knows its last event, so a late copy cannot pass for the beginning of a new one.
    if (chunk.event == place.event && chunk.sequence < place.arrived.size() &&
        place.arrived[chunk.sequence]) {
        if (!place.duplicated) {
            place.duplicated = true;
            ++ledger_.duplicate_events;
        }
        refuse_chunk(Fault::Kind::duplicate_chunk, slot, arrived, "this chunk had already arrived", out);
        return;
    }
    if (place.state == SlotState::free && !begin_event(slot, arrived)) {
        refuse_chunk(Fault::Kind::unexpected_chunk, slot, arrived, "no event can begin with this chunk", out);
        return;
    }
    const bool expected = place.state == SlotState::receiving && chunk.event == place.event &&
                          chunk.event_bytes == place.event_bytes && fits(chunk, place.event_bytes);
    if (!expected) {
        refuse_chunk(Fault::Kind::unexpected_chunk, slot, arrived, "the slot is receiving another event",
                     out);
        return;
    }
    if (!arrived.payload_intact) {
        place.corrupt = true;
        out.faults.push_back({.kind = Fault::Kind::corrupt_payload,
                              .source = arrived.source,
                              .destination = node_of(id_),
                              .event = chunk.event,
                              .offset = chunk.offset,
                              .sequence = chunk.sequence,
                              .detail = "the payload does not verify"});
    }
    place.arrived[chunk.sequence] = true;
    place.received += chunk.length;
    out.observations.push_back({.kind = Observation::Kind::chunk_received,
                                .peer = arrived.source,
                                .event = chunk.event,
                                .bytes = chunk.length,
                                .elapsed = {}});
    if (place.received == place.event_bytes) {
        complete_event(now, slot, out);
    }
}

bool Consumer::fits(const ChunkDescription& chunk, Bytes event_bytes) const {
    const Bytes offset = plan_.chunk_size * chunk.sequence;
    return chunk.sequence < plan_.chunks_per_slot() && chunk.offset == offset && offset < event_bytes &&
           chunk.length == std::min(plan_.chunk_size, event_bytes - offset);
}

bool Consumer::begin_event(SlotId slot, const ArrivedChunk& arrived) {
    const ChunkDescription& chunk = arrived.chunk;
    // All of it is checked before the slot is taken: a chunk that is wrong must not shut out the event that
    // the slot was granted to.
    const bool plausible = arrived.source == node_of(chunk.event.producer()) &&
                           arrived.source.index < plan_.producers && chunk.event_bytes > Bytes{0} &&
                           chunk.event_bytes <= plan_.slot_size && fits(chunk, chunk.event_bytes);
    if (!plausible) {
        return false;
    }
    Slot& place = slots_[slot.value];
    place.state = SlotState::receiving;
    place.corrupt = false;
    place.duplicated = false;
    place.event = chunk.event;
    place.event_bytes = chunk.event_bytes;
    place.received = Bytes{0};
    place.generated_at = chunk.generated_at;
    std::fill(place.arrived.begin(), place.arrived.end(), false);
    --use_.free;
    ++use_.receiving;
    return true;
}

void Consumer::refuse_chunk(Fault::Kind kind, SlotId slot, const ArrivedChunk& arrived, const char* detail,
                            Actions& out) {
    out.faults.push_back({.kind = kind,
                          .source = arrived.source,
                          .destination = node_of(id_),
                          .event = arrived.chunk.event,
                          .offset = arrived.chunk.offset,
                          .sequence = arrived.chunk.sequence,
                          .detail = detail});
    // The refused chunk took the receive of a chunk that is still to come: post another one.
    if (slots_[slot.value].state == SlotState::receiving || slots_[slot.value].state == SlotState::free) {
        out.open_slots.push_back(slot);
    }
}

void Consumer::complete_event(Instant now, SlotId slot, Actions& out) {
    Slot& place = slots_[slot.value];
    place.state = SlotState::queued;
    --use_.receiving;
    ++use_.queued;
    ledger_.received.add(place.event, place.event_bytes);
    received_from_[place.event.producer().value] += {1, place.event_bytes};
    if (place.corrupt) {
        ledger_.corrupt.add(place.event, place.event_bytes);
    }
    out.observations.push_back({.kind = Observation::Kind::received,
                                .peer = node_of(place.event.producer()),
                                .event = place.event,
                                .bytes = place.event_bytes,
                                .elapsed = now - place.generated_at});
    if (!direct()) {
        out.messages.push_back({scheduler_node(),
                                {.kind = MessageKind::done,
                                 .flag = static_cast<std::uint8_t>(busy_ ? 0 : 1),
                                 .node = id_.value,
                                 .slot = slot.value,
                                 .event = place.event.value,
                                 .bytes = place.event_bytes.count,
                                 .hash = ledger_mix(place.event, place.event_bytes)}});
    }
    if (settling_) {
        report_progress(out);
    }
    if (!busy_) {
        // The credit travels with the done message, except with policy `none`, where it is a grant of its
        // own.
        place.state = SlotState::free;
        --use_.queued;
        ++use_.free;
        out.open_slots.push_back(slot);
        if (direct()) {
            give_credit(slot, out);
        }
        return;
    }
    queue_.push(slot.value);
    if (!processing()) {
        start_processing(now);
        on_time(now, out);
    }
}

void Consumer::start_processing(Instant from) {
    current_processing_ = {processing_time_.next()};
    if (processing_factor_ != 1) {
        const double longest = 4e18;  // ns; far beyond any run, and still an integer
        current_processing_ = {static_cast<std::int64_t>(
            std::min(static_cast<double>(current_processing_.ns) * processing_factor_, longest))};
    }
    processing_until_ = from + current_processing_;
}

void Consumer::on_time(Instant now, Actions& out) {
    while (!finished_ && processing_until_ <= now) {
        const SlotId slot{queue_.pop()};
        const Slot& place = slots_[slot.value];
        out.observations.push_back({.kind = Observation::Kind::processed,
                                    .peer = node_of(place.event.producer()),
                                    .event = place.event,
                                    .bytes = place.event_bytes,
                                    .elapsed = current_processing_});
        free_slot(slot, out);
        if (queue_.empty()) {
            processing_until_ = Instant::never();
        } else {
            // Back to back in nominal time: a rank that was late to notice does not make processing longer.
            start_processing(processing_until_);
        }
    }
}

void Consumer::free_slot(SlotId slot, Actions& out) {
    Slot& place = slots_[slot.value];
    WEIR_ASSERT(place.state == SlotState::queued);
    place.state = SlotState::free;
    --use_.queued;
    ++use_.free;
    out.open_slots.push_back(slot);
    give_credit(slot, out);
}

void Consumer::report_progress(Actions& out) {
    out.messages.push_back({scheduler_node(),
                            {.kind = MessageKind::progress,
                             .node = id_.value,
                             .events = ledger_.received.events,
                             .bytes = ledger_.received.bytes.count}});
}

void Consumer::on_message(Instant /*now*/, NodeId from, const ControlMessage& message, Actions& out) {
    if (finished_) {
        return;
    }
    switch (message.kind) {
        case MessageKind::decline:
            if (direct() && from.role == Role::producer && from.index < plan_.producers &&
                message.node == id_.value && message.slot < slots_.size() &&
                slots_[message.slot].state == SlotState::free) {
                producer_drained_[from.index] = true;
                give_credit({message.slot}, out);
                return;
            }
            break;
        case MessageKind::settle:
            settling_ = true;
            report_progress(out);
            return;
        case MessageKind::finish:
            close(out);
            return;
        default:
            break;
    }
    out.faults.push_back(
        {.source = from,
         .destination = node_of(id_),
         .detail = "a consumer takes settle, finish and (policy none) decline of a free slot"});
}

void Consumer::close(Actions& out) {
    for (const Slot& place : slots_) {
        if (place.state != SlotState::receiving) {
            continue;
        }
        ledger_.incomplete.add(place.event, place.event_bytes);
        const auto missing = std::find(place.arrived.begin(), place.arrived.end(), false);
        const auto sequence = static_cast<std::uint32_t>(missing - place.arrived.begin());
        out.faults.push_back({.kind = Fault::Kind::incomplete_event,
                              .source = node_of(place.event.producer()),
                              .destination = node_of(id_),
                              .event = place.event,
                              .offset = plan_.chunk_size * sequence,
                              .sequence = sequence,
                              .detail = "this chunk never arrived"});
    }
    out.close_slots = true;
    finished_ = true;
    append_ledger_report(ledger_, node_of(id_), out);
}

}  // namespace weir::core
