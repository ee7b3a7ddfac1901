// The flows of a host and a priority that have packets, in turn: the first whose time to send has come sends
// a packet, and goes to the end of the row with all that stand before it.
//
// The row is a ring: to go to the end is to be passed by the place whose turn it is. Beside each flow stands
// a time before which it does not send, and such a time for each block of flows, so that of a thousand with
// low rates most are passed sixty-four at a time.
//
// Rejected: a heap of those that wait, by their time. A flow whose time has come stands where its turn is,
// between others that still wait.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/assertion.hpp"
#include "packet/flow.hpp"

namespace weir::packet {

class FlowRow {
  public:
    [[nodiscard]] bool empty() const { return places_.empty(); }
    /// One that is not in the row, to its end. Its time to send does not go back while it is.
    void push(Flow& flow) {
        flow.queued = true;
        places_.insert(places_.begin() + static_cast<std::ptrdiff_t>(turn_), {&flow, flow.next_send()});
        forget_blocks();
        ++turn_;
    }
    /// The first flow in turn with a packet whose time has come; sent() must follow. nullptr: none, and
    /// `earliest` is lowered to a time before which there is none. Flows without packets leave the row.
    Flow* next(Picoseconds now, Picoseconds& earliest);
    /// What next() returned has sent a packet.
    void sent();
    /// A flow of the row has no packets any more; it leaves when it is passed.
    void note_empty(const Flow& flow) {
        const auto found = std::find_if(places_.begin(), places_.end(),
                                        [&](const Place& place) { return place.flow == &flow; });
        WEIR_ASSERT(found != places_.end());
        found->not_before = {};
        if (const auto number = static_cast<std::size_t>(found - places_.begin()) / block;
            number < blocks_.size()) {
            blocks_[number] = {};
        }
    }
    /// A time before which none of them sends; exact only beyond `until`. never(): of an empty row.
    [[nodiscard]] Picoseconds not_before(Picoseconds until);

  private:
    struct Place {
        Flow* flow = nullptr;
        Picoseconds not_before;
    };
    static constexpr std::size_t block = 64;

    /// Whether all of a block have to wait, until when.
    bool waits(std::size_t number, Picoseconds now, Picoseconds& earliest) {
        if (number >= blocks_.size()) {
            return false;
        }
        Picoseconds& not_before = blocks_[number];
        if (not_before <= now) {
            Picoseconds least = Picoseconds::never();
            for (const Place* place = places_.data() + number * block;
                 place < places_.data() + (number + 1) * block; ++place) {
                if (place->not_before <= now) {
                    return false;
                }
                least = std::min(least, place->not_before);
            }
            not_before = least;
        }
        earliest = std::min(earliest, not_before);
        return true;
    }
    /// Whose turn it is leaves the row.
    void leave() {
        places_[turn_].flow->queued = false;
        places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(turn_));
        forget_blocks();
    }
    /// Places from `turn_` on have changed.
    void forget_blocks() {
        blocks_.resize(places_.size() / block);
        std::fill(blocks_.begin() + static_cast<std::ptrdiff_t>(std::min(turn_ / block, blocks_.size())),
                  blocks_.end(), Picoseconds{});
    }

    std::vector<Place> places_;
    std::vector<Picoseconds> blocks_;  ///< of as many whole blocks as there are; too early, where not known
    std::size_t turn_ = 0;
};

inline Flow* FlowRow::next(Picoseconds now, Picoseconds& earliest) {
    for (std::size_t left = places_.size(); left > 0;) {
        turn_ = turn_ == places_.size() ? 0 : turn_;
        if (turn_ % block == 0 && left >= block && waits(turn_ / block, now, earliest)) {
            turn_ += block;
            left -= block;
            continue;
        }
        --left;
        Place& place = places_[turn_];
        if (place.not_before <= now) {
            if (!place.flow->has_packet()) {
                leave();
                continue;
            }
            place.not_before = place.flow->next_send();
            if (place.not_before <= now) {
                return place.flow;
            }
        }
        earliest = std::min(earliest, place.not_before);
        ++turn_;
    }
    return nullptr;
}

inline void FlowRow::sent() {
    Place& place = places_[turn_];
    if (place.flow->has_packet()) {
        place.not_before = place.flow->next_send();
        ++turn_;
    } else {
        leave();
    }
}

inline Picoseconds FlowRow::not_before(Picoseconds until) {
    Picoseconds earliest = Picoseconds::never();
    for (std::size_t number = 0; number < blocks_.size(); ++number) {
        if (!waits(number, until, earliest)) {
            return until;
        }
    }
    for (std::size_t place = blocks_.size() * block; place < places_.size(); ++place) {
        earliest = std::min(earliest, places_[place].not_before);
    }
    return earliest;
}

}  // namespace weir::packet
