// The course of a run by events instead of seconds: when the 1000th event was done, the 2000th, ... This is
// how a dispatcher that slows down with the number of events shows it (LHCb note 2002-049: the time of every
// further 100000 events). Bounded: when there are too many steps, ten become one, so a long run is written in
// steps of 10000, 100000, ... events.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/units.hpp"

namespace weir::record {

/// How far the run was when so many events were done.
struct EventMark {
    std::uint64_t events = 0;  ///< since second 0
    core::Instant at;
    core::Bytes bytes;                 ///< of these events
    std::uint64_t without_credit = 0;  ///< events since second 0 that were offered when no credit was there
    constexpr bool operator==(const EventMark&) const = default;
};
static_assert(std::is_trivially_copyable_v<EventMark>);

class EventSeries {
  public:
    static constexpr std::uint64_t first_step = 1000;
    static constexpr std::size_t marks_max = 200;

    /// An event of this size was done. Events before second 0 are not counted. `without_credit`: all so far,
    /// with those before second 0.
    void done(core::Instant now, core::Bytes bytes, std::uint64_t without_credit);

    /// One after every step of events, oldest first; at most marks_max.
    [[nodiscard]] const std::vector<EventMark>& marks() const { return marks_; }

  private:
    std::uint64_t step_ = first_step;
    EventMark sum_;
    std::uint64_t without_credit_before_ = 0;
    std::vector<EventMark> marks_;
};

inline void EventSeries::done(core::Instant now, core::Bytes bytes, std::uint64_t without_credit) {
    if (now < core::Instant{}) {
        without_credit_before_ = without_credit;
        return;
    }
    ++sum_.events;
    sum_.at = now;
    sum_.bytes += bytes;
    sum_.without_credit = without_credit - without_credit_before_;
    if (sum_.events % step_ != 0) {
        return;
    }
    marks_.push_back(sum_);
    if (marks_.size() < marks_max) {
        return;
    }
    step_ *= 10;
    std::size_t kept = 0;
    for (const EventMark& mark : marks_) {
        if (mark.events % step_ == 0) {
            marks_[kept++] = mark;
        }
    }
    marks_.resize(kept);
}

}  // namespace weir::record
