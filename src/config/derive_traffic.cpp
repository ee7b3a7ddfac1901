#include "config/passes.hpp"

#include <cmath>

#include "config/limits.hpp"
#include "config/role_assignment.hpp"
#include "core/distribution.hpp"

namespace weir::config {

namespace {

using core::Bytes;
using core::Duration;
using Entry = core::TrafficPlan::Entry;
using Form = TrafficDescription::Form;
using core::WideInteger;

/// Refuses traffic that does not fit into the interval. `cause`: begins the message; empty if the file is it.
void check_length(const RunRequest& request, std::string_view cause) {
    const TrafficDescription& traffic = request.traffic;
    const Duration interval = request.plan.interval;
    const bool fits = traffic.form == Form::trace ? traffic.length < interval : traffic.length <= interval;
    if (!fits) {
        throw UsageError(
            "{}--interval: {} is too short for {}, which {} {}; make it {}", cause, files::exact(interval),
            traffic.file, traffic.form == Form::trace ? "begins its last transfer after" : "takes",
            files::exact(traffic.length), traffic.form == Form::trace ? "longer" : "at least as long");
    }
}

/// A file has times and bytes; options for the same are refused.
void prepare_file(RunRequest& request) {
    TrafficDescription& traffic = request.traffic;
    core::Plan& plan = request.plan;
    if (request.given("destination") && !request.addressed) {
        throw UsageError(
            "--destination: any contradicts --pattern {}, whose events have an address; use addressed",
            traffic_text(traffic));
    }
    request.addressed = true;
    if (request.insists("rate", "pattern")) {
        throw UsageError(
            "--rate: {} says how much each producer generates; leave --rate out, and use --scale for more or "
            "less",
            traffic.file);
    }
    const bool has_interval = traffic.form == Form::sequence || traffic.form == Form::collectives;
    if (has_interval && !request.given("interval")) {
        plan.interval = traffic.length;
    }
    check_length(request, "");
    RoleRequest& roles = request.roles;
    const auto ranks = [&](std::uint32_t& asked, std::uint32_t needed, bool hosts, const char* option) {
        if (asked == 0 && !hosts && !roles.role) {
            asked = needed;
        } else if (asked != 0 && asked < needed) {
            throw UsageError("--{}: {} are fewer than the {} of {}; write at least as many", option, asked,
                             needed, traffic.file);
        }
    };
    ranks(roles.producers, traffic.producers, !roles.producer_hosts.empty(), "producers");
    ranks(roles.consumers, traffic.consumers, !roles.consumer_hosts.empty(), "consumers");
}

/// Every producer sends the same to every consumer, as much as its rate gives in an interval.
std::vector<Entry> all_to_all(const core::Plan& plan) {
    const Bytes set = bytes_in(plan.rate, plan.interval);
    std::vector<Entry> entries;
    for (std::uint32_t from = 0; from < plan.producers; ++from) {
        for (std::uint32_t to = 0; to < plan.consumers; ++to) {
            const Bytes bytes{set.count / plan.consumers + (to < set.count % plan.consumers ? 1 : 0)};
            if (bytes > Bytes{}) {
                entries.push_back({{from}, {.at = {}, .to = {to}, .bytes = bytes}});
            }
        }
    }
    return entries;
}

core::BitRate mean_rate(const RunRequest& request, const core::TrafficPlan& traffic) {
    const Duration interval = request.plan.interval;
    const auto bits = static_cast<core::WideInteger>(traffic.total().count) * 8 * 1000000000;
    const core::WideInteger rate = bits / interval.ns / traffic.producers();
    if (rate > fastest_rate.bits_per_second) {
        throw UsageError(
            "--interval: {} of traffic in {} are more than {} for each producer, which is the most; make the "
            "interval longer, or the transfers smaller",
            files::exact(traffic.total()), files::exact(interval), files::exact(fastest_rate));
    }
    return {std::max<std::int64_t>(1, static_cast<std::int64_t>(rate))};
}

/// For amounts that a core::Bytes may not hold.
std::string large_text(WideInteger bytes) {
    return files::bytes_text(static_cast<double>(bytes));
}

void check_bytes(const RunRequest& request) {
    const core::Plan& plan = request.plan;
    const WideInteger bytes = core::bytes_of_run(plan) * number_of_groups(request);
    if (bytes <= core::bytes_limit.count) {
        return;
    }
    const bool from_file = request.traffic.form != TrafficDescription::Form::none;
    throw UsageError(
        "--duration: in {} and a --warmup of {}, {} are generated (producers: {}), and at most {} can be "
        "counted; make the duration shorter, or {}",
        files::exact(plan.duration), files::exact(plan.warmup), large_text(bytes),
        std::uint64_t{plan.producers} * number_of_groups(request), large_text(core::bytes_limit.count),
        from_file ? "the transfers of " + request.traffic.file + " smaller" : "--rate lower");
}

void check_events(const core::Plan& plan) {
    const double at_once = core::events_at_once(plan);
    const auto most = static_cast<double>(core::waiting_events_limit);
    if (at_once > most) {
        const double event = core::expected_mean(plan.event_size);
        throw UsageError(
            "--event-size: a producer generates {} events of {} at one instant, and at most {} can "
            "wait; make events at least {}, or --interval shorter",
            files::number(at_once), files::bytes_text(event), core::waiting_events_limit,
            files::exact(core::Bytes{static_cast<std::int64_t>(std::ceil(event * at_once / most))}));
    }
    const double event = std::max(1.0, core::expected_mean(plan.event_size));
    const double events = static_cast<double>(core::bytes_of_run(plan)) / plan.producers / event;
    if (events > static_cast<double>(core::EventId::sequence_limit)) {
        throw UsageError(
            "--event-size: a producer generates {} events in the run, and at most {} can be distinguished; "
            "make events larger, or --duration shorter",
            files::number(events), core::EventId::sequence_limit);
    }
}

}  // namespace

void prepare_traffic(RunRequest& request) {
    if (request.traffic.form != Form::none) {
        prepare_file(request);
    }
    if (!request.addressed) {
        return;
    }
    core::Plan& plan = request.plan;
    const bool from_rate = request.traffic.form == Form::none;
    if (from_rate && (request.roles.producers == 0 || request.roles.consumers == 0)) {
        throw UsageError(
            "--destination: addressed needs --producers and --consumers, to which each producer's data is "
            "divided, or --pattern matrix:FILE");
    }
    if (plan.generation != core::Generation::sets) {
        throw UsageError("--destination: addressed needs --generation sets; leave --generation out");
    }
    if (plan.duration.ns % plan.interval.ns != 0) {
        throw UsageError(
            "--duration: {} is not a multiple of the --interval of {}, so that a part of the traffic would "
            "be missing; make it a multiple",
            files::exact(plan.duration), files::exact(plan.interval));
    }
}

Bytes largest_transfer(const RunRequest& request) {
    if (!request.addressed) {
        return {};
    }
    if (request.plan.traffic) {
        return request.plan.traffic->largest_transfer();
    }
    Bytes largest;
    for (const Entry& entry : request.traffic.entries) {
        largest = std::max(largest, entry.transfer.bytes);
    }
    return largest;
}

void derive_traffic(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (request.traffic.form != Form::none) {
        check_length(request, "--time-scale: rounded to 1ns: ");
    }
    if (!request.addressed || plan.producers == 0 || plan.consumers == 0) {
        return;
    }
    const bool from_rate = request.traffic.form == Form::none;
    if (!from_rate &&
        (plan.producers < request.traffic.producers || plan.consumers < request.traffic.consumers)) {
        throw UsageError(
            "--pattern: {} is for {} producers and {} consumers, but there are {} and {}; start more ranks",
            request.traffic.file, request.traffic.producers, request.traffic.consumers, plan.producers,
            plan.consumers);
    }
    const std::uint64_t pairs = std::uint64_t{plan.producers} * plan.consumers;
    const std::uint64_t most_pairs = from_rate ? pairs_limit : sparse_pairs_limit;
    if (pairs > most_pairs) {
        throw UsageError(
            "--destination: {} producers and {} consumers are {} pairs, and at most {} are possible with "
            "addressed events; use fewer ranks",
            plan.producers, plan.consumers, pairs, most_pairs);
    }
    std::vector<core::TrafficPhase> phases =
        from_rate ? std::vector<core::TrafficPhase>{{"all", {}, {}}} : request.traffic.phases;
    for (core::TrafficPhase& phase : phases) {
        phase.period = phase.period == Duration{} ? plan.interval : phase.period;
    }
    std::vector<Entry> entries = from_rate ? all_to_all(plan) : request.traffic.entries;
    if (entries.empty()) {
        throw UsageError("--rate: {} gives less than one byte per --interval of {}; raise one of them",
                         files::exact(plan.rate), files::exact(plan.interval));
    }
    check_traffic_sum(from_rate ? "--rate" : std::string_view{request.traffic.file}, entries);
    const bool is_trace = request.traffic.form == Form::trace || request.traffic.form == Form::collectives;
    plan.traffic = std::make_shared<const core::TrafficPlan>(
        plan.producers, plan.consumers, std::move(phases), std::move(entries), is_trace,
        request.traffic.dependencies, request.traffic.collectives);
    plan.rate = mean_rate(request, *plan.traffic);
}

void check_addresses(const RunRequest& request) {
    const core::Plan& plan = request.plan;
    if (!request.addressed) {
        if (plan.policy == core::PolicyKind::longest_queue || plan.policy == core::PolicyKind::oldest) {
            throw UsageError(
                "--policy: longest-queue and oldest are for events with an address; add --destination "
                "addressed, or use balanced");
        }
        return;
    }
    for (const auto& [asked, what] : {std::pair(plan.policy == core::PolicyKind::random, "--policy random"),
                                      {plan.builds(), "--pattern build"},
                                      {plan.set_phase != core::SetPhase::same, "--set-phase"},
                                      {plan.outlives_consumers, "--on-failure continue"}}) {
        if (asked) {
            throw UsageError("--destination: addressed does not work with {}; leave one of them out", what);
        }
    }
    // Where datagrams are lost, events of a pair are told apart by their order, which waiting changes.
    if (!request.traffic.dependencies.empty() && plan.lossy()) {
        throw UsageError(
            "--transport: datagram does not work with {}, whose transfers wait for others; use send, put or "
            "get",
            request.traffic.file);
    }
}

void check_senders(const core::Plan& plan) {
    if (!plan.addressed() || !plan.consumers_grant()) {
        return;
    }
    for (std::uint32_t consumer = 0; consumer < plan.consumers; ++consumer) {
        const std::size_t senders = plan.traffic->senders_to({consumer}).size();
        if (senders > plan.slots) {
            throw UsageError(
                "--slots: {} are fewer than the {} producers that send to consumer {}; with --policy none "
                "each needs a slot of its own, so write at least {}",
                plan.slots, senders, consumer, senders);
        }
    }
}

void check_traffic_sum(std::string_view what, std::span<const core::TrafficPlan::Entry> transfers) {
    WideInteger bytes = 0;
    for (const core::TrafficPlan::Entry& entry : transfers) {
        bytes += entry.transfer.bytes.count;
    }
    if (bytes > core::bytes_limit.count) {
        throw UsageError(UsageError::Reach::this_host,
                         "{}: the {} transfers of an interval are {} in all, and at most {} can be counted; "
                         "make them smaller",
                         what, transfers.size(), large_text(bytes), large_text(core::bytes_limit.count));
    }
}

void check_amounts(RunRequest& request) {
    const core::Plan& plan = request.plan;
    if (plan.generation == core::Generation::saturate) {
        return;
    }
    check_bytes(request);
    check_events(plan);
    const double event = std::max(1.0, core::expected_mean(plan.event_size));
    const double buffered = static_cast<double>(plan.buffer.count) / event;
    if (buffered > static_cast<double>(core::waiting_events_limit)) {
        request.notes.push_back(
            fmt::format("a buffer of {} has room for {} events of {}, but at most {} can wait: "
                        "when there are more, they are lost",
                        files::exact(plan.buffer), files::number(buffered), files::bytes_text(event),
                        core::waiting_events_limit));
    }
}

}  // namespace weir::config
