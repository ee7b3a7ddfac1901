// What has arrived of one fragment: which chunks, how many bytes. A place holds one fragment at a time
// and keeps the number of the last one when it is free again, so that a late copy cannot pass for the
// beginning of another. Chunks come in order but for a few, so a number shows which ones have come, and marks
// only those that came ahead of others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::core {

class FragmentPlace {
  public:
    /// `complete`: nothing more is expected, the fragment is whole or was given up.
    enum class State : std::uint8_t { closed, free, receiving, complete };

    explicit FragmentPlace(const Plan& plan) : ahead_(plan.chunks_per_fragment(), false) {}

    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] EventId event() const { return event_; }
    /// Size of the fragment; 0 while it is not known (lossy transports, until the producer has sent it).
    [[nodiscard]] Bytes bytes() const { return bytes_; }
    [[nodiscard]] Instant generated_at() const { return generated_at_; }
    [[nodiscard]] bool corrupt() const { return corrupt_; }
    /// The chunk of this event, or one of `count` in a row, has arrived here before.
    [[nodiscard]] bool has(EventId event, std::uint32_t sequence, std::uint32_t count = 1) const {
        if (event != event_ || sequence >= ahead_.size()) {
            return false;
        }
        return sequence < in_order_ || (chunks_ > in_order_ && any_ahead(sequence, count));
    }
    /// Every chunk has arrived.
    [[nodiscard]] bool whole() const { return bytes_ > Bytes{0} && chunks_ == expected_; }
    /// As many as the largest fragment has.
    [[nodiscard]] std::uint32_t most_chunks() const { return static_cast<std::uint32_t>(ahead_.size()); }
    /// The first chunk that has not arrived.
    [[nodiscard]] std::uint32_t first_missing() const { return in_order_; }

    void set_free() { state_ = State::free; }
    /// The fragment of `event` begins. `bytes` 0: its size comes later.
    void begin(EventId event, Bytes bytes, Bytes chunk_size, Instant generated_at) {
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
    /// The size of the fragment that is arriving.
    void announce(Bytes bytes, Bytes chunk_size, Instant generated_at) {
        bytes_ = bytes;
        expected_ = static_cast<std::uint32_t>((bytes.count + chunk_size.count - 1) / chunk_size.count);
        generated_at_ = generated_at;
    }
    /// A chunk that had not arrived before, or `count` in a row.
    void add(std::uint32_t sequence, std::uint32_t count = 1) {
        chunks_ += count;
        if (sequence == in_order_) {
            in_order_ += count;
        }
        if (chunks_ > in_order_) {
            add_around_gap(sequence, count);
        }
    }
    void mark_corrupt() { corrupt_ = true; }
    /// True once per fragment.
    bool mark_duplicated() { return !std::exchange(duplicated_, true); }
    void complete() { state_ = State::complete; }

  private:
    [[nodiscard]] bool any_ahead(std::uint32_t first, std::uint32_t count) const {
        const auto last = std::min<std::size_t>(std::size_t{first} + count, ahead_.size());
        return std::find(ahead_.begin() + first, ahead_.begin() + static_cast<std::ptrdiff_t>(last), true) !=
               ahead_.begin() + static_cast<std::ptrdiff_t>(last);
    }
    /// Marks what came behind a gap, or passes over what is marked behind a gap that was closed.
    void add_around_gap(std::uint32_t sequence, std::uint32_t count) {
        if (sequence >= in_order_) {
            scattered_ = true;
            std::fill_n(ahead_.begin() + sequence, count, true);
        }
        while (in_order_ < ahead_.size() && ahead_[in_order_]) {
            ++in_order_;
        }
    }

    State state_ = State::closed;
    bool corrupt_ = false;
    bool duplicated_ = false;
    bool scattered_ = false;            ///< there are marks
    std::uint32_t chunks_ = 0;          ///< that have arrived
    std::uint32_t in_order_ = 0;        ///< of them, those before the first that has not arrived
    std::uint32_t expected_ = 0;        ///< of the whole fragment
    EventId event_{~std::uint64_t{0}};  ///< at first none that there is
    Bytes bytes_;
    Instant generated_at_;
    std::vector<bool> ahead_;  ///< by chunk sequence: arrived when one before it had not
};

}  // namespace weir::core
