// What can wait for cables between switches, for the pressure of a plan.
//
// Into one part of the fabric (a leaf, a pod) goes at most what its consumers have slots for, out of it what
// its producers have streams for, and never more than the other side of it has. Where flows keep their way, a
// hash may send all of that through one cable. Where each packet goes the next way in turn, a chunk of p
// packets has at most (p - 2) / n + 2 of them on one of n ways: rounds take each way once, and a chunk may
// begin and end within a round. Chunks count, and not packets of a flow: those of a chunk that have arrived
// have left their cables, while others wait.
//
// Rejected: the same for `adaptive`, whose switches balance their own queues, but not what meets in the next.
#pragma once

#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/port_queues.hpp"

namespace weir::core {

/// Of a topology of several switches. `disturbed`: routes may be others than planned.
std::vector<PortQueue> uplink_queues(const Plan& plan, const NetworkPlan& network, const RanksPerPort& ranks,
                                     bool disturbed);

}  // namespace weir::core
