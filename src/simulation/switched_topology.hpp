// How hosts and switches of a simulation packet by packet are connected, and what they are called.
#pragma once

#include "core/network_plan.hpp"
#include "core/placement.hpp"
#include "core/plan.hpp"
#include "packet/topology.hpp"
#include "simulation/device_names.hpp"

namespace weir::simulation {

/// Ports of the placement are the first nodes. A NIC draws random numbers as the first node of its host does,
/// a further NIC as none.
packet::Topology topology_of(const core::Plan& plan, const core::NetworkPlan& network,
                             const core::Placement& placement);

/// `topology` is that of the others.
DeviceNames device_names(const packet::Topology& topology, const core::NetworkPlan& network,
                         const core::Placement& placement);

}  // namespace weir::simulation
