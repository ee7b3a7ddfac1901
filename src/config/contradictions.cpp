// Passes: options that contradict each other or need another one, and what is left of those that have no use.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "config/checks.hpp"
#include "config/limits.hpp"
#include "config/passes.hpp"
#include "core/distribution.hpp"
#include "core/messages.hpp"
#include "files/formatting.hpp"

namespace weir::config {

namespace {

using core::Bytes;
using core::DistributionKind;

/// Refuses options that are of use only `with` something of another one, which the request does not have.
void refuse_without(const RunRequest& request, std::initializer_list<const char*> options, const char* other,
                    std::string_view with) {
    for (const char* option : options) {
        if (request.insists(option, other)) {
            throw UsageError("--{}: needs {}", option, with);
        }
    }
}

void choose_engine(RunRequest& request) {
    core::EnginePlan& engine = request.engine;
    if (!request.join.host.empty()) {
        if (request.given("engine") && engine.engine == core::Engine::mpi) {
            throw UsageError("--join: starts without MPI, so it needs the engine ucx; leave --engine out");
        }
        engine.engine = core::Engine::ucx;
    }
    for (const char* option : {"join-token", "ranks"}) {
        if (request.join.host.empty() && request.given(option)) {
            throw UsageError("--{}: belongs to --join HOST:PORT, which is missing", option);
        }
    }
    if (engine.engine == core::Engine::ucx && request.plan.transport == core::TransportKind::datagram) {
        throw UsageError("--engine: ucx carries --transport send, put and get; leave it out with datagram");
    }
}

}  // namespace

void derive_busy(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (plan.busy.kind != DistributionKind::none) {
        return;
    }
    refuse_without(request, {"busy-consumers", "busy-cpu"}, "busy",
                   "--busy; add for example --busy poisson:1.2s,quantum=50ms");
    plan.busy_consumers.clear();
    plan.busy_burns_cpu = false;
}

void check_pattern(const core::Plan& plan) {
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
            "--initiation: pull contradicts --transport put, where the producer writes; use get, where the "
            "consumer reads, or send");
    }
}

void derive_credits(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (!plan.pulls()) {
        refuse_without(request, {"requests"}, "initiation", "--initiation pull");
    }
    if (!plan.builds()) {
        refuse_without(request, {"outstanding"}, "pattern", "--pattern build");
        plan.assigned_events = 0;
    }
    if (!plan.lossy()) {
        refuse_without(request, {"fragment-timeout", "reasks"}, "transport", "--transport datagram");
        plan.reasks = 0;
    }
    if (plan.high_water == 0) {
        refuse_without(request, {"low-water"}, "high-water", "--high-water");
        plan.low_water = 0;
        return;
    }
    if (!request.given("low-water")) {
        plan.low_water = plan.high_water - std::max(1U, plan.high_water / 10);
    }
    if (plan.low_water >= plan.high_water) {
        throw UsageError("--low-water: {} is not below --high-water {}; make it less", plan.low_water,
                         plan.high_water);
    }
    if (plan.high_water > plan.slots) {
        throw UsageError("--high-water: {} events never fit into {} slots (--slots); make it at most that",
                         plan.high_water, plan.slots);
    }
}

void derive_result_size(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (plan.result_size.kind == DistributionKind::none) {
        return;
    }
    if (plan.consumers_grant()) {
        if (request.insists("result-size", "policy")) {
            throw UsageError(
                "--result-size: results are sent to the scheduler, which does not take part with --policy "
                "none; use another policy, or --result-size none");
        }
        plan.result_size = {};
        return;
    }
    const Bytes largest{core::largest_size(plan.result_size)};
    if (largest * plan.slots > results_limit) {
        throw UsageError(
            "--result-size: {} slots with results of up to {} each are more than {}, which is what a "
            "consumer may have under way; make results smaller, or --slots fewer",
            plan.slots, files::exact(largest), files::exact(results_limit));
    }
    if (is_drawn(plan.result_size) && plan.result_size.maximum == 0) {
        plan.result_size.maximum = static_cast<double>(largest.count);
    }
}

void check_requirements(const RunRequest& request) {
    if ((request.require.sustained || request.require.on_time) &&
        request.plan.generation == core::Generation::saturate) {
        throw UsageError(
            "--require: '{}' contradicts --generation saturate, which has no rate to sustain; use sets or "
            "steady, or --require none",
            request.require.sustained ? "sustained" : "on-time");
    }
    if (request.require.sustained && request.plan.generation == core::Generation::sets &&
        request.plan.buffer < request.plan.set_bytes()) {
        throw UsageError(
            "--require: 'sustained' cannot hold, because every set of {} overflows the --buffer of {}; make "
            "it at least a set, or use --require none",
            files::exact(request.plan.set_bytes()), files::exact(request.plan.buffer));
    }
}

void check_duration(const core::Plan& plan) {
    if (plan.generation == core::Generation::sets && plan.duration < plan.interval) {
        throw UsageError("--duration: {} is shorter than the --interval of {}; make it at least one interval",
                         files::exact(plan.duration), files::exact(plan.interval));
    }
}

