#include "record/backlog_points.hpp"

#include <cmath>

#include "core/distribution.hpp"

namespace weir::record {

using core::Bytes;
using core::Duration;
using core::Instant;

namespace {

constexpr std::int64_t most_steps = BacklogPoints::most - 1;

PointsPlan points_of_sets(const core::Plan& plan, core::ProducerId producer) {
    if (plan.interval <= Duration{} || producer.value >= plan.producers) {
        return {};
    }
    const std::int64_t sets = plan.next_set_at().ns / plan.interval.ns;
    const std::int64_t first = plan.addressed() && plan.warmup < plan.interval ? 1 : 0;
    // Counted back from the last one, which matters most.
    const std::int64_t intervals = std::max<std::int64_t>(1, (sets - first + most_steps - 1) / most_steps);
    const std::int64_t steps = (sets - first) / intervals;
    if (steps < 1) {
        return {};
    }
    return {.means = false,
            .first = Instant{} + core::set_phase(plan, producer) + plan.interval * (sets - steps * intervals),
            .step = plan.interval * intervals,
            .points = static_cast<std::uint32_t>(steps) + 1};
}

PointsPlan points_of_events(const core::Plan& plan) {
    constexpr double least_events = 2;  // of a stretch
    // With fewer stretches a growth looks like a start without data.
    constexpr double least_stretches = 4;
    const double event_ns =
        core::expected_mean(plan.event_size) * 8e9 / static_cast<double>(plan.rate.bits_per_second);
    const double stretches = static_cast<double>(plan.duration.ns) / (least_events * event_ns);
    if (!(stretches >= least_stretches)) {
        return {};
    }
    const auto points = static_cast<std::int64_t>(std::min(stretches, static_cast<double>(most_steps)));
    const Duration step{plan.duration.ns / points};
    return {.means = true,
            .first = Instant{plan.duration.ns} - step * points,
            .step = step,
            .points = static_cast<std::uint32_t>(points)};
}

}  // namespace

double slot_bytes_mean(const core::Plan& plan) {
    return core::expected_mean(plan.event_size) * plan.fragments_per_event();
}

PointsPlan points_of(const core::Plan& plan, core::ProducerId producer) {
    switch (plan.generation) {
        case core::Generation::sets:
            return points_of_sets(plan, producer);
        case core::Generation::steady:
            return points_of_events(plan);
        case core::Generation::saturate:
            break;
    }
    return {};
}

BacklogTrend::BacklogTrend(const core::Plan& plan, core::ProducerId producer, Instant start)
    : plan_(points_of(plan, producer)), generation_ends_{plan.duration.ns}, next_(plan_.first) {
    WEIR_ASSERT(plan_.points <= BacklogPoints::most);
    const Duration length = plan_.means ? plan_.step : Duration{};
    while (points_.known < plan_.points && next_ + length <= start) {
        take({});
    }
}

void BacklogTrend::take(Bytes backlog) {
    points_.bytes.at(points_.known) = backlog;
    ++points_.known;
    next_ = next_ + plan_.step;
    sum_ = 0;
}

void BacklogTrend::add(Instant from, Duration length, Bytes backlog) {
    const Instant end = from + length;
    while (points_.known < plan_.points && end >= next_) {
        if (!plan_.means) {
            take(backlog);
            continue;
        }
        const Instant closes = next_ + plan_.step;
        const Duration part = std::min(end, closes) - std::max(from, next_);
        sum_ += static_cast<double>(backlog.count) * static_cast<double>(part.ns);
        if (end < closes) {
            return;
        }
        take({std::llround(sum_ / static_cast<double>(plan_.step.ns))});
    }
}

void BacklogTrend::finish(Instant now, Bytes backlog) {
    while (!plan_.means && now >= generation_ends_ && points_.known < plan_.points) {
        take(backlog);
    }
}

}  // namespace weir::record
