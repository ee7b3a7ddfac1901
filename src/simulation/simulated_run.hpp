// A whole simulated run with its record and, if wanted, its run directory: what `weir run` does with MPI
// around the same nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/network_plan.hpp"
#include "participant/run_description.hpp"
#include "participant/run_record_builder.hpp"
#include "record/second_collector.hpp"
#include "show/run_record.hpp"
#include "simulation/disturbance.hpp"
#include "simulation/simulator.hpp"

namespace weir::simulation {

struct SimulatedRun {
    /// With an empty `directory` nothing is written.
    participant::RunDescription run;
    core::NetworkPlan network;
    std::vector<Disturbance> disturbances;
    core::Duration silence_timeout = core::Duration::seconds(5);
    bool records_network = true;  ///< what the network's devices count, if it has any
    core::Duration switch_row_length = core::Duration::seconds(1);
    Simulator::SchedulerMaker scheduler{};  ///< tests: another scheduler than weir's
};

/// Called while the simulation goes on; all may be empty.
struct Watchers {
    std::function<void(const record::ClusterSecond&)> second;
    /// Asked every 10 ms of virtual time; a signal's number ends the run, 0 does not.
    std::function<int(core::Instant now)> interruption;
    /// Asked as often, with what has happened so far: false ends the run.
    std::function<bool(const Simulator&)> worth_going_on{};
    /// Asked once, with the record of a run that reached its end, before it is written.
    participant::ExplainRun causes{};
};

struct SimulationResult {
    SimulationEnd end;
    show::RunRecord record;
    int exit_status = 0;
    std::vector<std::string> unmet_requirements;
    std::string cannot_write;  ///< why a file could not be written; empty: all were
};

/// Runs it. Deterministic: the same arguments give the same record and the same files on every machine.
SimulationResult simulate(const SimulatedRun& run, const Watchers& watchers = {});

/// Calls `work` on so many threads and `meanwhile` on this one; returns when all have.
void work_on_threads(std::size_t threads, const std::function<void()>& work,
                     const std::function<void()>& meanwhile);

}  // namespace weir::simulation
