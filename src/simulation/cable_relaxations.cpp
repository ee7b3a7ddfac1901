// Cables between switches: packets spread over all of them, and faster ones, those of the usual speed and
// those that have a speed of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "core/fabric_layout.hpp"
#include "core/network_plan.hpp"
#include "core/topology_plan.hpp"
#include "files/formatting.hpp"
#include "simulation/faster_links.hpp"
#include "simulation/relaxations.hpp"

namespace weir::simulation {

namespace {

using core::BitRate;
using core::Bytes;
using files::readable;
using judge::CauseKind;

constexpr std::size_t most_own_cables = 8;
constexpr Bytes reorder_room{1'000'000};  ///< for packets that overtake each other

BitRate usual_rate(const core::TopologyPlan& topology, const core::OwnCables& own) {
    return own.upper.tier == core::Tier::core ? topology.core_rate : topology.uplink_rate;
}

/// Slower than the others, the slowest first; by their place in the plan.
std::vector<std::size_t> slow_cables(const core::TopologyPlan& topology) {
    std::vector<std::size_t> slow;
    for (std::size_t i = 0; i < topology.own_cables.size(); ++i) {
        if (topology.own_cables[i].rate < usual_rate(topology, topology.own_cables[i])) {
            slow.push_back(i);
        }
    }
    std::stable_sort(slow.begin(), slow.end(), [&](std::size_t a, std::size_t b) {
        return topology.own_cables[a].rate < topology.own_cables[b].rate;
    });
    return slow;
}

RelaxedStep with_rates(std::vector<std::size_t> which, double factor, std::string with, std::string remedy) {
    return {[which = std::move(which), factor](SimulatedRun& changed) {
                const core::NetworkPlan before = changed.network;
                const auto faster = which.size() == 1 ? times : exactly_times;
                for (const std::size_t index : which) {
                    BitRate& rate = changed.network.fabric.topology.own_cables[index].rate;
                    rate = faster(rate, factor);
                }
                keep_shared_memory(before, changed);
            },
            std::move(with), std::move(remedy) + " ([topology] own-rates)"};
}

Relaxation faster_cable(const core::NetworkPlan& network, std::size_t index) {
    Relaxation relaxation{.what = CauseKind::uplinks, .where = {}, .steps = {}};
    const core::OwnCables& own = network.fabric.topology.own_cables[index];
    const std::string name = fmt::format("{}:{}", core::switch_text(own.lower), core::switch_text(own.upper));
    for (const double factor : factors_for(network, own.rate)) {
        const std::string wanted = readable(times(own.rate, factor));
        relaxation.steps.push_back(
            with_rates({index}, factor,
                       fmt::format("with {} on the cable {} instead of {}", wanted, name, readable(own.rate)),
                       fmt::format("{} on the cable {}", wanted, name)));
    }
    return relaxation;
}

Relaxation faster_own_cables(const core::NetworkPlan& network, const std::vector<std::size_t>& slow) {
    Relaxation relaxation{.what = CauseKind::uplinks, .where = {}, .steps = {}};
    for (const double factor : factors_for(network, network.fabric.topology.own_cables[slow.front()].rate)) {
        const std::string as_fast = fmt::format("slow cables {} times as fast", factor);
        relaxation.steps.push_back(with_rates(slow, factor, "with " + as_fast, as_fast));
    }
    return relaxation;
}

/// All that have no speed of their own.
Relaxation faster_uplinks(const core::NetworkPlan& network) {
    Relaxation relaxation{.what = CauseKind::uplinks, .where = {}, .steps = {}};
    for (const double factor : factors_for(network, network.fabric.topology.uplink_rate)) {
        const std::string as_fast = fmt::format("cables between switches {} times as fast", factor);
        relaxation.steps.push_back({[factor](SimulatedRun& changed) {
                                        const core::NetworkPlan before = changed.network;
                                        core::TopologyPlan& topology = changed.network.fabric.topology;
                                        topology.uplink_rate = exactly_times(topology.uplink_rate, factor);
                                        topology.core_rate = exactly_times(topology.core_rate, factor);
                                        keep_shared_memory(before, changed);
                                    },
                                    "with " + as_fast, as_fast + " ([topology] uplink-rate, core-rate)"});
    }
    return relaxation;
}

}  // namespace

std::vector<Relaxation> spreading_relaxations(const SimulatedRun& run) {
    const core::FabricPlan& fabric = run.network.fabric;
    const core::TopologyPlan& topology = fabric.topology;
    const bool several_ways =
        topology.kind == core::TopologyKind::three_tier ||
        (topology.kind != core::TopologyKind::star && topology.spines * topology.uplinks > 1);
    if (!core::has_fabric(run.network) || !several_ways || fabric.switches.balancing.spreads_fluid()) {
        return {};
    }
    // With NICs that know only order, packets that overtake each other would be sent again.
    const bool keeps = core::has_queue_pairs(run.run.plan, run.network) && fabric.nics.reorder.count == 0;
    Relaxation relaxation{.what = CauseKind::uplinks, .where = {}, .steps = {}};
    relaxation.steps.push_back({[keeps](SimulatedRun& changed) {
                                    changed.network.fabric.switches.balancing.kind =
                                        core::BalancingKind::spray;
                                    if (keeps) {
                                        changed.network.fabric.nics.reorder = reorder_room;
                                    }
                                },
                                "with packets spread evenly over all ways between switches",
                                fmt::format("packets spread over all ways ([balancing] kind = \"spray\"{})",
                                            keeps ? ", [nic] reorder = \"1MB\"" : "")});
    return {std::move(relaxation)};
}

std::vector<Relaxation> cable_relaxations(const core::NetworkPlan& network) {
    std::vector<Relaxation> table;
    const std::vector<std::size_t> slow = slow_cables(network.fabric.topology);
    for (std::size_t i = 0; i < std::min(slow.size(), most_own_cables); ++i) {
        table.push_back(faster_cable(network, slow[i]));
    }
    if (slow.size() > 1) {
        table.push_back(faster_own_cables(network, slow));
    }
    table.push_back(faster_uplinks(network));
    return table;
}

}  // namespace weir::simulation
