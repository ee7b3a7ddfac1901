#include "core/fragment_place.hpp"

#include <algorithm>

namespace weir::core {

bool FragmentPlace::any_ahead(std::uint32_t first, std::uint32_t count) const {
    const auto last = std::min<std::size_t>(std::size_t{first} + count, ahead_.size());
    return std::find(ahead_.begin() + first, ahead_.begin() + static_cast<std::ptrdiff_t>(last), true) !=
           ahead_.begin() + static_cast<std::ptrdiff_t>(last);
}

/// Marks what came behind a gap, or passes over what is marked behind a gap that was closed.
void FragmentPlace::add_around_gap(std::uint32_t sequence, std::uint32_t count) {
    if (sequence >= in_order_) {
        scattered_ = true;
        std::fill_n(ahead_.begin() + sequence, count, true);
    }
    while (in_order_ < ahead_.size() && ahead_[in_order_]) {
        ++in_order_;
    }
}

void FragmentPlace::begin(EventId event, Bytes bytes, Bytes chunk_size, Instant generated_at) {
    state_ = State::receiving;
    corrupt_ = false;
    duplicated_ = false;
    if (std::exchange(scattered_, false)) {
        std::fill(ahead_.begin(), ahead_.end(), false);
    }
    chunks_ = 0;
    in_order_ = 0;
    event_ = event;
    announce(bytes, chunk_size, generated_at);
}

void FragmentPlace::announce(Bytes bytes, Bytes chunk_size, Instant generated_at) {
    bytes_ = bytes;
    expected_ = static_cast<std::uint32_t>((bytes.count + chunk_size.count - 1) / chunk_size.count);
    generated_at_ = generated_at;
}

}  // namespace weir::core
