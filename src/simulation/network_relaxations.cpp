// What a simulated network may be without: traffic of others, and what holds senders back; and the memory
// that it may have more of.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/network_plan.hpp"
#include "core/switch_memory.hpp"
#include "files/formatting.hpp"
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

/// As options have it.
std::string power_of_two_text(core::Bytes size) {
    constexpr std::int64_t kibi = 1024;
    return size.count % (kibi * kibi) == 0 ? fmt::format("{}MiB", size.count / (kibi * kibi))
           : size.count % kibi == 0        ? fmt::format("{}KiB", size.count / kibi)
                                           : fmt::format("{}B", size.count);
}

/// More of what holds packets, which is the memory that ports share, or the size of a port's queues.
RelaxedStep larger_switch(const core::NetworkPlan& network, std::int64_t factor) {
    const core::SwitchPlan& now = network.fabric.switches;
    const bool shared = now.pool < core::endless_pool;
    const auto apply = [factor, shared](SimulatedRun& changed) {
        core::SwitchPlan& switches = changed.network.fabric.switches;
        switches.pool = switches.pool * (shared ? factor : 1);
        switches.egress_threshold = switches.egress_threshold * factor;
        switches.ingress_threshold = switches.ingress_threshold * factor;
    };
    const core::Bytes queue = now.egress_threshold * factor;
    if (!shared) {
        return {apply,
                fmt::format("with {} for each queue of a switch port instead of {}", power_of_two_text(queue),
                            power_of_two_text(now.egress_threshold)),
                "--port-buffer " + power_of_two_text(queue)};
    }
    std::string with = fmt::format("with {} of memory in a switch instead of {}",
                                   files::readable(now.pool * factor), files::readable(now.pool));
    std::string remedy = fmt::format("switches with {} of memory", files::readable(now.pool * factor));
    if (queue.count > 0) {
        const std::string queues = fmt::format(" and {} for a queue of a port", files::readable(queue));
        with += queues;
        remedy += queues + " (switch file: pool, egress-threshold)";
    }
    return {apply, std::move(with), std::move(remedy)};
}

}  // namespace

std::vector<Relaxation> memory_relaxations(const SimulatedRun& run) {
    std::vector<Relaxation> table;
    if (run.network.model != core::NetworkModel::packet) {
        return table;
    }
    Relaxation larger{.what = CauseKind::switch_loss, .where = {}, .steps = {}};
    for (const std::int64_t factor : {2, 4, 8, 16, 32, 100}) {
        larger.steps.push_back(larger_switch(run.network, factor));
    }
    table.push_back(std::move(larger));
    for (Relaxation& relaxation : host_relaxations(run.network.fabric.hosts)) {
        table.push_back(std::move(relaxation));
    }
    return table;
}

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
