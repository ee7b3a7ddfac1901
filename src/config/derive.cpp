#include "config/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "config/derive_datagrams.hpp"
#include "config/derive_engine.hpp"
#include "config/derive_packets.hpp"
#include "config/derive_traffic.hpp"
#include "config/fabric.hpp"
#include "config/groups.hpp"
#include "config/host_list.hpp"
#include "config/limits.hpp"
#include "config/link_speeds.hpp"
#include "config/option_table.hpp"
#include "config/quantities.hpp"
#include "config/scaling.hpp"
#include "config/usage_error.hpp"
#include "core/distribution.hpp"

namespace weir::config {

namespace {

using core::Bytes;
using core::DistributionKind;

bool is_drawn(const core::Distribution& sizes) {
    return sizes.kind == DistributionKind::normal || sizes.kind == DistributionKind::lognormal;
}

Bytes whole(double size) {
    return {static_cast<std::int64_t>(std::ceil(size))};
}

/// Where a drawn size is cut, unless slots have a size of their own.
Bytes largest_event(const core::Distribution& sizes) {
    return {core::largest_size(sizes)};
}

// Sizes: set, event, slot, buffer, chunk, in this order.

void derive_event_size(RunRequest& request, Bytes set) {
    core::Plan& plan = request.plan;
    const Bytes most = request.addressed ? largest_transfer(request) : set;
    if (!request.given("event-size") && plan.event_size.mean > static_cast<double>(most.count)) {
        plan.event_size.mean = static_cast<double>(most.count);
    }
    // With addresses, an event has at most what is left of its transfer.
    if (plan.generation != core::Generation::sets || request.addressed) {
        return;
    }
    // A drawn event may be cut to the set, but its mean must fit.
    const Bytes event =
        is_drawn(plan.event_size) ? whole(plan.event_size.mean) : largest_event(plan.event_size);
    if (event > set) {
        throw UsageError(
            fmt::format("--event-size: {} is more than a set of {} (--rate {} x --interval {}); make "
                        "it at most a set, or use --generation steady",
                        to_text(event), to_text(set), to_text(plan.rate), to_text(plan.interval)));
    }
}

void derive_buffer(RunRequest& request, Bytes set) {
    core::Plan& plan = request.plan;
    if (request.given("buffer")) {
        return;
    }
    // Without sets an event may be larger than what one interval gives.
    plan.buffer =
        plan.generation == core::Generation::sets ? set : std::max(set, largest_event(plan.event_size));
}

void derive_slot_size(RunRequest& request, Bytes set) {
    core::Plan& plan = request.plan;
    core::Distribution& sizes = plan.event_size;
    const Bytes largest = largest_event(sizes);
    if (!request.given("slot-size")) {
        plan.slot_size = largest;
        if (is_drawn(sizes)) {
            const Bytes most =
                plan.generation == core::Generation::sets ? std::min(set, plan.buffer) : plan.buffer;
            plan.slot_size = std::max(whole(sizes.mean), std::min(largest, most));
        }
        if (request.addressed) {
            plan.slot_size = std::min(plan.slot_size, largest_transfer(request));
        }
    } else if (request.addressed && plan.slot_size >= largest_transfer(request)) {
        // No event is larger than its transfer.
    } else if (is_drawn(sizes) ? whole(sizes.mean) > plan.slot_size : largest > plan.slot_size) {
        throw UsageError(
            fmt::format("--event-size: {} does not fit into a slot of {} (--slot-size); make slots at "
                        "least as large as events",
                        to_text(is_drawn(sizes) ? whole(sizes.mean) : largest), to_text(plan.slot_size)));
    }
    if (is_drawn(sizes) &&
        (sizes.maximum == 0 || Bytes{static_cast<std::int64_t>(sizes.maximum)} > plan.slot_size)) {
        sizes.maximum = static_cast<double>(plan.slot_size.count);
        request.notes.push_back(
            fmt::format("event sizes are cut at {}, the size of a slot", to_text(plan.slot_size)));
    }
}

void check_buffer(const core::Plan& plan) {
    const Bytes largest =
        std::min(is_drawn(plan.event_size) ? whole(plan.event_size.maximum) : largest_event(plan.event_size),
                 plan.slot_size);
    if (plan.buffer < largest) {
        throw UsageError(
            fmt::format("--buffer: {} is less than an event of {} (--event-size); make it at least as "
                        "large",
                        to_text(plan.buffer), to_text(largest)));
    }
}

void derive_chunk_size(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (plan.lossy()) {
        derive_datagrams(request);
        return;
    }
    if (!request.given("chunk-size")) {
        // The receives of a whole slot are posted at a time, and MPI searches them one by one: not too many.
        const auto part = static_cast<std::uint64_t>(plan.slot_size.count / chunks_per_slot_default);
        const Bytes rounded{static_cast<std::int64_t>(std::bit_ceil(part))};
        plan.chunk_size = std::min(std::max(plan.chunk_size, rounded), Bytes{std::int64_t{1} << 30});
    }
    if (plan.chunk_size > plan.slot_size) {
        if (request.given("chunk-size")) {
            request.notes.push_back(
                fmt::format("chunks are {}, as large as a slot", to_text(plan.slot_size)));
        }
        plan.chunk_size = std::min(plan.slot_size, chunk_limit);
    }
    const std::int64_t chunks = (plan.slot_size.count - 1) / plan.chunk_size.count + 1;
    const auto least_chunk = [&](std::int64_t most_chunks) {
        return to_text(Bytes{(plan.slot_size.count - 1) / most_chunks + 1});
    };
    if (chunks > chunks_per_slot_limit) {
        throw UsageError(
            fmt::format("--chunk-size: {} cuts a slot of {} into {} chunks, and at most {} are possible; "
                        "make it at least {}",
                        to_text(plan.chunk_size), to_text(plan.slot_size), chunks, chunks_per_slot_limit,
                        least_chunk(chunks_per_slot_limit)));
    }
    if (chunks * plan.slots > receives_limit) {
        throw UsageError(
            fmt::format("--slots: {} slots of {} chunks are {} open receives, and at most {} are "
                        "possible; use fewer slots, or a --chunk-size of at least {}",
                        plan.slots, chunks, chunks * plan.slots, receives_limit,
                        least_chunk(receives_limit / plan.slots)));
    }
}

void derive_network(RunRequest& request) {
    core::NetworkPlan& network = request.network;
    if (!request.given("mtu")) {
        network.mtu = {network.framing == core::Framing::tcp ? 1500 : 4096};
    }
}

void derive_sizes(RunRequest& request) {
    const Bytes set =
        request.addressed && !request.plan.traffic ? largest_transfer(request) : request.plan.set_bytes();
    if (set.count <= 0) {
        throw UsageError(
            fmt::format("--rate: {} gives less than one byte per --interval of {}; raise one of them",
                        to_text(request.plan.rate), to_text(request.plan.interval)));
    }
    derive_event_size(request, set);
    derive_buffer(request, set);
    derive_slot_size(request, set);
    check_buffer(request.plan);
    derive_chunk_size(request);
}

// Options that contradict each other. The command line overrides a scenario silently; two options of
// the same origin, or a command line that asks for what its scenario cannot give, are refused.

void check_busy(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (plan.busy.kind != DistributionKind::none) {
        return;
    }
    for (const char* option : {"busy-consumers", "busy-cpu"}) {
        if (request.given(option) && request.origin(option) >= request.origin("busy")) {
            throw UsageError(
                fmt::format("--{}: needs --busy; add for example --busy "
                            "poisson:1.2s,quantum=50ms",
                            option));
        }
    }
    plan.busy_consumers.clear();
    plan.busy_burns_cpu = false;
}

void check_pattern(const RunRequest& request) {
    const core::Plan& plan = request.plan;
    const bool none = plan.consumers_grant();
    if (plan.builds() && none) {
        throw UsageError(
            "--pattern: build contradicts --policy none: without a scheduler nothing decides which consumer "
            "gets the fragments of an event; use another policy");
    }
    if (plan.pulls() && none) {
        throw UsageError(
            "--initiation: pull contradicts --policy none, where no scheduler assigns events; without one, "
            "consumers ask for events by themselves");
    }
    if (plan.pulls() && plan.transport == core::TransportKind::put) {
        throw UsageError(
            "--initiation: pull contradicts --transport put, where the producer writes; use get, where "
            "the consumer reads, or send");
    }
}

/// Options of event building that mean nothing without another one.
void check_building(RunRequest& request) {
    core::Plan& plan = request.plan;
    const auto needs = [&](const char* option, bool there, const char* other, const char* value) {
        if (!there && request.given(option) && request.origin(option) >= request.origin(other)) {
            throw UsageError(fmt::format("--{}: needs --{}{}", option, other, value));
        }
    };
    const bool builds = plan.builds();
    needs("requests", plan.pulls(), "initiation", " pull");
    needs("outstanding", builds, "pattern", " build");
    needs("low-water", plan.high_water > 0, "high-water", "");
    needs("fragment-timeout", plan.lossy(), "transport", " datagram");
    needs("reasks", plan.lossy(), "transport", " datagram");
    if (!builds) {
        plan.assigned_events = 0;
    }
    if (!plan.lossy()) {
        plan.reasks = 0;
    }
    if (plan.high_water == 0) {
        plan.low_water = 0;
        return;
    }
    if (!request.given("low-water")) {
        plan.low_water = plan.high_water - std::max(1U, plan.high_water / 10);
    }
    if (plan.low_water >= plan.high_water) {
        throw UsageError(fmt::format("--low-water: {} is not below --high-water {}; make it less",
                                     plan.low_water, plan.high_water));
    }
    if (plan.high_water > plan.slots) {
        throw UsageError(
            fmt::format("--high-water: {} events never fit into {} slots (--slots); make it at most that",
                        plan.high_water, plan.slots));
    }
}

void check_result_size(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (plan.result_size.kind == DistributionKind::none) {
        return;
    }
    if (plan.consumers_grant()) {
        if (request.origin("result-size") >= request.origin("policy")) {
            throw UsageError(
                "--result-size: results are sent to the scheduler, which does not take part with --policy "
                "none; "
                "use another policy, or --result-size none");
        }
        plan.result_size = {};
        return;
    }
    const Bytes largest = largest_event(plan.result_size);
    if (largest * plan.slots > results_limit) {
        throw UsageError(
            fmt::format("--result-size: {} slots with results of up to {} each are more than {}, which is "
                        "what a consumer may "
                        "have under way; make results smaller, or --slots fewer",
                        plan.slots, to_text(largest), to_text(results_limit)));
    }
    if (is_drawn(plan.result_size) && plan.result_size.maximum == 0) {
        plan.result_size.maximum = static_cast<double>(largest.count);
    }
}

void check_requirements(const RunRequest& request) {
    if ((request.require.sustained || request.require.on_time) &&
        request.plan.generation == core::Generation::saturate) {
        throw UsageError(
            fmt::format("--require: '{}' contradicts --generation saturate, which has no rate to sustain; "
                        "use sets or steady, or --require none",
                        request.require.sustained ? "sustained" : "on-time"));
    }
    if (request.require.sustained && request.plan.generation == core::Generation::sets &&
        request.plan.buffer < request.plan.set_bytes()) {
        throw UsageError(
            fmt::format("--require: 'sustained' cannot hold, because every set of {} overflows the "
                        "--buffer of {}; make it at least a set, or use --require none",
                        to_text(request.plan.set_bytes()), to_text(request.plan.buffer)));
    }
}

void check_times(const RunRequest& request) {
    const core::Plan& plan = request.plan;
    if (plan.generation == core::Generation::sets && plan.duration < plan.interval) {
        throw UsageError(
            fmt::format("--duration: {} is shorter than the --interval of {}; make it at least one "
                        "interval",
                        to_text(plan.duration), to_text(plan.interval)));
    }
}

void check_set_phase(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (plan.set_phase == core::SetPhase::same) {
        return;
    }
    if (plan.generation != core::Generation::sets) {
        if (request.origin("set-phase") >= request.origin("generation")) {
            throw UsageError(
                "--set-phase: needs --generation sets, because there are no sets otherwise; use "
                "--set-phase same");
        }
        plan.set_phase = core::SetPhase::same;
    } else if (plan.duration.ns % plan.interval.ns != 0) {
        throw UsageError(
            fmt::format("--duration: {} is not a multiple of the --interval of {}, so that not all producers "
                        "would generate equally many sets; make it a multiple, or use --set-phase same",
                        to_text(plan.duration), to_text(plan.interval)));
    }
}

/// In a simulation heartbeats take no time, so only a measured run has a shortest time-out.
void check_silence_timeout(const RunRequest& request) {
    constexpr core::Duration least = core::Duration::milliseconds(500);
    if (!request.simulated && request.silence_timeout < least) {
        throw UsageError(
            fmt::format("--silence-timeout: {} is too short for a measured run; write at least {}",
                        to_text(request.silence_timeout), to_text(least)));
    }
}

/// What works with --on-failure continue so far.
void check_on_failure(RunRequest& request) {
    core::Plan& plan = request.plan;
    plan.detection_time = {};
    if (!plan.outlives_consumers) {
        return;
    }
    const auto refuse = [](std::string_view what) {
        throw UsageError(fmt::format(
            "--on-failure: continue does not work with {} yet; use end, or leave that out", what));
    };
    if (!request.simulated && request.join.host.empty()) {
        throw UsageError(
            "--on-failure: continue needs --join HOST:PORT: under MPI the death of a rank ends the run; add "
            "that, or use end");
    }
    // UCX 1.13 does not always end a flush of an endpoint that is closed by force, and then nothing shows
    // when the memory of a chunk is free.
    if (!request.simulated && plan.transport != core::TransportKind::send) {
        refuse("--transport put and get");
    }
    if (plan.builds()) {
        refuse("--pattern build");
    }
    if (plan.pulls()) {
        refuse("--initiation pull");
    }
    if (plan.consumers_grant()) {
        refuse("--policy none");
    }
    if (plan.lossy()) {
        refuse("--transport datagram");
    }
    if (plan.shaping.kind != core::ShapingKind::none) {
        refuse("--shaping");
    }
    if (plan.result_size.kind != DistributionKind::none) {
        refuse("--result-size");
    }
    if (request.network.model == core::NetworkModel::packet) {
        refuse("--network packet");
    }
    plan.detection_time = request.silence_timeout;
}

void check_roles(const RunRequest& request) {
    const RoleRequest& roles = request.roles;
    if (roles.role) {
        for (const char* option : {"producer-hosts", "consumer-hosts", "scheduler-host", "scheduler-rank",
                                   "producers-per-host", "consumers-per-host"}) {
            if (request.given(option)) {
                throw UsageError(fmt::format("--role: contradicts --{}; give roles in one way only", option));
            }
        }
    }
    if (roles.producers_per_host != 0 && roles.producer_hosts.empty()) {
        throw UsageError("--producers-per-host: needs --producer-hosts; without host lists use --producers");
    }
    if (roles.consumers_per_host != 0 && roles.consumer_hosts.empty()) {
        throw UsageError("--consumers-per-host: needs --consumer-hosts; without host lists use --consumers");
    }
    const bool numbered =
        !roles.scheduler_rank.empty() && roles.scheduler_rank != "first" && roles.scheduler_rank != "last";
    if (numbered && !roles.scheduler_host.empty()) {
        throw UsageError(fmt::format("--scheduler-rank: {} contradicts --scheduler-host {}; give one of them",
                                     roles.scheduler_rank, roles.scheduler_host));
    }
}

}  // namespace

void check_busy_consumers(const core::Plan& plan) {
    if (plan.consumers != 0 && !plan.busy_consumers.empty() && plan.busy_consumers.back() >= plan.consumers) {
        throw UsageError(fmt::format("--busy-consumers: there is no consumer {}; write indices from 0 to {}",
                                     plan.busy_consumers.back(), plan.consumers - 1));
    }
}

void check_places(const core::Plan& plan) {
    const std::int64_t chunks = (plan.slot_size.count - 1) / plan.chunk_size.count + 1;
    if (!plan.lossy() && chunks * plan.places() > receives_limit) {
        throw UsageError(fmt::format(
            "--slots: {} slots for {} fragments of {} chunks are {} open receives, and at most {} are "
            "possible; use fewer slots or larger chunks",
            plan.slots, plan.fragments_per_event(), chunks, chunks * plan.places(), receives_limit));
    }
}

void derive(RunRequest& request) {
    prepare_traffic(request);
    request.plan.producers = request.roles.producers;
    request.plan.consumers = request.roles.consumers;
    apply_scale(request);
    apply_time_scale(request);
    derive_traffic(request);
    derive_sizes(request);
    derive_network(request);
    check_times(request);
    check_set_phase(request);
    check_pattern(request);
    check_building(request);
    check_busy(request);
    check_result_size(request);
    check_datagram_options(request);
    if (!request.simulated) {
        derive_engine(request);
    }
    derive_packets(request);
    check_busy_consumers(request.plan);
    check_own_links(request);
    check_ranks_on_hosts(request);
    check_places(request.plan);
    check_requirements(request);
    check_silence_timeout(request);
    check_on_failure(request);
    check_traffic(request);
    check_senders(request.plan);
    check_roles(request);
    check_groups(request);
}

}  // namespace weir::config
