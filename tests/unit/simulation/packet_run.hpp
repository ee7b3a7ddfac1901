// Runs packet by packet, for tests that say what matters to them and leave the rest.
#pragma once

#include "catch.hpp"
#include "ranks_in_order.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::simulation::test {

/// Over one switch. Times, rate, buffer and generation are the test's.
inline SimulatedRun packet_run(std::uint32_t producers, std::uint32_t consumers, core::BitRate link,
                               std::int64_t event_bytes, std::int64_t chunk_bytes) {
    SimulatedRun run;
    core::Plan& plan = run.run.plan;
    plan.producers = producers;
    plan.consumers = consumers;
    plan.event_size = {
        .kind = core::DistributionKind::fixed, .mean = static_cast<double>(event_bytes), .trace = {}};
    plan.slot_size = {event_bytes};
    plan.chunk_size = {chunk_bytes};
    plan.window = plan.slots = plan.streams = 4;
    plan.seed = 1;
    core::NetworkPlan& network = run.network;
    network.model = core::NetworkModel::packet;
    network.producer_link = network.consumer_link = link;
    network.mtu = {4096};
    network.latency = core::Duration::microseconds(5);
    network.scheduler_time = core::Duration::microseconds(1);
    return run;
}

inline void turn_on_pfc(SimulatedRun& run) {
    run.network.fabric.switches.lossless = core::mask_of(run.network.fabric.data_priority);
}

/// What the run gives, which must end as planned.
inline SimulationResult completed(SimulatedRun& run) {
    assign_ranks(run);
    SimulationResult result = simulate(run);
    INFO(result.end.what);
    REQUIRE(result.end.kind == SimulationEnd::Kind::regular);
    return result;
}

}  // namespace weir::simulation::test
