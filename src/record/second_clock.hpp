// Cuts time into seconds: the part that all recorders share. Time is given by the caller and only moves
// forward; an instant before the last one counts as the last one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/plan.hpp"
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

/// In the time in which data was generated.
struct MovedInTime {
    core::Bytes bytes;
    core::Duration time;

    constexpr MovedInTime& operator+=(const MovedInTime& other) {
        bytes += other.bytes;
        time += other.time;
        return *this;
    }
    constexpr bool operator==(const MovedInTime&) const = default;
};

/// Counts a rank's bytes from second 0 to the end of the last interval in which data was generated: over this
/// time rates are means. It is not that of the measured rows where the duration is no whole second, or no
/// whole interval: then the last row also has what was sent when nothing was generated any more, and a rank
/// that was through would seem slow because another one was not.
class GenerationTime {
  public:
    /// Recording begins at `start`.
    GenerationTime(const core::Plan& plan, core::Instant start)
        : generation_ends_{plan.duration.ns},
          end_(plan.generated_until()),
          begin_(std::max(start, core::Instant{})) {}

    /// So many bytes moved at this instant of the current second.
    void count(core::Instant at, core::Bytes bytes) {
        if (at >= end_) {
            after_ += bytes;
        }
    }
    /// The current second ends at `now`; its row has so many bytes.
    void end_second(std::int64_t second, core::Instant now, core::Bytes bytes) {
        if (second >= 0 && core::Instant{second * ns_per_second} < end_) {
            // Where a row has a part of a chunk less, which moved before it, all of its bytes may be after
            // the end.
            moved_.bytes += std::max(bytes - after_, core::Bytes{});
            moved_.time = std::min(now, end_) - begin_;
        }
        after_ = {};
    }
    /// Nothing moves from here on. A rank that is through early had nothing to do until the end.
    void finish(core::Instant now) {
        if (now >= generation_ends_ && end_ > begin_) {
            moved_.time = end_ - begin_;
        }
    }

    [[nodiscard]] const MovedInTime& moved() const { return moved_; }

  private:
    core::Instant generation_ends_;
    core::Instant end_;
    core::Instant begin_;
    core::Bytes after_;  ///< of the current second, at or after the end
    MovedInTime moved_;
};

}  // namespace weir::record
