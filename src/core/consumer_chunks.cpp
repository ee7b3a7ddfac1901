// The consumer's chunks over a transport that loses none: what is checked before one counts.
#include <algorithm>

#include "core/consumer.hpp"
#include "core/plan_limits.hpp"

namespace weir::core {

void Consumer::on_chunk(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out) {
    WEIR_ASSERT(place.value < places_.size());
    if (finished_) {
        return;
    }
    if (plan_.lossy()) {
        on_lossy_chunk(now, place, arrived, out);
        return;
    }
    if (!arrived.header_intact) {
        refuse_chunk(Fault::Kind::corrupt_header, place, arrived, "the header does not verify", out);
        return;
    }
    const ChunkDescription& chunk = arrived.chunk;
    FragmentPlace& fragment = places_[place.value];
    if (fragment.has(chunk.event, chunk.sequence, arrived.count)) {
        if (fragment.mark_duplicated()) {
            ++ledger_.duplicate_events;
        }
        refuse_chunk(Fault::Kind::duplicate_chunk, place, arrived, "this chunk had already arrived", out);
        return;
    }
    if (fragment.state() == FragmentPlace::State::free && !begin_fragment(now, place, arrived, out)) {
        refuse_chunk(Fault::Kind::unexpected_chunk, place, arrived, "no event can begin with this chunk",
                     out);
        return;
    }
    const bool expected = fragment.state() == FragmentPlace::State::receiving &&
                          chunk.event == fragment.event() && chunk.event_bytes == fragment.bytes() &&
                          fits(arrived, fragment.bytes());
    if (!expected) {
        refuse_chunk(Fault::Kind::unexpected_chunk, place, arrived, "the slot is receiving another event",
                     out);
        return;
    }
    if (!arrived.payload_intact) {
        fragment.mark_corrupt();
        out.faults.push_back({.kind = Fault::Kind::corrupt_payload,
                              .source = arrived.source,
                              .destination = node_of(id_),
                              .event = chunk.event,
                              .offset = chunk.offset,
                              .sequence = chunk.sequence,
                              .detail = "the payload does not verify"});
    }
    fragment.add(chunk.sequence, arrived.count);
    out.observations.push_back({.kind = Observation::Kind::chunk_received,
                                .peer = arrived.source,
                                .event = chunk.event,
                                .bytes = chunk.length,
                                .elapsed = {}});
    if (fragment.whole()) {
        end_fragment(now, place, out);
    }
}

bool Consumer::belongs(PlaceId place, EventId event) const {
    const Slot& slot = slots_[plan_.slot_of(place).value];
    const bool in_time = slot.state == SlotState::free || slot.state == SlotState::receiving;
    const bool number_known = slot.state == SlotState::receiving || slot.assigned;
    const bool wanted =
        plan_.pulls() ? is_asked_[place.value] : !plan_.consumers_grant() || slot.source.has_value();
    return in_time && wanted && event.producer().value < plan_.producers &&
           (!slot.source || event.producer() == *slot.source) &&
           (!plan_.builds() || (event.producer().value == plan_.fragment_of(place) &&
                                (!number_known || event.sequence() == slot.number)));
}

bool Consumer::fits(const ArrivedChunk& arrived, Bytes event_bytes) const {
    const ChunkDescription& chunk = arrived.chunk;
    const std::uint32_t last = chunk.sequence + arrived.count - 1;
    const Bytes offset = plan_.chunk_size * chunk.sequence;
    return last < plan_.chunks_per_fragment() && chunk.offset == offset &&
           plan_.chunk_size * last < event_bytes &&
           chunk.length == std::min(plan_.chunk_size * arrived.count, event_bytes - offset);
}

bool Consumer::begin_fragment(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out) {
    const ChunkDescription& chunk = arrived.chunk;
    // All of it is checked before the place is taken: a chunk that is wrong must not shut out the event
    // that the slot was granted to.
    const bool plausible = belongs(place, chunk.event) && arrived.source == node_of(chunk.event.producer()) &&
                           chunk.event_bytes > Bytes{0} && chunk.event_bytes <= plan_.slot_size &&
                           is_generation_instant(plan_, chunk.generated_at) &&
                           fits(arrived, chunk.event_bytes);
    if (!plausible) {
        return false;
    }
    if (slots_[plan_.slot_of(place).value].state == SlotState::free) {
        begin_event(plan_.slot_of(place), chunk.event.sequence());
    }
    places_[place.value].begin(chunk.event, chunk.event_bytes, plan_.chunk_size, chunk.generated_at);
    notice_transfer(now, place, chunk.begun_at, out);
    return true;
}

/// The fragment in the place has been on its way for longer than anything of it has been here.
void Consumer::notice_transfer(Instant now, PlaceId place, Instant begun_at, Actions& out) const {
    // Two clocks, and bytes that came from outside: neither the future nor a time before all runs.
    constexpr Duration longest = Duration::seconds(1000000);
    const EventId event = places_[place.value].event();
    out.observations.push_back({.kind = Observation::Kind::transfer_noticed,
                                .peer = node_of(event.producer()),
                                .event = event,
                                .bytes = {},
                                .elapsed = now - std::clamp(begun_at, now - longest, now)});
}

void Consumer::refuse_chunk(Fault::Kind kind, PlaceId place, const ArrivedChunk& arrived, const char* detail,
                            Actions& out) {
    out.faults.push_back({.kind = kind,
                          .source = arrived.source,
                          .destination = node_of(id_),
                          .event = arrived.chunk.event,
                          .offset = arrived.chunk.offset,
                          .sequence = arrived.chunk.sequence,
                          .detail = detail});
    // The refused chunk took the receive of a chunk that is still to come: post another one.
    const FragmentPlace::State state = places_[place.value].state();
    if (state == FragmentPlace::State::receiving || state == FragmentPlace::State::free) {
        out.open_places.push_back(place);
    }
}

}  // namespace weir::core
