// What may hold a simulated run up, each with the ways in which it can be relaxed: more slots, faster links,
// no fault. A table over the plan, the network and the disturbances; counterfactuals.hpp simulates what it
// offers.
//
// A relaxation has steps, from a little less tight to so wide that it is no limit any more. The widest
// decides whether this is a cause; the others are tried for a remedy that can be had.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "judge/causes.hpp"
#include "simulation/disturbance.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::simulation {

struct RelaxedStep {
    std::function<void(SimulatedRun&)> apply;
    std::string with;    ///< "with 3 slots instead of 1", "if consumer 0 had not stood still"
    std::string remedy;  ///< "--slots 3"
    /// The same as options, {"slots", "3"}; empty: options alone are not it.
    std::vector<judge::RemedyOption> options{};
};

struct Relaxation {
    judge::CauseKind what = judge::CauseKind::not_told;
    std::optional<core::NodeId> where;  ///< the rank that it concerns; nothing: all of a role, or none
    std::vector<RelaxedStep> steps;     ///< the tightest first, one at least
    /// Takes away what broke: there is no amount of it that could be too small by a little.
    bool ends_fault = false;
    /// A count: more than enough of it may harm, as streams that share what few use better.
    bool can_be_too_much = false;
};

/// Of one cause, a step for each of the values, the tightest first.
template <typename Values, typename Step>
Relaxation in_steps(judge::CauseKind what, const Values& values, const Step& step) {
    Relaxation relaxation{.what = what, .where = {}, .steps = {}};
    for (const auto& value : values) {
        relaxation.steps.push_back(step(value));
    }
    return relaxation;
}
/// What can only be left out.
inline Relaxation without(judge::CauseKind what, RelaxedStep step) {
    return {.what = what, .where = {}, .steps = {std::move(step)}};
}
/// Appends those that have a step.
inline void append(std::vector<Relaxation>& table, std::vector<Relaxation> more) {
    std::copy_if(std::move_iterator(more.begin()), std::move_iterator(more.end()), std::back_inserter(table),
                 [](const Relaxation& relaxation) { return !relaxation.steps.empty(); });
}

/// With so many significant digits, upwards.
std::int64_t rounded_up(double value, int digits);

/// All that apply to the run, those with the cheapest remedy first: what is broken, options of the run, the
/// scheduler and processing, the links of single ranks, memory, and all links last. At most some forty.
std::vector<Relaxation> relaxations_of(const SimulatedRun& run);

// Its parts on the network.

/// Without traffic of others, or what network cards and switches do to hold senders back; with packets spread
/// over several ways between switches.
std::vector<Relaxation> network_relaxations(const SimulatedRun& run);
/// Faster links for ranks whose links are slower than those of the others.
std::vector<Relaxation> own_link_relaxations(const core::NetworkPlan& network);
/// More memory of switches, and more room at receiving hosts: packets in rings of NICs, datagrams in sockets.
std::vector<Relaxation> memory_relaxations(const SimulatedRun& run);
/// All links of a role, then cables between switches: each that is slower than the others, then all.
std::vector<Relaxation> link_relaxations(const core::NetworkPlan& network);

/// Its part on disturbances, the run without them. One for all of one kind and node; where several nodes have
/// some of one kind, also one for all of them. At most some twenty.
std::vector<Relaxation> fault_relaxations(std::span<const Disturbance> disturbances);

}  // namespace weir::simulation
