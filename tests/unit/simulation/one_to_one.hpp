// A small run for tests of the simulator.
#pragma once

#include "core/plan.hpp"
#include "ranks_in_order.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::simulation::test {

/// One producer and one consumer, events of 1 MB, links of 80 Mb/s of payload (an event takes 100 ms).
inline SimulatedRun one_to_one() {
    SimulatedRun run;
    using namespace core;
    Plan& plan = run.run.plan;
    plan.producers = 1;
    plan.consumers = 1;
    plan.interval = Duration::seconds(1);
    plan.rate = {40000000};
    plan.generation = Generation::steady;
    plan.event_size = {.kind = DistributionKind::fixed, .mean = 1e6, .trace = {}};
    plan.slot_size = {1000000};
    plan.chunk_size = {100000};
    plan.buffer = {10000000};
    plan.window = 4;
    plan.slots = 4;
    plan.streams = 2;
    plan.duration = Duration::seconds(10);
    plan.drain = Duration::seconds(5);
    plan.seed = 1;
    run.network = {.producer_link = {80000000},
                   .consumer_link = {80000000},
                   .framing = Framing::none,
                   .mtu = {4096},
                   .latency = Duration::microseconds(10),
                   .scheduler_time = Duration::microseconds(1)};
    return run;
}

inline SimulationResult result_of(SimulatedRun& run) {
    assign_ranks(run);
    return simulate(run);
}

}  // namespace weir::simulation::test
