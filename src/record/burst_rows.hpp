// Rows of bursts: what ranks log of every interval of a second with --row-interval, beside the row of that
// second. A recorder adds up the intervals of the second at hand, and hands them out with its row.
//
// Chosen: few columns, those in which a burst shows, and one array of at most a hundred sums, so that a
// rank's memory is constant and all rows of a second are written at once. Rejected: the columns of the
// second's row in short: shares of waiting are known by the heartbeat only, and sizes would be four times as
// large.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/units.hpp"
#include "record/second_clock.hpp"

namespace weir::record {

/// What every row of a burst begins with.
struct BurstStart {
    core::Instant begin;     ///< on the common clock
    core::Duration covered;  ///< the interval; less where recording began or ended in it
    constexpr bool operator==(const BurstStart&) const = default;
};

// Bytes count when a chunk has left or arrived, in the interval in which its end was seen.

struct ProducerBurst {
    BurstStart start;
    core::Bytes generated;
    core::Bytes sent;
    double occupancy_mean = 0;  ///< NaN where there is no occupancy (generation saturate)
    double occupancy_peak = 0;
};

struct ConsumerBurst {
    BurstStart start;
    core::Bytes received;
    core::Duration blocked;
    std::uint32_t free_slots_min = unknown;

    static constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
    [[nodiscard]] constexpr bool any() const { return received > core::Bytes{}; }
};

struct SchedulerBurst {
    BurstStart start;
    std::uint64_t grants = 0;
    std::uint64_t waiting_events_max = 0;  ///< offered and not granted
    std::uint64_t free_slots_min = unknown;
    core::Duration waiting_for_slot;  ///< events, and no free slot

    static constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();
    [[nodiscard]] constexpr bool any() const { return grants > 0; }
};

/// The sums of the intervals of one second. Sums::any(): whether they count anything that needs no time.
template <typename Sums>
class BurstSums {
  public:
    /// `interval` divides a second; 0: nothing is recorded, and every call returns at once.
    explicit BurstSums(core::Duration interval)
        : interval_(interval),
          sums_(interval.ns > 0 ? static_cast<std::size_t>(ns_per_second / interval.ns) : 0) {}

    [[nodiscard]] bool recorded() const { return !sums_.empty(); }

    /// change(sums) of the interval in which `now` lies.
    template <typename Change>
    void at(core::Instant now, Change&& change) {
        if (recorded()) {
            change(sums_[index(now)]);
        }
    }

    /// change(sums, part) of each interval of which `length` from `from` on, inside one second, has a part.
    template <typename Change>
    void over(core::Instant from, core::Duration length, Change&& change) {
        if (!recorded()) {
            return;
        }
        core::Duration into{from.ns - second_of(from) * ns_per_second};
        std::size_t interval = index(from);
        while (length > core::Duration{}) {
            const core::Duration left{(static_cast<std::int64_t>(interval) + 1) * interval_.ns - into.ns};
            const core::Duration part = std::min(left, length);
            change(sums_[interval++], part);
            into += part;
            length -= part;
        }
    }

    /// Ends the second of which the time from `begin` on for `covered` was recorded. take(start, sums) of
    /// each interval that has a part of it, in order.
    template <typename Take>
    void end_second(core::Instant begin, core::Duration covered, Take&& take) {
        const core::Instant second{second_of(begin) * ns_per_second};
        for (std::size_t interval = 0; interval < sums_.size(); ++interval) {
            const core::Instant its_begin = second + interval_ * static_cast<std::int64_t>(interval);
            const core::Instant from = std::max(begin, its_begin);
            const core::Instant to = std::min(begin + covered, its_begin + interval_);
            if (to > from || (to == from && sums_[interval].any())) {
                take(BurstStart{from, to - from}, sums_[interval]);
            }
            sums_[interval] = {};
        }
    }

    /// The most in one whole interval among these rows.
    template <typename Burst>
    [[nodiscard]] core::Bytes largest(const std::vector<Burst>& bursts, core::Bytes Burst::* bytes) const {
        core::Bytes largest;
        for (const Burst& burst : bursts) {
            if (burst.start.covered == interval_) {
                largest = std::max(largest, burst.*bytes);
            }
        }
        return largest;
    }

    /// Whether the intervals make up the second.
    template <typename Burst>
    [[nodiscard]] bool sum_up(const std::vector<Burst>& bursts, core::Bytes Burst::* bytes, core::Bytes all,
                              core::Duration covered) const {
        for (const Burst& burst : bursts) {
            all -= burst.*bytes;
            covered -= burst.start.covered;
        }
        return !recorded() || (all == core::Bytes{} && covered == core::Duration{});
    }

  private:
    [[nodiscard]] std::size_t index(core::Instant now) const {
        return static_cast<std::size_t>((now.ns - second_of(now) * ns_per_second) / interval_.ns);
    }

    core::Duration interval_;
    std::vector<Sums> sums_;
};

}  // namespace weir::record
