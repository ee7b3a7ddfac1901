// The backlog of a rank at a few points of the measured time that can be compared with each other: its trend
// shows whether the run could go on for ever (backlog_growth.hpp). Of a producer it is what was not sent yet,
// of a consumer what waits in its slots for processing, or is in it.
//
// Sets are generated at once and fade until the next one, so what can be compared is what is left of them
// just before the next one: a point lies at the end of each interval, of a producer with a phase at the end
// of its own. A steady producer has no such instants, and its backlog changes by whole events: a point is the
// mean over a stretch of the time, in which events average out. The points are known beforehand, equally far
// apart and at most 33, however long the run is. Rejected: the backlog at the ends of rows, which lie
// anywhere in an interval, and a row may be as long as the run. A consumer's points lie where those of
// producer 0 do.
#pragma once

#include <array>
#include <cstdint>

#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::record {

/// What waits in a slot of a consumer, on average: an event, or all fragments of one.
double slot_bytes_mean(const core::Plan& plan);

/// Where a producer's points lie.
struct PointsPlan {
    bool means = false;   ///< each is the mean over the stretch of length `step` that begins there
    core::Instant first;  ///< the first point, or the beginning of its stretch
    core::Duration step;
    std::uint32_t points = 0;  ///< 0: the run is too short to compare any

    [[nodiscard]] core::Instant at(std::uint32_t point) const { return first + step * point; }
};

/// The number of producers must be known. Addressed events, whose backlog at the end of an interval
/// is none of a start without data, are compared from the end of the first whole interval on. Generation
/// `saturate` has no points.
PointsPlan points_of(const core::Plan& plan, core::ProducerId producer);

struct BacklogPoints {
    static constexpr std::uint32_t most = 33;

    std::uint32_t known = 0;  ///< the first so many; after a regular end all of the plan
    std::array<core::Bytes, most> bytes{};
    bool operator==(const BacklogPoints&) const = default;
};

/// Takes the points of one rank while its time passes.
class BacklogTrend {
  public:
    /// Without a backlog until `start`.
    BacklogTrend(const core::Plan& plan, core::ProducerId producer, core::Instant start);

    /// From `from` on for `length` there were so many bytes. Stretches follow each other without gaps.
    void over(core::Instant from, core::Duration length, core::Bytes backlog) {
        if (points_.known < plan_.points && from + length >= next_) {
            add(from, length, backlog);
        }
    }
    /// Nothing more follows. What generation left at the end of the run is left at all points after it.
    void finish(core::Instant now, core::Bytes backlog);

    [[nodiscard]] const BacklogPoints& points() const { return points_; }

  private:
    void add(core::Instant from, core::Duration length, core::Bytes backlog);
    void take(core::Bytes backlog);

    PointsPlan plan_;
    core::Instant generation_ends_;
    core::Instant next_;  ///< the next point, or the beginning of its stretch
    double sum_ = 0;      ///< of its stretch so far: bytes times nanoseconds
    BacklogPoints points_;
};

}  // namespace weir::record
