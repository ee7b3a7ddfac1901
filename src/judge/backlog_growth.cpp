#include "judge/backlog_growth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "record/backlog_points.hpp"

namespace weir::judge {

namespace {

using PointValues = std::array<double, record::BacklogPoints::most>;

/// A large event of the plan: one that is drawn may be larger still, but rarely.
double event_bytes(const core::Plan& plan) {
    const core::Distribution& sizes = plan.event_size;
    double bytes = std::max(sizes.mean + 2 * sizes.deviation, sizes.large);
    for (const std::int64_t size : sizes.trace) {
        bytes = std::max(bytes, static_cast<double>(size));
    }
    return std::min(bytes, static_cast<double>(plan.slot_size.count));
}

/// For `producers` together. What one of them has more of at the end of a set, another one has less of; but
/// events of fixed size come at the same instants at all steady producers.
double grain_bytes(const core::Plan& plan, const record::PointsPlan& points, std::uint32_t producers) {
    const double event = event_bytes(plan);
    if (!points.means) {
        return 2 * event * std::sqrt(static_cast<double>(producers));
    }
    const double generated =
        static_cast<double>(plan.rate.bits_per_second) / 8 * points.step.in_seconds();  // in a stretch
    return producers * event * std::min(1.0, 2 * event / generated);
}

/// A slot is taken and freed as a whole, and at either end one may have one more.
double consumers_grain_bytes(const core::Plan& plan, std::uint32_t consumers) {
    return 2 * event_bytes(plan) * plan.fragments_per_event() * std::sqrt(static_cast<double>(consumers));
}

/// `of_events`: variance of a step that is only because events are whole.
double chance_bytes(std::span<const double> values, double of_events) {
    const std::size_t steps = values.size() - 1;
    if (steps < 2) {
        return 0;
    }
    const auto n = static_cast<double>(steps);
    const double mean = (values.back() - values.front()) / n;
    double squares = 0;
    for (std::size_t i = 0; i < steps; ++i) {
        const double off = values[i + 1] - values[i] - mean;
        squares += off * off;
    }
    const double variance = std::max(0.0, squares / (n - 1) - of_events);
    return (3 + 6 / (n - 1)) * std::sqrt(variance * n);
}

/// The points, or of many the means of so many neighbours each, the oldest left out that make no whole mean.
struct Levels {
    PointValues values{};
    std::size_t count = 0;
    std::size_t neighbours = 1;
};

Levels levels_of(std::span<const double> points) {
    constexpr std::size_t least_levels = 8;
    Levels levels;
    levels.neighbours = std::max<std::size_t>(1, points.size() / least_levels);
    levels.count = points.size() / levels.neighbours;
    const std::span<const double> used = points.last(levels.count * levels.neighbours);
    for (std::size_t i = 0; i < used.size(); ++i) {
        levels.values[i / levels.neighbours] += used[i] / static_cast<double>(levels.neighbours);
    }
    return levels;
}

/// Whose points are compared, with what is theirs.
struct Backlog {
    record::PointsPlan points;
    PointValues values{};
    double grain = 0;
    double generated_per_second = 0;

