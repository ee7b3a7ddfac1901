// The consumer's chunks: what is checked before one counts. Transports that lose none: whatever cannot be
// used is a fault. Others: it is counted, and what is missing is noticed with the producer's Sent.
#include <algorithm>

#include "core/consumer.hpp"
#include "core/plan.hpp"

namespace weir::core {

namespace {

/// This is done for every chunk: together for those of a fragment that come one after the other, and else
/// filled in place.
void observe(Observation::Kind kind, const ArrivedChunk& arrived, Actions& out) {
    if (!out.observations.empty()) {
        Observation& last = out.observations.back();
        if (last.kind == kind && last.event == arrived.chunk.event && last.peer == arrived.source) {
            last.bytes += arrived.chunk.length;
            ++last.chunks;
            return;
        }
    }
    Observation& observation = out.observations.emplace_back();
    observation.kind = kind;
    observation.peer = arrived.source;
    observation.event = arrived.chunk.event;
    observation.bytes = arrived.chunk.length;
}

}  // namespace

void Consumer::on_chunk(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out) {
    WEIR_ASSERT(place.value < places_.size());
    // The epoch in a damaged header means nothing.
    const bool stale = arrived.header_intact && (arrived.chunk.epoch != epoch_ || !admitted_);
    if (finished_ || (stale && refuse_stale(arrived, out))) {
        return;
    }
    if (losses_) {
        on_lossy_chunk(now, place, arrived, out);
        return;
    }
    const ChunkDescription& chunk = arrived.chunk;
    FragmentPlace& fragment = places_[place.value];
    if (!accept_chunk(now, place, arrived, out)) {
        return;
    }
    count_checked(arrived);
    if (!arrived.payload_intact) {
        fragment.mark_corrupt();
        add_fault(Fault::Kind::corrupt_payload, arrived, "the payload does not verify", out);
    }
    fragment.add(chunk.sequence, arrived.count);
    out.observe(Observation::Kind::chunk_received, arrived.source, chunk.event, chunk.length);
    if (fragment.whole()) {
        end_fragment(now, place, out);
    }
}

void Consumer::count_checked(const ArrivedChunk& arrived) {
    if (arrived.payload_checked) {
        ledger_.payload_checked += arrived.chunk.length;
    }
}

/// Whether the chunk counts; begins a fragment with it where none has begun. Else it is refused.
bool Consumer::accept_chunk(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out) {
    const auto refuse = [&](Fault::Kind kind, const char* detail) {
        refuse_chunk(kind, place, arrived, detail, out);
        return false;
    };
    if (!arrived.header_intact) {
        return refuse(Fault::Kind::corrupt_header, "the header does not verify");
    }
    const ChunkDescription& chunk = arrived.chunk;
    FragmentPlace& fragment = places_[place.value];
    if (fragment.has(chunk.event, chunk.sequence, arrived.count)) {
        if (fragment.mark_duplicated()) {
            ++ledger_.duplicate.events;
        }
        return refuse(Fault::Kind::duplicate_chunk, "this chunk had already arrived");
    }
    if (fragment.state() == FragmentPlace::State::free && !begin_fragment(now, place, arrived, out)) {
        return refuse(Fault::Kind::unexpected_chunk, "no event can begin with this chunk");
    }
    const bool expected = fragment.state() == FragmentPlace::State::receiving &&
                          chunk.event == fragment.event() && chunk.event_bytes == fragment.bytes() &&
                          fits(arrived, fragment.bytes());
    return expected || refuse(Fault::Kind::unexpected_chunk, "the slot is receiving another event");
}

bool Consumer::belongs(PlaceId place, EventId event) const {
    const Slot& slot = slots_[plan_.slot_of(place).value];
    const bool in_time = slot.state == SlotState::free || slot.state == SlotState::receiving;
    const bool number_known = slot.state == SlotState::receiving || slot.assigned;
    const bool wanted = requests_ ? requests_->is_waiting(place) : !turns_ || slot.source.has_value();
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

bool Consumer::is_possible(const ArrivedChunk& arrived) const {
    const Bytes event_bytes = arrived.chunk.event_bytes;
    return event_bytes > Bytes{0} && event_bytes <= plan_.slot_size && fits(arrived, event_bytes);
}

bool Consumer::begin_fragment(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out) {
    const ChunkDescription& chunk = arrived.chunk;
    // All of it is checked before the place is taken: a chunk that is wrong must not shut out the event
    // that the slot was granted to.
    const bool plausible = belongs(place, chunk.event) && arrived.source == node_of(chunk.event.producer()) &&
                           is_generation_instant(plan_, chunk.generated_at) && is_possible(arrived);
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
    out.observe(Observation::Kind::transfer_noticed, node_of(event.producer()), event, {},
                now - std::clamp(begun_at, now - longest, now));
}

void Consumer::add_fault(Fault::Kind kind, const ArrivedChunk& arrived, const char* detail,
                         Actions& out) const {
    out.faults.push_back({.kind = kind,
                          .source = arrived.source,
                          .destination = node_of(id_),
                          .event = arrived.chunk.event,
                          .offset = arrived.chunk.offset,
                          .sequence = arrived.chunk.sequence,
                          .detail = detail});
}

void Consumer::refuse_chunk(Fault::Kind kind, PlaceId place, const ArrivedChunk& arrived, const char* detail,
                            Actions& out) {
    add_fault(kind, arrived, detail, out);
    // The refused chunk took the receive of a chunk that is still to come: post another one.
    const FragmentPlace::State state = places_[place.value].state();
    if (state == FragmentPlace::State::receiving || state == FragmentPlace::State::free) {
        out.open_places.push_back(place);
    }
}

void Consumer::on_lossy_chunk(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out) {
    const ChunkDescription& chunk = arrived.chunk;
    FragmentPlace& fragment = places_[place.value];
    if (!arrived.header_intact || !arrived.payload_intact) {
        observe(Observation::Kind::chunk_corrupt, arrived, out);
        return;
    }
    if (fragment.has(chunk.event, chunk.sequence)) {
        observe(Observation::Kind::chunk_duplicate, arrived, out);
        return;
    }
    if (!is_expected(place, arrived)) {
        observe(Observation::Kind::chunk_late, arrived, out);
        return;
    }
    count_checked(arrived);
    fragment.add(chunk.sequence);
    observe(Observation::Kind::chunk_received, arrived, out);
    if (fragment.whole()) {
        end_fragment(now, place, out);
    }
}

/// Whether the place is receiving the chunk's fragment; begins that where it can.
bool Consumer::is_expected(PlaceId place, const ArrivedChunk& arrived) {
    const EventId event = arrived.chunk.event;
    const FragmentPlace& fragment = places_[place.value];
    if (arrived.source != node_of(event.producer()) || arrived.chunk.sequence >= fragment.most_chunks()) {
        return false;
    }
    if (fragment.state() == FragmentPlace::State::receiving) {
        return fragment.event() == event;
    }
    if (fragment.state() != FragmentPlace::State::free || !belongs(place, event) ||
        losses_->is_over(place, event)) {
        return false;
    }
    begin_unannounced(place, event);
    return true;
}

void Consumer::begin_unannounced(PlaceId place, EventId event) {
    const SlotId slot = plan_.slot_of(place);
    if (slots_[slot.value].state == SlotState::free) {
        begin_event(slot, event.sequence());
    }
    losses_->begin(place);
    places_[place.value].begin(event, Bytes{0}, plan_.chunk_size, Instant{});
}

bool Consumer::on(Instant now, NodeId from, const Sent& sent, Actions& out) {
    const auto [event, bytes, place, generated_at, begun_at] = sent;
    if (!losses_ || from != node_of(event.producer()) || event.producer().value >= plan_.producers ||
        place.value >= places_.size() || bytes <= Bytes{0} || bytes > plan_.slot_size ||
        !is_generation_instant(plan_, generated_at)) {
        return false;
    }
    FragmentPlace& fragment = places_[place.value];
    if (losses_->is_over(place, event)) {
        return true;  // it became whole, or was given up, while the producer sent it again
    }
    if (!belongs(place, event)) {
        return false;
    }
    // The producer's `Sent` counts: the header of a chunk that came astray may have had another event.
    const bool receiving = fragment.state() == FragmentPlace::State::receiving;
    if (fragment.state() == FragmentPlace::State::free ||
        (receiving && fragment.event() != event && fragment.bytes() == Bytes{0})) {
        begin_unannounced(place, event);
    }
    if (fragment.state() != FragmentPlace::State::receiving || fragment.event() != event) {
        return false;
    }
    if (fragment.bytes() != Bytes{0} && fragment.bytes() != bytes) {
        return false;  // this contradicts an earlier one
    }
    fragment.announce(bytes, plan_.chunk_size, generated_at);
    notice_transfer(now, place, begun_at, out);
    if (fragment.whole()) {
        end_fragment(now, place, out);
    } else {
        losses_->expect(now, place);
    }
    return true;
}

void Consumer::give_up_overdue(Instant now, Actions& out) {
    while (const auto place = losses_->ask_again(now, places_, out)) {
        const FragmentPlace& fragment = places_[place->value];
        give_up(fragment, out);
        slots_[plan_.slot_of(*place).value].fragment = fragment.event();
        complete_place(now, *place, out);
    }
}

void Consumer::give_up(const FragmentPlace& fragment, Actions& out) {
    ledger_.incomplete.add(fragment.event(), fragment.bytes());
    losses_->give_up(fragment, out);
}

}  // namespace weir::core
