#include "simulation/margin.hpp"

#include <algorithm>
#include <cmath>

#include "core/distribution.hpp"

namespace weir::simulation {

namespace {

void slow_down(core::BitRate& link) {
    // 0 is a link that is not there.
    link.bits_per_second =
        link.bits_per_second == 0
            ? 0
            : std::max<std::int64_t>(1,
                                     std::llround(static_cast<double>(link.bits_per_second) * (1 - margin)));
}

void lengthen(core::Duration& time) {
    time.ns = std::llround(static_cast<double>(time.ns) * (1 + margin));
}

/// As twin::with_margin does it with what is assumed, of a run of which something is relaxed already.
void make_harder(SimulatedRun& run, std::uint32_t seed) {
    core::NetworkPlan& network = run.network;
    slow_down(network.producer_link);
    slow_down(network.consumer_link);
    for (auto* own : {&network.own_producer_links, &network.own_consumer_links}) {
        for (core::OwnLinks& some : *own) {
            slow_down(some.rate);
        }
    }
    core::TopologyPlan& topology = network.fabric.topology;
    slow_down(topology.uplink_rate);
    slow_down(topology.core_rate);
    for (core::OwnCables& cable : topology.own_cables) {
        slow_down(cable.rate);
    }
    lengthen(network.latency);
    lengthen(network.scheduler_time);
    core::scale(run.run.plan.busy, 1 + margin);
    run.run.plan.seed += seed;
}

}  // namespace

std::vector<RunChange> margin_conditions() {
    std::vector<RunChange> conditions;
    conditions.reserve(margin_seeds);
    for (std::uint32_t seed = 0; seed < margin_seeds; ++seed) {
        conditions.emplace_back([seed](SimulatedRun& changed) { make_harder(changed, seed); });
    }
    return conditions;
}

}  // namespace weir::simulation
