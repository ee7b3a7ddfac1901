#include "packet/flow_row.hpp"

#include "core/assertion.hpp"

namespace weir::packet {

void FlowRow::push(Flow& flow) {
    flow.queued = true;
    places_.insert(places_.begin() + static_cast<std::ptrdiff_t>(turn_), {&flow, flow.next_send()});
    forget_blocks();
    ++turn_;
}

/// Whose turn it is leaves the row.
void FlowRow::leave() {
    places_[turn_].flow->queued = false;
    places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(turn_));
    forget_blocks();
}

/// Places from `turn_` on have changed.
void FlowRow::forget_blocks() {
    blocks_.resize(places_.size() / block);
    std::fill(blocks_.begin() + static_cast<std::ptrdiff_t>(std::min(turn_ / block, blocks_.size())),
              blocks_.end(), Picoseconds{});
}

bool FlowRow::waits(std::size_t number, Picoseconds now, Picoseconds& earliest) {
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

void FlowRow::note_empty(const Flow& flow) {
    const auto found =
        std::find_if(places_.begin(), places_.end(), [&](const Place& place) { return place.flow == &flow; });
    WEIR_ASSERT(found != places_.end());
    found->not_before = {};
    if (const auto number = static_cast<std::size_t>(found - places_.begin()) / block;
        number < blocks_.size()) {
        blocks_[number] = {};
    }
}

}  // namespace weir::packet
