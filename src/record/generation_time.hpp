// The time in which data was generated, and what a rank moved in it: over this time rates are means. It is
// not that of the measured rows where the duration is no whole second, or no whole interval: then the last
// row also has what was sent when nothing was generated any more, and a rank that was through would seem
// slow because another one was not.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/second_clock.hpp"

namespace weir::record {

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

/// Counts a rank's bytes from second 0 to the end of the last interval in which data was generated.
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
            moved_.bytes += bytes - after_;
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
