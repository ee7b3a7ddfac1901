// Cuts time into seconds: the part that all recorders share. Time is given by the caller and only moves
// forward; an instant before the last one counts as the last one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/units.hpp"

namespace weir::record {

inline constexpr std::int64_t ns_per_second = 1000000000;

/// The second (floor) in which an instant lies.
constexpr std::int64_t second_of(core::Instant instant) {
    return core::periods_until(instant, core::Duration::seconds(1));
}

class SecondClock {
  public:
    explicit SecondClock(core::Instant start)
        : start_(start), position_(start), second_(second_of(start)), end_{(second_ + 1) * ns_per_second} {}

    /// Moves to `now`. Calls `integrate(from, length)` for every stretch of time inside one second and
    /// `close(second, covered)` at the end of every second that has passed.
    template <typename Integrate, typename Close>
    void advance(core::Instant now, Integrate&& integrate, Close&& close) {
        while (now >= end_) {
            move_to(end_, integrate);
            close(second_, covered());
            start_ = end_;
            ++second_;
            end_ = {(second_ + 1) * ns_per_second};
        }
        move_to(now, integrate);
    }

    [[nodiscard]] core::Instant position() const { return position_; }
    /// When recording began in the current second.
    [[nodiscard]] core::Instant start() const { return start_; }
    [[nodiscard]] std::int64_t second() const { return second_; }
    /// When the current second is over.
    [[nodiscard]] core::Instant end() const { return end_; }
    /// Time of the current second that has passed while recording.
    [[nodiscard]] core::Duration covered() const { return position_ - start_; }

  private:
    template <typename Integrate>
    void move_to(core::Instant to, Integrate&& integrate) {
        if (to > position_) {
            integrate(position_, to - position_);
            position_ = to;
        }
    }

    core::Instant start_;  ///< of recording in the current second
    core::Instant position_;
    std::int64_t second_;
    core::Instant end_;
};

/// Bytes of chunks that left or arrived, and when.
struct ChunkBytes {
    core::Instant at;
    core::Bytes bytes;
};

/// Bytes of chunks of which the last byte is still to come, where they are known (a simulation): they count
/// in the second in which they moved, and no more when their chunk counts.
class MovingBytes {
  public:
    /// So many at the end of the current second.
    void set(core::Bytes bytes) { bytes_ = bytes; }
    /// At the end of a second: its bytes, where `chunks` are those of its chunks.
    core::Bytes end_second(core::Bytes chunks) {
        // What was counted of a chunk that never ends is not subtracted below 0.
        const core::Bytes change = std::max(bytes_ - credited_, core::Bytes{} - chunks);
        credited_ += change;
        return chunks + change;
    }

  private:
    core::Bytes bytes_;
    core::Bytes credited_;
};

/// The largest number of bytes in one of the second's hundred 10 ms bins. A chunk counts in the bin in which
/// its end was seen, so one bin can show more than the line rate by up to a window of chunks.
class PeakBins {
  public:
    void add(core::Instant now, core::Bytes bytes) {
        const std::int64_t bin = now.ns / bin_ns;
        if (bin != bin_) {
            bin_ = bin;
            in_bin_ = {};
        }
        in_bin_ += bytes;
        peak_ = std::max(peak_, in_bin_);
    }
    /// The largest bin since the last call, as a rate.
    core::BitRate end_second() {
        const core::BitRate rate{peak_.count * 8 * (ns_per_second / bin_ns)};
        in_bin_ = {};
        peak_ = {};
        return rate;
    }

  private:
    static constexpr std::int64_t bin_ns = 10000000;
    std::int64_t bin_ = 0;
    core::Bytes in_bin_;
    core::Bytes peak_;
};

}  // namespace weir::record
