#include "simulation/relaxations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/distribution.hpp"
#include "core/producer.hpp"
#include "core/switch_memory.hpp"
#include "files/formatting.hpp"
#include "judge/processing_load.hpp"
#include "simulation/faster_links.hpp"

namespace weir::simulation {

namespace {

using core::BitRate;
using core::Bytes;
using core::Duration;
using files::readable;
using judge::CauseKind;

// Where a limit ends. The plans that are made here must be possible ones: what the remedy names can be asked
// for with options.
constexpr std::int64_t most_chunks = std::int64_t{1} << 20;   ///< that a consumer may expect: config's limit
constexpr std::int64_t most_places = std::int64_t{1} << 20;   ///< of all consumers: memory of the simulation
constexpr std::int64_t most_streams = std::int64_t{1} << 17;  ///< of all producers: memory, too
constexpr std::size_t most_own_links = 8;

Relaxation single(CauseKind what, RelaxedStep step) {
    Relaxation relaxation{.what = what, .where = {}, .steps = {}};
    relaxation.steps.push_back(std::move(step));
    return relaxation;
}

void add(std::vector<Relaxation>& table, Relaxation relaxation) {
    if (!relaxation.steps.empty()) {
        table.push_back(std::move(relaxation));
    }
}

// Counts of the plan.

/// A number of which a run may have too few.
struct Count {
    CauseKind what;
    std::uint32_t core::Plan::* member;
    std::int64_t most;
    std::string_view of;      ///< "slots"
    std::string_view option;  ///< "--slots"
};

Relaxation more_of(const SimulatedRun& run, const Count& count) {
    Relaxation relaxation{.what = count.what, .where = {}, .steps = {}};
    const std::uint32_t now = run.run.plan.*count.member;
    std::vector<std::int64_t> values{2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
    if (now >= 32) {
        values.push_back(std::int64_t{now} * 2);
        values.push_back(std::int64_t{now} * 8);
    }
    for (const std::int64_t value : values) {
        if (value <= now || value > count.most) {
            continue;
        }
        const auto wanted = static_cast<std::uint32_t>(value);
        relaxation.steps.push_back(
            {[member = count.member, wanted](SimulatedRun& changed) { changed.run.plan.*member = wanted; },
             fmt::format("with {} {} instead of {}", wanted, count.of, now),
             fmt::format("{} {}", count.option, wanted)});
    }
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

void add_counts(const SimulatedRun& run, std::vector<Relaxation>& table) {
    const core::Plan& plan = run.run.plan;
    if (!slots_only_put_off(run)) {
        add(table,
            more_of(run, {CauseKind::slots, &core::Plan::slots, slots_possible(plan), "slots", "--slots"}));
    }
    const std::int64_t streams = std::min(std::int64_t{1024}, most_streams / std::max(1U, plan.producers));
    add(table, more_of(run, {CauseKind::streams, &core::Plan::streams, streams, "streams", "--streams"}));
    if (plan.pulls()) {
        add(table, more_of(run, {CauseKind::requests, &core::Plan::requests, std::int64_t{1} << 20,
                                 "fragments requested at a time", "--requests"}));
    }
    if (plan.assigned_events > 0) {
        add(table, more_of(run, {CauseKind::outstanding, &core::Plan::assigned_events, std::int64_t{1} << 20,
                                 "events outstanding", "--outstanding"}));
    }
    if (window_matters(run)) {
        const std::int64_t most = core::Producer::window_limit;
        add(table,
            more_of(run, {CauseKind::window, &core::Plan::window, most, "chunks under way", "--window"}));
    }
}

// Options that can be left out.

void add_options(const SimulatedRun& run, std::vector<Relaxation>& table) {
    const core::Plan& plan = run.run.plan;
    if (plan.high_water > 0) {
        add(table, single(CauseKind::high_water, {[](SimulatedRun& changed) {
                                                      changed.run.plan.high_water =
                                                          changed.run.plan.low_water = 0;
                                                  },
                                                  "without --high-water", "leave --high-water out"}));
    }
    if (plan.shaping.kind != core::ShapingKind::none) {
        add(table, single(CauseKind::shaping, {[](SimulatedRun& changed) {
                                                   changed.run.plan.shaping = {};
                                                   std::erase_if(
                                                       changed.disturbances, [](const Disturbance& one) {
                                                           return one.kind == Disturbance::Kind::drift;
                                                       });
                                               },
                                               "without shaping", "leave --shaping out"}));
    }
    for (Relaxation& relaxation : network_relaxations(run)) {
        add(table, std::move(relaxation));
    }
    for (Relaxation& relaxation : spreading_relaxations(run)) {
        add(table, std::move(relaxation));
    }
}

// What holds data.

Relaxation larger_buffer(const core::Plan& plan) {
    Relaxation relaxation{.what = CauseKind::buffer, .where = {}, .steps = {}};
    for (const double factor : {1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0}) {
        const double most = 4e18;
        const Bytes wanted{rounded_up(std::min(most, static_cast<double>(plan.buffer.count) * factor), 3)};
        relaxation.steps.push_back(
            {[wanted](SimulatedRun& changed) { changed.run.plan.buffer = wanted; },
             fmt::format("with a buffer of {} instead of {}", readable(wanted), readable(plan.buffer)),
             fmt::format("a --buffer of {}", readable(wanted))});
    }
    return relaxation;
}

// Events.

/// Events of a size that divides a set, and sets over consumers, where the plan's does not. Chosen: the
/// largest such size, so that as little as possible changes besides.
Relaxation even_events(const core::Plan& plan) {
    Relaxation relaxation{.what = CauseKind::event_size, .where = {}, .steps = {}};
    if (plan.event_size.kind != core::DistributionKind::fixed || plan.addressed() || plan.consumers == 0) {
        return relaxation;
    }
    const std::int64_t set = plan.set_bytes().count;
    const auto size = static_cast<std::int64_t>(plan.event_size.mean);
    const std::int64_t of_all = plan.builds() ? 1 : plan.producers;
    if (set <= 0 || size <= 0) {
        return relaxation;
    }
    const std::int64_t now = (set + size - 1) / size;
    std::int64_t events = now;
    while (events * of_all % plan.consumers != 0) {
        ++events;  // at most `consumers` times
    }
    const Bytes wanted{(set + events - 1) / events};
    constexpr std::int64_t least_event = 4096;
    if ((events == now && set % size == 0) || events > 4 * now || wanted.count < least_event) {
        return relaxation;
    }
    relaxation.steps.push_back(
        {[wanted](SimulatedRun& changed) {
             changed.run.plan.event_size.mean = static_cast<double>(wanted.count);
         },
         fmt::format("with events of {} instead of {}", readable(wanted), readable(Bytes{size})),
         fmt::format("an --event-size of {} B", wanted.count)});
    return relaxation;
}

// Times.

constexpr double shorter[] = {0.9, 0.75, 0.5, 0.3, 0.2, 0.1, 0.03, 0.01, 0.001};

Relaxation shorter_scheduler(const core::NetworkPlan& network) {
    Relaxation relaxation{.what = CauseKind::scheduler, .where = {}, .steps = {}};
    for (const double factor : shorter) {
        const Duration wanted{std::llround(static_cast<double>(network.scheduler_time.ns) * factor)};
        if (wanted.ns < 1) {
            break;
        }
        relaxation.steps.push_back(
            {[wanted](SimulatedRun& changed) { changed.network.scheduler_time = wanted; },
             fmt::format("with {} of the scheduler's time for a message instead of {}", readable(wanted),
                         readable(network.scheduler_time)),
             fmt::format("a scheduler that needs {} for a message (--scheduler-time)", readable(wanted))});
    }
    return relaxation;
}

Relaxation shorter_latency(const core::NetworkPlan& network) {
    Relaxation relaxation{.what = CauseKind::control_latency, .where = {}, .steps = {}};
    for (const double factor : shorter) {
        const Duration wanted{std::llround(static_cast<double>(network.latency.ns) * factor)};
        if (wanted.ns < 1) {
            break;
        }
        relaxation.steps.push_back(
            {[wanted](SimulatedRun& changed) { changed.network.latency = wanted; },
             fmt::format("with a latency of {} instead of {}", readable(wanted), readable(network.latency)),
             fmt::format("a --latency of {}", readable(wanted))});
    }
    return relaxation;
}

Relaxation shorter_processing(const core::Plan& plan) {
    Relaxation relaxation{.what = CauseKind::processing, .where = {}, .steps = {}};
    if (plan.busy.kind == core::DistributionKind::none) {
        return relaxation;
    }
    if (plan.busy_consumers.size() == 1) {
        relaxation.where = core::NodeId{core::Role::consumer, plan.busy_consumers.front()};
    }
    const double mean = core::expected_mean(plan.busy);
    for (const double factor : {0.9, 0.75, 0.5, 0.3, 0.2, 0.1, 0.01}) {
        const std::string wanted = readable(Duration{std::llround(mean * factor)});
        relaxation.steps.push_back(
            {[factor](SimulatedRun& changed) { core::scale(changed.run.plan.busy, factor); },
             fmt::format("with {} of processing for an event instead of {} on average", wanted,
                         readable(Duration{std::llround(mean)})),
             fmt::format("processing that takes {} on average (--busy)", wanted)});
    }
    return relaxation;
}

// Links.

/// The links of a role: where NetworkPlan has them, and how they are called.
struct Links {
    CauseKind what;
    core::Role role;
    BitRate core::NetworkPlan::* usual;
    std::vector<core::OwnLinks> core::NetworkPlan::* own;
    std::string_view whose;  ///< "consumers'"
    std::string_view option;
};
constexpr Links links_of_role[] = {
    {CauseKind::producer_links, core::Role::producer, &core::NetworkPlan::producer_link,
     &core::NetworkPlan::own_producer_links, "producers'", "--producer-link"},
    {CauseKind::consumer_links, core::Role::consumer, &core::NetworkPlan::consumer_link,
     &core::NetworkPlan::own_consumer_links, "consumers'", "--consumer-link"}};

Relaxation faster_links(const core::NetworkPlan& network, const Links& links) {
    Relaxation relaxation{.what = links.what, .where = {}, .steps = {}};
    const BitRate now = network.*links.usual;
    const bool all_alike = (network.*links.own).empty();
    for (const double factor : factors_for(network, now)) {
        const BitRate wanted = times(now, factor);
        const std::string alike = fmt::format("{} links of {}", links.whose, readable(wanted));
        const std::string times_as_fast = fmt::format("{} links {} times as fast", links.whose, factor);
        relaxation.steps.push_back(
            {[wanted, factor, links](SimulatedRun& changed) {
                 const core::NetworkPlan before = changed.network;
                 std::vector<core::OwnLinks>& own = changed.network.*links.own;
                 changed.network.*links.usual =
                     own.empty() ? wanted : exactly_times(changed.network.*links.usual, factor);
                 for (core::OwnLinks& some : own) {
                     some.rate = exactly_times(some.rate, factor);
                 }
                 keep_shared_memory(before, changed);
             },
             all_alike ? fmt::format("with {} instead of {}", alike, readable(now)) : "with " + times_as_fast,
             fmt::format("{} ({})", all_alike ? alike : times_as_fast, links.option)});
    }
    return relaxation;
}

std::string owners(const core::OwnLinks& some, core::Role role) {
    return some.first == some.last
               ? files::node_text({role, some.first})
               : fmt::format("{}s {} to {}", core::role_name(role), some.first, some.last);
}

/// For ranks whose links are slower than those of the others.
void add_own_links(const core::NetworkPlan& network, const Links& links, std::vector<Relaxation>& table) {
    std::vector<std::size_t> slow;
    const std::vector<core::OwnLinks>& own = network.*links.own;
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (own[i].rate < network.*links.usual) {
            slow.push_back(i);
        }
    }
    std::stable_sort(slow.begin(), slow.end(),
                     [&](std::size_t a, std::size_t b) { return own[a].rate < own[b].rate; });
    slow.resize(std::min(slow.size(), most_own_links));
    for (const std::size_t index : slow) {
        const core::OwnLinks& some = own[index];
        Relaxation relaxation{.what = links.what, .where = {}, .steps = {}};
        if (some.first == some.last) {
            relaxation.where = core::NodeId{links.role, some.first};
        }
        for (const double factor : factors_for(network, some.rate)) {
            const BitRate wanted = times(some.rate, factor);
            relaxation.steps.push_back(
                {[wanted, index, member = links.own](SimulatedRun& changed) {
                     const core::NetworkPlan before = changed.network;
                     (changed.network.*member)[index].rate = wanted;
                     keep_shared_memory(before, changed);
                 },
                 fmt::format("with a link of {} for {} instead of {}", readable(wanted),
                             owners(some, links.role), readable(some.rate)),
                 fmt::format("a link of {} for {} ({})", readable(wanted), owners(some, links.role),
                             links.option)});
        }
        add(table, std::move(relaxation));
    }
}

}  // namespace

std::vector<Relaxation> relaxations_of(const SimulatedRun& run) {
    std::vector<Relaxation> table = fault_relaxations(run.disturbances);
    add_counts(run, table);
    add_options(run, table);
    add(table, even_events(run.run.plan));
    add(table, shorter_scheduler(run.network));
    add(table, shorter_latency(run.network));
    add(table, shorter_processing(run.run.plan));
    for (const Links& links : links_of_role) {
        add_own_links(run.network, links, table);
    }
    add(table, larger_buffer(run.run.plan));
    for (Relaxation& relaxation : memory_relaxations(run)) {
        add(table, std::move(relaxation));
    }
    for (const Links& links : links_of_role) {
        add(table, faster_links(run.network, links));
    }
    if (core::has_fabric(run.network) && run.network.fabric.topology.kind != core::TopologyKind::star) {
        for (Relaxation& relaxation : cable_relaxations(run.network)) {
            add(table, std::move(relaxation));
        }
    }
    return table;
}

}  // namespace weir::simulation
