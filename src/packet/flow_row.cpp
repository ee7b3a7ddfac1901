#include "packet/flow_row.hpp"

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
        const auto* const first = places_.data() + number * block;
        not_before = std::min_element(first, first + block, [](const Place& a, const Place& b) {
                         return a.not_before < b.not_before;
                     })->not_before;
    }
    if (not_before <= now) {
        return false;
    }
    earliest = std::min(earliest, not_before);
    return true;
}

void FlowRow::note_empty(const Flow& flow) {
    const auto found =
        std::find_if(places_.begin(), places_.end(), [&](const Place& place) { return place.flow == &flow; });
    found->not_before = {};
    if (const auto number = static_cast<std::size_t>(found - places_.begin()) / block;
        number < blocks_.size()) {
        blocks_[number] = {};
    }
}

}  // namespace weir::packet
