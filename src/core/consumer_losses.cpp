// The consumer's part in transports that lose chunks: what arrives may be of any event, and what is
// missing has to be noticed.
#include "core/consumer.hpp"

#include <algorithm>

#include "core/plan_limits.hpp"

namespace weir::core {

namespace {

/// Filled where it lies: this is done for every chunk.
void observe(Observation::Kind kind, const ArrivedChunk& arrived, Actions& out) {
    Observation& observation = out.observations.emplace_back();
    observation.kind = kind;
    observation.peer = arrived.source;
    observation.event = arrived.chunk.event;
    observation.bytes = arrived.chunk.length;
}

}  // namespace

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
    const bool plausible = belongs(place, chunk.event) && arrived.source == node_of(chunk.event.producer()) &&
                           chunk.sequence < plan_.chunks_per_fragment();
    if (plausible && fragment.state() == FragmentPlace::State::free && !is_over(place, chunk.event)) {
        begin_unannounced(place, chunk.event);
    }
    if (!plausible || fragment.state() != FragmentPlace::State::receiving ||
        fragment.event() != chunk.event) {
        observe(Observation::Kind::chunk_late, arrived, out);
        return;
    }
    fragment.add(chunk.sequence);
    observe(Observation::Kind::chunk_received, arrived, out);
    if (fragment.whole()) {
        end_fragment(now, place, out);
    }
}

void Consumer::begin_unannounced(PlaceId place, EventId event) {
    const SlotId slot = plan_.slot_of(place);
    if (slots_[slot.value].state == SlotState::free) {
        begin_event(slot, event.sequence());
    }
    places_[place.value].begin(event, Bytes{0}, plan_.chunk_size, Instant{});
}

bool Consumer::on(Instant now, NodeId from, const Sent& sent, Actions& out) {
    const auto [event, bytes, place, generated_at, begun_at] = sent;
    if (!plan_.lossy() || from != node_of(event.producer()) || event.producer().value >= plan_.producers ||
        place.value >= places_.size() || bytes <= Bytes{0} || bytes > plan_.slot_size ||
        !is_generation_instant(plan_, generated_at)) {
        return false;
    }
    FragmentPlace& fragment = places_[place.value];
    if (is_over(place, event)) {
        return true;  // it became whole, or was given up, while the producer sent it again
    }
    if (!belongs(place, event)) {
        return false;
    }
    // The producer knows what it was granted; a chunk that came astray may have said otherwise.
    const bool receiving = fragment.state() == FragmentPlace::State::receiving;
    if (fragment.state() == FragmentPlace::State::free ||
        (receiving && fragment.event() != event && fragment.bytes() == Bytes{0})) {
        begin_unannounced(place, event);
    }
    if (fragment.state() != FragmentPlace::State::receiving || fragment.event() != event) {
        return false;
    }
    if (fragment.bytes() != Bytes{0} && fragment.bytes() != bytes) {
        return false;  // it was said otherwise before
    }
    fragment.announce(bytes, plan_.chunk_size, generated_at);
    notice_transfer(now, place, begun_at, out);
    if (fragment.whole()) {
        end_fragment(now, place, out);
    } else {
        overdue_.update(place.value, (now + plan_.fragment_timeout).ns);
    }
    return true;
}

void Consumer::look_after_overdue(Instant now, Actions& out) {
    while (!finished_ && !overdue_.empty() && overdue_.key(overdue_.top()) <= now.ns) {
        const PlaceId place{overdue_.top()};
        FragmentPlace& fragment = places_[place.value];
        if (fragment.asked() == plan_.reasks) {
            give_up(now, place, out);
            continue;
        }
        // Until the producer has sent it again there is nothing to wait for.
        overdue_.erase(place.value);
        fragment.ask_again();
        const NodeId producer = node_of(fragment.event().producer());
        out.messages.push_back({producer, SendAgain{fragment.event(), place}});
        out.observations.push_back({.kind = Observation::Kind::asked_again,
                                    .peer = producer,
                                    .event = fragment.event(),
                                    .bytes = fragment.bytes(),
                                    .elapsed = {}});
    }
}

void Consumer::count_as_lost(const FragmentPlace& fragment, Actions& out) {
    const EventId event = fragment.event();
    ledger_.incomplete.add(event, fragment.bytes());
    if (given_up_.size() < given_up_limit) {
        given_up_.push_back(event);
    }
    out.observations.push_back({.kind = Observation::Kind::given_up,
                                .peer = node_of(event.producer()),
                                .event = event,
                                .bytes = fragment.bytes(),
                                .elapsed = {}});
}

void Consumer::give_up(Instant now, PlaceId place, Actions& out) {
    const FragmentPlace& fragment = places_[place.value];
    count_as_lost(fragment, out);
    slots_[plan_.slot_of(place).value].fragment = fragment.event();
    end_waiting(place, out);
    complete_place(now, place, out);
}

/// The fragment in the place is whole or given up.
void Consumer::end_waiting(PlaceId place, Actions& out) {
    const EventId event = places_[place.value].event();
    overdue_.erase(place.value);
    std::uint64_t& over = over_[over_index(place, event)];
    over = std::max(over, event.sequence() + 1);
    if (plan_.asks_again()) {
        out.messages.push_back({node_of(event.producer()), Taken{event, place}});
    }
}

std::size_t Consumer::over_index(PlaceId place, EventId event) const {
    return std::size_t{plan_.slot_of(place).value} * plan_.producers + event.producer().value;
}

bool Consumer::is_over(PlaceId place, EventId event) const {
    return event.sequence() < over_[over_index(place, event)];
}

}  // namespace weir::core
