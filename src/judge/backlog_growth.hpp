// Whether backlogs grow, so that the buffers fill however slowly, or only go up and down.
//
// The growth is the difference of the last and the first level: a level is a point (backlog_points.hpp), or,
// where there are 16 or more, the mean of 2 to 4 neighbours, in which what only goes to and fro averages out.
// What a run that could go on for ever shows by chance must not count, so it must exceed a tolerance, the sum
// of
//  - how far chance alone can carry it: a backlog that goes up and down at random is a random walk at worst,
//    and after n steps is off by sqrt(n) times the standard deviation s of a step, here around the mean step.
//    Allowed are 3 + 6 / (n - 1) times that, about the quantile 0.995 of Student's distribution: s is itself
//    estimated from n steps, and not at all from one. A backlog that grows evenly has s = 0, and one that
//    rose once and stays is within once that;
//  - the grain: events are whole. Of sets, 2 events, because what is left may be an event more at one end; of
//    steady producers one event, or what of it a mean over many does not show. What the grain alone adds to
//    the variance of a step is taken off s.
// A backlog that grows at the end of the run only, such as after a link has become slower, is found in the
// last quarter or half of the points, if it ends above all that was before, so that a queue that fills again
// is none, and grows by 2 % of the rate or more.
// Where the growth began within the points, as a bend in them shows, the time before is no part of it: what
// counts for the buffer is how fast it fills now.
// Rejected: a line of least squares and its error, which take the points for independent of each other. A
// backlog is autocorrelated; of stable queues near their limit such a test finds a trend in most short runs.
#pragma once

#include <optional>
#include <span>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/rank_summary.hpp"

namespace weir::judge {

struct BacklogGrowth {
    double bytes = 0;            ///< from the first level to the last, of the run or of its end
    double tolerance_bytes = 0;  ///< what is more than this is a growth
    double last_bytes = 0;       ///< the last level
    core::Duration time;         ///< between the two levels
    core::Instant last_at;       ///< of the last one; of means the middle

    [[nodiscard]] bool grows() const { return bytes > tolerance_bytes; }
    [[nodiscard]] double bytes_per_second() const { return bytes / time.in_seconds(); }
    [[nodiscard]] double tolerance_bytes_per_second() const { return tolerance_bytes / time.in_seconds(); }
};

/// For one producer. Nothing: its points are not known, or the run is too short.
std::optional<BacklogGrowth> growth_of(const core::Plan& plan, const record::RankSummary& producer);

/// For all producers together: shows a growth that is too small to be found at any of them. Nothing: not
/// all are known.
std::optional<BacklogGrowth> growth_of_all(const core::Plan& plan, std::span<const record::RankRecord> ranks);

/// For all data that waits, with producers or in slots of consumers: grows if more is generated than is
/// processed, while slots of consumers still take it. What has ended by the last half of the run does not
/// count: queues fill from a start without data. Nothing: not all are known.
std::optional<BacklogGrowth> growth_with_consumers(const core::Plan& plan,
                                                   std::span<const record::RankRecord> ranks);

/// The same for what waits in the slots of one consumer.
std::optional<BacklogGrowth> growth_in_consumer(const core::Plan& plan, const record::RankSummary& consumer);

/// When buffers of so many bytes in all are full at this growth, in seconds after second 0. Needs grows().
double full_after_s(const BacklogGrowth& growth, double buffer_bytes);

}  // namespace weir::judge