    [[nodiscard]] std::span<const double> all() const { return std::span(values).first(points.points); }
};

/// Over these points, the last ones of the run.
BacklogGrowth growth_over(const Backlog& backlog, std::span<const double> values) {
    const Levels levels = levels_of(values);
    const std::span<const double> compared = std::span(levels.values).first(levels.count);
    const record::PointsPlan& points = backlog.points;
    const double grain = backlog.grain;
    const auto neighbours = static_cast<std::int64_t>(levels.neighbours);
    // A point lies anywhere in the grain at either end of a step: twice the square over 12. In the
    // grain of sets an event counts twice.
    const double square = grain * grain / (points.means ? 1 : 4);
    const double of_events = square / 6 / static_cast<double>(neighbours);
    BacklogGrowth growth;
    growth.bytes = compared.back() - compared.front();
    growth.tolerance_bytes = chance_bytes(compared, of_events) + grain;
    growth.last_bytes = compared.back();
    growth.time = points.step * neighbours * static_cast<std::int64_t>(levels.count - 1);
    growth.last_at = points.at(points.points - 1) - core::Duration{points.step.ns * (neighbours - 1) / 2} +
                     core::Duration{points.means ? points.step.ns / 2 : 0};
    return growth;
}

/// Squares of what lies off the line from the first value to the last.
double squares_off_line(std::span<const double> values) {
    const double step = (values.back() - values.front()) / static_cast<double>(values.size() - 1);
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double off = values[i] - values.front() - step * static_cast<double>(i);
        squares += off * off;
    }
    return squares;
}

double squares_off_mean(std::span<const double> values) {
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    return std::accumulate(values.begin(), values.end(), 0.0, [mean](double sum, double value) {
        return sum + (value - mean) * (value - mean);
    });
}

constexpr std::size_t least_points = 4;

/// The points since the growth began: those before it are left out where a level that stays and then a line
/// describe all much better than a line alone does.
std::span<const double> since_beginning(std::span<const double> values) {
    constexpr double much_better = 0.25;
    double least = much_better * squares_off_line(values);
    std::size_t beginning = 0;
    for (std::size_t i = 1; i + least_points <= values.size(); ++i) {
        const double squares = squares_off_mean(values.first(i + 1)) + squares_off_line(values.subspan(i));
        if (squares < least) {
            least = squares;
            beginning = i;
        }
    }
    return values.subspan(beginning);
}

/// Over the whole time, or, if it does not grow over that but at its end, over its last half or quarter.
BacklogGrowth growth_in(const Backlog& backlog) {
    constexpr double least_share = 0.02;  // of what is generated, where it is not the whole time
    const std::span<const double> values = backlog.all();
    const BacklogGrowth whole = growth_over(backlog, values);
    const auto as_fast_as_now = [&](std::span<const double> of, const BacklogGrowth& growth) {
        const BacklogGrowth now = growth_over(backlog, since_beginning(of));
        return now.grows() ? now : growth;
    };
    for (const std::size_t parts : {4U, 2U}) {
        const std::size_t late = values.size() / parts;
        if (whole.grows() || late < least_points) {
            continue;
        }
        const auto before = values.first(values.size() - late);
        const BacklogGrowth growth = growth_over(backlog, values.last(late));
        if (growth.grows() && growth.bytes_per_second() > least_share * backlog.generated_per_second &&
            growth.last_bytes > *std::max_element(before.begin(), before.end())) {
            return as_fast_as_now(values.last(late), growth);
        }
    }
    return whole.grows() ? as_fast_as_now(values, whole) : whole;
}

/// Adds what is known of a rank; false: not all of it is.
bool add_points(const record::RankSummary& rank, Backlog& backlog) {
    const record::BacklogPoints& known = rank.backlog_points;
    const std::uint32_t points = backlog.points.points;
    if (points < 2 || known.known != points) {
        return false;
    }
    for (std::size_t i = 0; i < points; ++i) {
        backlog.values[i] += static_cast<double>(known.bytes[i].count);
    }
    return true;
}

/// Adds all ranks of a role. Returns how many; 0 also if not all of them are known.
std::uint32_t add_ranks(const core::Plan& plan, std::span<const record::RankRecord> ranks, core::Role role,
                        Backlog& backlog) {
    std::uint32_t count = 0;
    for (const record::RankRecord& rank : ranks) {
        if (rank.summary.node.role != role) {
            continue;
        }
        const std::uint32_t producer = role == core::Role::producer ? rank.summary.node.index : 0;
        backlog.points = record::points_of(plan, {producer});
        if (!add_points(rank.summary, backlog)) {
            return 0;
        }
        ++count;
    }
    return count;
}

double rate_bytes(const core::Plan& plan) {
    return static_cast<double>(plan.rate.bits_per_second) / 8;
}

/// What a growth over the whole time is, unless it has ended by the last half of it.
BacklogGrowth lasting_growth_in(const Backlog& backlog) {
    constexpr std::size_t least_late = 3;
    const BacklogGrowth growth = growth_in(backlog);
    const std::size_t late = (backlog.points.points + 1) / 2;
    if (growth.grows() && late >= least_late) {
        const BacklogGrowth since_half = growth_over(backlog, backlog.all().last(late));
        return since_half.grows() ? growth : since_half;
    }
    return growth;
}

}  // namespace

std::optional<BacklogGrowth> growth_of(const core::Plan& plan, const record::RankSummary& producer) {
    Backlog backlog{.points = record::points_of(plan, {producer.node.index})};
    if (!add_points(producer, backlog)) {
        return std::nullopt;
    }
    backlog.grain = grain_bytes(plan, backlog.points, 1);
    backlog.generated_per_second = rate_bytes(plan);
    return growth_in(backlog);
}

std::optional<BacklogGrowth> growth_of_all(const core::Plan& plan,
                                           std::span<const record::RankRecord> ranks) {
    Backlog backlog;
    const std::uint32_t producers = add_ranks(plan, ranks, core::Role::producer, backlog);
    if (producers == 0) {
        return std::nullopt;
    }
    backlog.grain = grain_bytes(plan, backlog.points, producers);
    backlog.generated_per_second = rate_bytes(plan) * producers;
    return growth_in(backlog);
}

std::optional<BacklogGrowth> growth_with_consumers(const core::Plan& plan,
                                                   std::span<const record::RankRecord> ranks) {
    Backlog backlog;
    const std::uint32_t consumers = add_ranks(plan, ranks, core::Role::consumer, backlog);
    const std::uint32_t producers = consumers > 0 ? add_ranks(plan, ranks, core::Role::producer, backlog) : 0;
    if (producers == 0) {
        return std::nullopt;
    }
    backlog.grain = grain_bytes(plan, backlog.points, producers) + consumers_grain_bytes(plan, consumers);
    backlog.generated_per_second = rate_bytes(plan) * producers;
    return lasting_growth_in(backlog);
}

std::optional<BacklogGrowth> growth_in_consumer(const core::Plan& plan, const record::RankSummary& consumer) {
    Backlog backlog{.points = record::points_of(plan, {})};
    if (!add_points(consumer, backlog)) {
        return std::nullopt;
    }
    backlog.grain = consumers_grain_bytes(plan, 1);
    backlog.generated_per_second = rate_bytes(plan) * plan.producers;
    return lasting_growth_in(backlog);
}

double full_after_s(const BacklogGrowth& growth, double buffer_bytes) {
    const double room = std::max(0.0, buffer_bytes - growth.last_bytes);
    return static_cast<double>(growth.last_at.ns) * 1e-9 + room / growth.bytes_per_second();
}

}  // namespace weir::judge
