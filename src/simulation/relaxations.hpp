// What may hold a simulated run up, each with the ways in which it can be relaxed: more slots, faster links,
// no fault. A table over the plan, the network and the disturbances; counterfactuals.hpp simulates what it
// offers.
//
// A relaxation has steps, from a little less tight to so wide that it is no limit any more. The widest
// decides whether this is a cause; the others are tried for a remedy that can be had.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "judge/causes.hpp"
#include "simulation/disturbance.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::simulation {

struct RelaxedStep {
    std::function<void(SimulatedRun&)> apply;
    std::string with;    ///< "with 3 slots instead of 1", "if consumer 0 had not stood still"
    std::string remedy;  ///< "--slots 3"
};

struct Relaxation {
    judge::CauseKind what = judge::CauseKind::not_told;
    std::optional<core::NodeId> where;  ///< the rank that it concerns; nothing: all of a role, or none
    std::vector<RelaxedStep> steps;     ///< the tightest first, one at least
    /// Takes away what broke: there is no amount of it that could be too small by a little.
    bool ends_fault = false;
};

/// All that apply to the run, those with the cheapest remedy first: what is broken, options of the run, the
/// scheduler and processing, the links of single ranks, memory, and all links last. At most some forty.
std::vector<Relaxation> relaxations_of(const SimulatedRun& run);

/// Its part on traffic of others, and on what network cards and switches do to hold senders back: the run
/// without that.
std::vector<Relaxation> network_relaxations(const SimulatedRun& run);

/// Its part on what receiving hosts have no room for: packets in rings of NICs, datagrams in sockets.
std::vector<Relaxation> host_relaxations(const core::HostPlan& hosts);

/// Its part on several ways between switches, of which flows take one each: none where packets are spread
/// already, or have one way only.
std::vector<Relaxation> spreading_relaxations(const SimulatedRun& run);

/// Its part on cables between switches: each that is slower than the others, then all.
std::vector<Relaxation> cable_relaxations(const core::NetworkPlan& network);

/// Its part on memory of switches and hosts.
std::vector<Relaxation> memory_relaxations(const SimulatedRun& run);

/// Its part on disturbances, the run without them. One for all of one kind and node; where several nodes have
/// some of one kind, also one for all of them. At most some twenty.
std::vector<Relaxation> fault_relaxations(std::span<const Disturbance> disturbances);

}  // namespace weir::simulation
