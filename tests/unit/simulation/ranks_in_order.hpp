// The layout of simulated runs in tests.
#pragma once

#include <cstdint>
#include <vector>

#include "core/role_map.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::simulation::test {

/// A rank for each node of the plan: the scheduler, then the producers, then the consumers.
inline void assign_ranks(SimulatedRun& run) {
    std::vector<core::NodeId> nodes{core::scheduler_node()};
    for (std::uint32_t producer = 0; producer < run.run.plan.producers; ++producer) {
        nodes.push_back({core::Role::producer, producer});
    }
    for (std::uint32_t consumer = 0; consumer < run.run.plan.consumers; ++consumer) {
        nodes.push_back({core::Role::consumer, consumer});
    }
    run.run.roles = core::RoleMap(nodes);
    run.run.rank_hosts.resize(nodes.size());
}

}  // namespace weir::simulation::test
