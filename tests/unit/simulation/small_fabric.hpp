// A run packet by packet over several switches that takes moments to simulate.
#pragma once

#include "packet_run.hpp"

namespace weir::simulation::test {

/// Three producers and four consumers of 10 Gb/s at four leaves and two spines; sets of 10 ms, in events of
/// 250 kB.
inline SimulatedRun small_fabric(core::BitRate rate, core::Duration warmup, core::Duration duration) {
    using core::Duration;
    SimulatedRun run = packet_run(3, 4, {10'000'000'000}, 250'000, 50'000);
    core::Plan& plan = run.run.plan;
    plan.interval = Duration::milliseconds(10);
    plan.rate = rate;
    plan.generation = core::Generation::sets;
    plan.buffer = {50'000'000};
    plan.streams = 2;
    plan.warmup = warmup;
    plan.duration = duration;
    plan.drain = Duration::seconds(2);
    run.network.fabric.topology = {
        .kind = core::TopologyKind::leaf_spine, .leaves = 4, .spines = 2, .uplink_rate = {10'000'000'000}};
    return run;
}

}  // namespace weir::simulation::test
