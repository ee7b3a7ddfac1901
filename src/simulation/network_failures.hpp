// Disturbances of the network itself: the failures of a packet network that they stand for, and whether they
// can be simulated.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "packet/failure.hpp"
#include "simulation/device_names.hpp"
#include "simulation/disturbance.hpp"

namespace weir::simulation {

/// Of a disturbance with is_of_network(). Throws std::invalid_argument with what is wrong: names of devices
/// that do not exist, a rate above that of the link.
packet::FabricFailure failure_of(const Disturbance& disturbance, const packet::Topology& topology,
                                 const DeviceNames& names);

/// Refuses what cannot be simulated: a network without packets, names of nothing, a storm without flow
/// control, hosts that a cut leaves without a way to others, unless the disturbance has `disconnects`.
/// Throws std::invalid_argument with the disturbance and what would be right.
void check_network_failures(const core::Plan& plan, const core::NetworkPlan& network,
                            std::span<const Disturbance> disturbances);

/// With flow control, whether routes allow a deadlock: a sentence for each time at which cuts make them do
/// so, or for the network as it is.
std::vector<std::string> possible_deadlocks(const core::Plan& plan, const core::NetworkPlan& network,
                                            std::span<const Disturbance> disturbances);

}  // namespace weir::simulation
