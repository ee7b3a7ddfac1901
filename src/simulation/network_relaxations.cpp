// What a simulated network may be without: traffic of others, and what holds senders back.
#include <utility>

#include "core/network_plan.hpp"
#include "simulation/relaxations.hpp"

namespace weir::simulation {

namespace {

using judge::CauseKind;

Relaxation without(CauseKind what, RelaxedStep step) {
    Relaxation relaxation{.what = what, .where = {}, .steps = {}};
    relaxation.steps.push_back(std::move(step));
    return relaxation;
}

void use_no_control(SimulatedRun& changed) {
    core::NicPlan& nics = changed.network.fabric.nics;
    nics.control = core::PairControl::dcqcn;
    nics.dcqcn.on = false;
}

/// Of queue pairs, what may not let them send though they have something to send.
void add_windows(const core::NicPlan& nics, std::vector<Relaxation>& table) {
    if (nics.window.count > 0) {
        table.push_back(
            without(CauseKind::window,
                    {[](SimulatedRun& changed) { changed.network.fabric.nics.window = {}; },
                     "without a window of the network cards", "network cards without `nic.window`"}));
    }
    if (nics.control == core::PairControl::swift) {
        table.push_back(without(CauseKind::window,
                                {use_no_control, "without Swift's windows", "network cards without Swift"}));
    }
    if (nics.control == core::PairControl::credits) {
        table.push_back(without(CauseKind::window, {use_no_control, "without credits of receivers",
                                                    "network cards without credits of receivers"}));
    }
}

void leave_out_others(SimulatedRun& changed) {
    core::FabricPlan& fabric = changed.network.fabric;
    fabric.background.rate = {};
    for (core::TrafficClass& one : fabric.classes) {
        one.traffic.rate = {};
    }
}

/// What slows senders down after marks or losses: of control messages, too.
void add_slowing(const core::NetworkPlan& network, std::vector<Relaxation>& table) {
    const core::FabricPlan& fabric = network.fabric;
    if (!(network.framing == core::Framing::tcp ? fabric.tcp.ecn : fabric.nics.dcqcn.on)) {
        return;
    }
    const auto apply = [](SimulatedRun& changed) {
        core::FabricPlan& relaxed = changed.network.fabric;
        relaxed.switches.ecn.on = false;
        relaxed.nics.dcqcn.on = false;
    };
    if (fabric.switches.ecn.on) {
        table.push_back(without(CauseKind::ecn, {apply, "without marks and notifications", "--ecn off"}));
    } else {
        table.push_back(
            without(CauseKind::ecn, {apply, "without notifications of losses",
                                     "network cards that losses do not slow down (switch file: [dcqcn] "
                                     "notify-losses)"}));
    }
}

}  // namespace

std::vector<Relaxation> network_relaxations(const SimulatedRun& run) {
    std::vector<Relaxation> table;
    const core::FabricPlan& fabric = run.network.fabric;
    if (run.network.model != core::NetworkModel::packet) {
        return table;
    }
    if (fabric.of_others().bits_per_second > 0) {
        table.push_back(without(CauseKind::other_traffic, {leave_out_others, "without the traffic of others",
                                                           "no traffic of others on these links, or a class "
                                                           "for data that goes before it (switch file: rate, "
                                                           "strict)"}));
    }
    if (core::has_queue_pairs(run.run.plan, run.network)) {
        add_windows(fabric.nics, table);
    }
    if (fabric.switches.lossless != 0) {
        table.push_back(without(CauseKind::pfc, {[](SimulatedRun& changed) {
                                                     core::FabricPlan& relaxed = changed.network.fabric;
                                                     relaxed.switches.lossless = 0;
                                                     relaxed.switches.pauses_whole_links = false;
                                                     relaxed.hosts.pause_above = 0;
                                                 },
                                                 "without flow control", "--pfc off"}));
    }
    add_slowing(run.network, table);
    return table;
}

}  // namespace weir::simulation
