// A run packet by packet over several switches that takes moments to simulate.
#pragma once

#include "simulation/simulated_run.hpp"

namespace weir::simulation::test {

/// Three producers and four consumers of 10 Gb/s at four leaves and two spines; sets of 10 ms, in events of
/// 250 kB.
inline SimulatedRun small_fabric(core::BitRate rate, core::Duration warmup, core::Duration duration) {
    using core::Duration;
    SimulatedRun run;
    core::Plan& plan = run.run.plan;
    plan.producers = 3;
    plan.consumers = 4;
    plan.interval = Duration::milliseconds(10);
    plan.rate = rate;
    plan.generation = core::Generation::sets;
    plan.event_size = {.kind = core::DistributionKind::fixed, .mean = 250e3, .trace = {}};
    plan.slot_size = {250'000};
    plan.chunk_size = {50'000};
    plan.buffer = {50'000'000};
    plan.window = 4;
    plan.slots = 4;
    plan.streams = 2;
    plan.warmup = warmup;
    plan.duration = duration;
    plan.drain = Duration::seconds(2);
    plan.seed = 1;
    core::NetworkPlan& network = run.network;
    network.model = core::NetworkModel::packet;
    network.producer_link = network.consumer_link = {10'000'000'000};
    network.mtu = {4096};
    network.latency = Duration::microseconds(5);
    network.scheduler_time = Duration::microseconds(1);
    network.fabric.topology = {
        .kind = core::TopologyKind::leaf_spine, .leaves = 4, .spines = 2, .uplink_rate = {10'000'000'000}};
    return run;
}

}  // namespace weir::simulation::test