void derive_set_phase(RunRequest& request) {
    core::Plan& plan = request.plan;
    if (plan.set_phase == core::SetPhase::same) {
        return;
    }
    if (plan.generation != core::Generation::sets) {
        if (request.insists("set-phase", "generation")) {
            throw UsageError(
                "--set-phase: needs --generation sets, because there are no sets otherwise; use --set-phase "
                "same");
        }
        plan.set_phase = core::SetPhase::same;
    } else if (plan.duration.ns % plan.interval.ns != 0) {
        throw UsageError(
            "--duration: {} is not a multiple of the --interval of {}, so that not all producers would "
            "generate equally many sets; make it a multiple, or use --set-phase same",
            files::exact(plan.duration), files::exact(plan.interval));
    }
}

/// In a simulation heartbeats take no time, so only a measured run has a shortest time-out. Behind it stands
/// what works with --on-failure continue so far.
void derive_detection_time(RunRequest& request) {
    constexpr core::Duration least = core::Duration::milliseconds(500);
    if (!request.simulated && request.silence_timeout < least) {
        throw UsageError("--silence-timeout: {} is too short for a measured run; write at least {}",
                         files::exact(request.silence_timeout), to_text(least));
    }
    core::Plan& plan = request.plan;
    plan.detection_time = {};
    if (!plan.outlives_consumers) {
        return;
    }
    if (!request.simulated && request.join.host.empty()) {
        throw UsageError(
            "--on-failure: continue needs --join HOST:PORT: under MPI the death of a rank ends the run; add "
            "that, or use end");
    }
    for (const auto& [asked, what] :
         // UCX 1.13 does not always end a flush of an endpoint that is closed by force, and then nothing
         // shows when the memory of a chunk is free.
         {std::pair(!request.simulated && plan.transport != core::TransportKind::send,
                    "--transport put and get"),
          {plan.builds(), "--pattern build"},
          {plan.pulls(), "--initiation pull"},
          {plan.consumers_grant(), "--policy none"},
          {plan.lossy(), "--transport datagram"},
          {plan.shaping.kind != core::ShapingKind::none, "--shaping"},
          {plan.result_size.kind != DistributionKind::none, "--result-size"},
          {request.network.model == core::NetworkModel::packet, "--network packet"}}) {
        if (asked) {
            throw UsageError("--on-failure: continue does not work with {} yet; use end, or leave that out",
                             what);
        }
    }
    plan.detection_time = request.silence_timeout;
}

void check_roles(const RunRequest& request) {
    const RoleRequest& roles = request.roles;
    if (roles.role) {
        for (const char* option : {"producer-hosts", "consumer-hosts", "scheduler-host", "scheduler-rank",
                                   "producers-per-host", "consumers-per-host"}) {
            if (request.given(option)) {
                throw UsageError("--role: contradicts --{}; give roles in one way only", option);
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
        throw UsageError("--scheduler-rank: {} contradicts --scheduler-host {}; give one of them",
                         roles.scheduler_rank, roles.scheduler_host);
    }
}

void check_busy_consumers(const core::Plan& plan) {
    if (plan.consumers != 0 && !plan.busy_consumers.empty() && plan.busy_consumers.back() >= plan.consumers) {
        throw UsageError("--busy-consumers: there is no consumer {}; write indices from 0 to {}",
                         plan.busy_consumers.back(), plan.consumers - 1);
    }
}

void check_datagram_options(const RunRequest& request) {
    if (!request.plan.lossy()) {
        refuse_without(request, {"socket-buffer", "datagram-network"}, "transport", "--transport datagram");
    }
}

void derive_engine(RunRequest& request) {
    if (request.simulated) {
        return;
    }
    choose_engine(request);
    derive_queue_pairs(request);
    if (request.engine.engine == core::Engine::ucx) {
        return;
    }
    refuse_without(request, {"control-traffic-class", "data-traffic-class", "control-device", "data-device"},
                   "engine", "--engine ucx; MPI has one for all");
    request.engine = {};
}

/// What the heartbeats of all ranks need.
void derive_silence_timeout(RunRequest& request) {
    const core::Plan& plan = request.plan;
    if (request.simulated || plan.producers == 0 || plan.consumers == 0) {
        return;
    }
    const std::int64_t ranks = std::int64_t{plan.producers} + plan.consumers + 1;
    const core::Duration least = core::silence_timeout_least(ranks);
    if (request.silence_timeout >= least) {
        return;
    }
    if (request.given("silence-timeout")) {
        throw UsageError(
            "--silence-timeout: {} is too short for {} ranks; write at least {}: the scheduler takes {} "
            "heartbeats per second, and {} of each rank must fit into the time-out",
            files::exact(request.silence_timeout), ranks, to_text(least), core::heartbeats_per_second_max,
            core::heartbeats_in_timeout);
    }
    request.silence_timeout = least;
}

}  // namespace weir::config
