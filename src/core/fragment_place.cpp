#include "core/fragment_place.hpp"

#include <algorithm>

namespace weir::core {

std::uint32_t FragmentPlace::first_missing() const {
    return static_cast<std::uint32_t>(std::find(arrived_.begin(), arrived_.end(), false) - arrived_.begin());
}

void FragmentPlace::begin(EventId event, Bytes bytes, Bytes chunk_size, Instant generated_at) {
    state_ = State::receiving;
    corrupt_ = false;
    duplicated_ = false;
    asked_ = 0;
    chunks_ = 0;
    event_ = event;
    std::fill(arrived_.begin(), arrived_.end(), false);
    announce(bytes, chunk_size, generated_at);
}

void FragmentPlace::announce(Bytes bytes, Bytes chunk_size, Instant generated_at) {
    bytes_ = bytes;
    expected_ = static_cast<std::uint32_t>((bytes.count + chunk_size.count - 1) / chunk_size.count);
    generated_at_ = generated_at;
}

}  // namespace weir::core
