// How hosts and switches of a simulated fabric are connected, what they are called, and how flows are hashed.
#pragma once

#include "core/network_plan.hpp"
#include "core/placement.hpp"
#include "core/plan.hpp"
#include "packet/topology.hpp"
#include "simulation/device_names.hpp"
#include "simulation/network.hpp"

namespace weir::simulation {

/// Ports of the placement are the first nodes. A NIC draws random numbers as the first node of its host does,
/// a further NIC as none.
packet::Topology topology_of(const core::Plan& plan, const core::NetworkPlan& network,
                             const core::Placement& placement);

/// `topology` is that of the others.
DeviceNames device_names(const packet::Topology& topology, const core::NetworkPlan& network,
                         const core::Placement& placement);

/// By which number a flow between two ranks is hashed, `number` among those of its pair: where hosts have
/// several ranks, pairs have numbers apart.
std::uint32_t hashed_number(const core::Placement& placement, const NodeRow& row, FlatNode from, FlatNode to,
                            std::uint32_t number);

}  // namespace weir::simulation
