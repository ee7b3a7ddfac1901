// The ideal completion time of phases: what no schedule, no balancing and no congestion control can beat.
//
// The network is cut wherever traffic must pass: at the NICs of each host (by rail: at each NIC), at all
// cables upwards of a leaf, and of a pod. A cut needs the payload that has to pass it in one direction, over
// the rate at which its cables carry payload together, as if they were shared perfectly. The ideal is that of
// the slowest cut. What stays in a host needs the host's memory, one transfer after the other.
//
// With equal cables this is reached but for latencies (max-flow min-cut). Where cables of a tier have speeds
// of their own it is a lower bound: what leaves one leaf quickly may have to enter another one slowly.
// Rejected: an exact maximum concurrent flow, a linear program that differs only there.
#pragma once

#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"

namespace weir::core {

/// By phase of the plan's traffic, which is addressed. A fluid without a fabric has the links of ranks only.
std::vector<Duration> ideal_phase_times(const Plan& plan, const NetworkPlan& network);

}  // namespace weir::core
