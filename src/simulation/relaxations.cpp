#include "simulation/relaxations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "core/distribution.hpp"
#include "core/producer.hpp"
#include "files/formatting.hpp"
#include "judge/processing_load.hpp"

namespace weir::simulation {

namespace {

using core::Bytes;
using core::Duration;
using files::readable;
using judge::CauseKind;

// Where a limit ends. The plans that are made here must be possible ones: what the remedy names can be asked
// for with options.
constexpr std::int64_t most_chunks = std::int64_t{1} << 20;   ///< that a consumer may expect: config's limit
constexpr std::int64_t most_places = std::int64_t{1} << 20;   ///< of all consumers: memory of the simulation
constexpr std::int64_t most_streams = std::int64_t{1} << 17;  ///< of all producers: memory, too

// Counts of the plan.

/// A number of which a run may have too few.
struct Count {
    CauseKind what;
    std::uint32_t core::Plan::* member;
    std::int64_t most;
    std::string_view of;  ///< "slots"
    const char* option;   ///< "slots"
};

Relaxation more_of(const SimulatedRun& run, const Count& count) {
    const std::uint32_t now = run.run.plan.*count.member;
    std::vector<std::int64_t> values{2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64};
    if (now >= 32) {
        values.push_back(std::int64_t{now} * 2);
        values.push_back(std::int64_t{now} * 8);
    }
    std::erase_if(values, [&](std::int64_t value) { return value <= now || value > count.most; });
    Relaxation relaxation = in_steps(count.what, values, [&](std::int64_t value) -> RelaxedStep {
        const auto wanted = static_cast<std::uint32_t>(value);
        return {[member = count.member, wanted](SimulatedRun& changed) { changed.run.plan.*member = wanted; },
                fmt::format("with {} {} instead of {}", wanted, count.of, now),
                fmt::format("use --{} {} instead of {}", count.option, wanted, now),
                {{count.option, std::to_string(wanted)}}};
    });
    relaxation.can_be_too_much = true;
    return relaxation;
}

std::int64_t slots_possible(const core::Plan& plan) {
    const std::int64_t fragments = plan.fragments_per_event();
    return std::min({std::int64_t{1024}, most_chunks / (fragments * plan.chunks_per_fragment()),
                     most_places / (fragments * std::max(1U, plan.consumers))});
}

/// Whether the window can hold a transfer back: in the fluid a transfer is one flow, unless it is shaped.
bool window_matters(const SimulatedRun& run) {
    const core::Plan& plan = run.run.plan;
    return plan.window < plan.chunks_per_fragment() &&
           (run.network.model == core::NetworkModel::packet || plan.shaping.kind != core::ShapingKind::none);
}

/// Times as long as planned, by consumer: of those that are slow to the end.
std::vector<double> slowness_of(const SimulatedRun& run) {
    std::vector<double> slowness(run.run.plan.consumers, 1);
    for (const Disturbance& disturbance : run.disturbances) {
        if (disturbance.kind == Disturbance::Kind::slow && disturbance.node.role == core::Role::consumer &&
            disturbance.length == core::Duration::max() && disturbance.node.index < slowness.size()) {
            slowness[disturbance.node.index] *= disturbance.factor;
        }
    }
    return slowness;
}

/// More slots only put off that they are full.
bool slots_only_put_off(const SimulatedRun& run) {
    const core::Plan& plan = run.run.plan;
    const judge::ProcessingLoads loads =
        judge::processing_loads(plan, judge::planned_events_per_second(plan), slowness_of(run));
    return loads.highest() >= 1;
}

std::vector<Relaxation> counts(const SimulatedRun& run) {
    const core::Plan& plan = run.run.plan;
    constexpr std::int64_t endless = std::int64_t{1} << 20;
    std::vector<Relaxation> table;
    const auto add = [&](bool applies, const Count& count) {
        if (applies) {
            table.push_back(more_of(run, count));
        }
    };
    add(!slots_only_put_off(run),
        {CauseKind::slots, &core::Plan::slots, slots_possible(plan), "slots", "slots"});
    add(true,
        {CauseKind::streams, &core::Plan::streams,
         std::min(std::int64_t{1024}, most_streams / std::max(1U, plan.producers)), "streams", "streams"});
    add(plan.pulls(),
        {CauseKind::requests, &core::Plan::requests, endless, "fragments requested at a time", "requests"});
    add(plan.assigned_events > 0,
        {CauseKind::outstanding, &core::Plan::assigned_events, endless, "events outstanding", "outstanding"});
    add(window_matters(run),
        {CauseKind::window, &core::Plan::window, core::Producer::window_limit, "chunks under way", "window"});
    return table;
}

// Options that can be left out.

std::vector<Relaxation> options(const core::Plan& plan) {
    std::vector<Relaxation> table;
    if (plan.high_water > 0) {
        const auto leave_out = [](SimulatedRun& changed) {
            changed.run.plan.high_water = changed.run.plan.low_water = 0;
        };
        table.push_back(without(CauseKind::high_water, {leave_out,
                                                        "without --high-water",
                                                        "leave --high-water out",
                                                        {{"high-water", ""}, {"low-water", ""}}}));
    }
    if (plan.shaping.kind != core::ShapingKind::none) {
        const auto leave_out = [](SimulatedRun& changed) {
            changed.run.plan.shaping = {};
            std::erase_if(changed.disturbances,
                          [](const Disturbance& one) { return one.kind == Disturbance::Kind::drift; });
        };
        table.push_back(
            without(CauseKind::shaping,
                    {leave_out, "without shaping", "leave --shaping out", {{"shaping", "none"}}}));
    }
    return table;
}

// What holds data.

Relaxation larger_buffer(const core::Plan& plan) {
    constexpr double factors[] = {1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 10.0, 100.0};
    return in_steps(CauseKind::buffer, factors, [&](double factor) -> RelaxedStep {
        const double most = 4e18;
        const Bytes wanted{rounded_up(std::min(most, static_cast<double>(plan.buffer.count) * factor), 3)};
        return {[wanted](SimulatedRun& changed) { changed.run.plan.buffer = wanted; },
                fmt::format("with a buffer of {} instead of {}", files::exact(wanted),
                            files::readable(plan.buffer)),
                fmt::format("use a --buffer of {} instead of {}", files::exact(wanted),
                            files::readable(plan.buffer)),
                {{"buffer", files::exact(wanted)}}};
    });
}

// Events.

/// Events of a size that divides a set, and sets over consumers, where the plan's does not. Chosen: the
/// largest such size, so that as little as possible changes besides.
Relaxation even_events(const core::Plan& plan) {
    if (plan.event_size.kind != core::DistributionKind::fixed || plan.addressed() || plan.consumers == 0) {
        return {};
    }
    const std::int64_t set = plan.set_bytes().count;
    const auto size = static_cast<std::int64_t>(plan.event_size.mean);
    const std::int64_t of_all = plan.builds() ? 1 : plan.producers;
    if (set <= 0 || size <= 0) {
        return {};
    }
    const std::int64_t now = (set + size - 1) / size;
    std::int64_t events = now;
    while (events * of_all % plan.consumers != 0) {
        ++events;  // at most `consumers` times
    }
    const Bytes wanted{(set + events - 1) / events};
    constexpr std::int64_t least_event = 4096;
    if ((events == now && set % size == 0) || events > 4 * now || wanted.count < least_event) {
        return {};
    }
    return without(
        CauseKind::event_size,
        {[wanted](SimulatedRun& changed) {
             changed.run.plan.event_size.mean = static_cast<double>(wanted.count);
         },
         fmt::format("with events of {} instead of {}", readable(wanted), readable(Bytes{size})),
         fmt::format("use an --event-size of {} instead of {}", files::exact(wanted), readable(Bytes{size})),
         {{"event-size", fmt::format("{}B", wanted.count)}}});
}

// Times.

/// A time of the network, and what is said of a shorter one; {0}: wanted, {1}: now.
struct PlannedTime {
    CauseKind what;
    Duration core::NetworkPlan::* member;
    std::string_view with;
    std::string_view remedy;
    const char* option;
};
constexpr PlannedTime planned_times[] = {
    {CauseKind::scheduler, &core::NetworkPlan::scheduler_time,
     "with {0} of the scheduler's time for a message instead of {1}",
     "speed up the scheduler, to {0} for a message instead of {1} (--scheduler-time)", "scheduler-time"},
    {CauseKind::control_latency, &core::NetworkPlan::latency, "with a latency of {0} instead of {1}",
     "lower the latency from {1} to {0} (--latency)", "latency"}};

Relaxation shorter(const core::NetworkPlan& network, const PlannedTime& time) {
    const Duration now = network.*time.member;
    std::vector<Duration> shorter;
    for (const double factor : {0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.03, 0.01, 0.001}) {
        shorter.push_back({std::llround(static_cast<double>(now.ns) * factor)});
    }
    std::erase_if(shorter, [](Duration wanted) { return wanted.ns < 1; });
    return in_steps(time.what, shorter, [&](Duration wanted) -> RelaxedStep {
        return {[wanted, member = time.member](SimulatedRun& changed) { changed.network.*member = wanted; },
                fmt::format(fmt::runtime(time.with), readable(wanted), readable(now)),
                fmt::format(fmt::runtime(time.remedy), readable(wanted), readable(now)),
                {{time.option, files::exact(wanted)}}};
    });
}

/// Processing of so much on average, as --busy; nothing where more than the mean is given.
std::vector<judge::RemedyOption> busy_options(core::DistributionKind kind, double mean_ns) {
    const bool fixed = kind == core::DistributionKind::fixed;
    if (!fixed && kind != core::DistributionKind::exponential) {
        return {};
    }
    return {{"busy", fmt::format("{}:{}", fixed ? "fixed" : "exponential",
                                 files::exact(Duration{std::llround(mean_ns)}))}};
}

Relaxation shorter_processing(const core::Plan& plan) {
    if (plan.busy.kind == core::DistributionKind::none) {
        return {};
    }
    const double mean = core::expected_mean(plan.busy);
    constexpr double factors[] = {0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.01};
    Relaxation relaxation = in_steps(CauseKind::processing, factors, [&](double factor) -> RelaxedStep {
        const std::string wanted = files::seconds_text(mean * factor * 1e-9);
        return {[factor](SimulatedRun& changed) { core::scale(changed.run.plan.busy, factor); },
                fmt::format("with {} of processing for an event instead of {} on average", wanted,
                            files::seconds_text(mean * 1e-9)),
                fmt::format("shorten processing of an event from {} to {} on average (--busy)",
                            files::seconds_text(mean * 1e-9), wanted),
                busy_options(plan.busy.kind, mean * factor)};
    });
    if (plan.busy_consumers.size() == 1) {
        relaxation.where = core::NodeId{core::Role::consumer, plan.busy_consumers.front()};
    }
    return relaxation;
}

}  // namespace

std::int64_t rounded_up(double value, int digits) {
    const double grain = std::pow(10.0, std::floor(std::log10(std::max(value, 1.0))) - (digits - 1));
    return grain < 1 ? static_cast<std::int64_t>(std::ceil(value))
                     : static_cast<std::int64_t>(std::ceil(value / grain - 1e-9) * grain);
}

std::vector<Relaxation> relaxations_of(const SimulatedRun& run) {
    const core::Plan& plan = run.run.plan;
    std::vector<Relaxation> table = fault_relaxations(run.disturbances);
    append(table, counts(run));
    append(table, options(plan));
    append(table, network_relaxations(run));
    append(table, {even_events(plan), shorter(run.network, planned_times[0]),
                   shorter(run.network, planned_times[1]), shorter_processing(plan)});
    append(table, own_link_relaxations(run.network));
    append(table, {larger_buffer(plan)});
    append(table, memory_relaxations(run));
    append(table, link_relaxations(run.network));
    return table;
}

}  // namespace weir::simulation
