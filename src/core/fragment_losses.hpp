// What a consumer does about chunks that get lost on the way: a fragment that is not whole within the
// time-out after its last chunk was sent is asked for again, a number of times, and then given up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/actions.hpp"
#include "core/fragment_place.hpp"
#include "core/indexed_heap.hpp"
#include "core/plan.hpp"

namespace weir::core {

class FragmentLosses {
  public:
    /// Fragments given up that are kept by name; further ones are counted only.
    static constexpr std::size_t given_up_limit = 256;

    explicit FragmentLosses(const Plan& plan);

    /// A fragment begins in this place.
    void begin(PlaceId place) { asked_[place.value] = 0; }
    /// All of the fragment was sent: what is missing has until the time-out to come.
    void expect(Instant now, PlaceId place) { overdue_.update(place.value, (now + timeout_).ns); }
    /// When the next fragment is overdue.
    [[nodiscard]] Instant next_deadline() const;
    /// Asks again for fragments that are overdue. Returns the first that was asked for as often as allowed,
    /// which must be given up before the next call; nothing if no more are overdue.
    std::optional<PlaceId> ask_again(Instant now, std::span<const FragmentPlace> places, Actions& out);
    /// Counts a fragment as given up. Its place is not complete yet.
    void give_up(const FragmentPlace& fragment, Actions& out);
    /// The fragment of `event` in this place is whole or given up.
    void complete(PlaceId place, EventId event, Actions& out);
    /// Nothing more can come of it in this place: it was whole there, or was given up, or is older than one
    /// that was.
    [[nodiscard]] bool is_over(PlaceId place, EventId event) const {
        return event.sequence() < over_[over_index(place, event)];
    }
    /// In order; the first of them.
    [[nodiscard]] std::span<const EventId> given_up() const { return given_up_; }

  private:
    /// Each slot has a number for each producer; with pattern `build` these are its places.
    [[nodiscard]] std::size_t over_index(PlaceId place, EventId event) const {
        return builds_ ? place.value : std::size_t{place.value} * producers_ + event.producer().value;
    }

    bool builds_;
    std::uint32_t producers_;
    Duration timeout_;
    std::uint32_t most_asked_;
    IndexedHeap<std::int64_t> overdue_;  ///< places by the instant at which their fragment is, in ns
    std::vector<std::uint32_t> asked_;   ///< by place: how often its fragment was asked for again
    /// By slot and producer: the sequence number after that of the last fragment that is over. A producer is
    /// granted a place again only when that is so, and its events in ascending order, so all before this
    /// number are over as well, however late their chunks and messages come.
    std::vector<std::uint64_t> over_;
    std::vector<EventId> given_up_;
};

}  // namespace weir::core
