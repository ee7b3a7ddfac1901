#include "simulation/faster_links.hpp"

#include <algorithm>
#include <cmath>

#include "core/switch_memory.hpp"

namespace weir::simulation {

using core::BitRate;

namespace {

constexpr BitRate fastest_fluid_link{1'000'000'000'000};
/// A short packet takes two nanoseconds there; time has no finer steps than one.
constexpr BitRate fastest_packet_link{400'000'000'000};

constexpr double faster[] = {1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3, 4, 6, 10, 30, 100};

}  // namespace

std::int64_t rounded_up(double value, int digits) {
    const double grain = std::pow(10.0, std::floor(std::log10(std::max(value, 1.0))) - (digits - 1));
    return grain < 1 ? static_cast<std::int64_t>(std::ceil(value))
                     : static_cast<std::int64_t>(std::ceil(value / grain - 1e-9) * grain);
}

BitRate times(BitRate rate, double factor) {
    return {rounded_up(static_cast<double>(rate.bits_per_second) * factor, 2)};
}

BitRate exactly_times(BitRate rate, double factor) {
    return {std::llround(static_cast<double>(rate.bits_per_second) * factor)};
}

std::vector<double> factors_for(const core::NetworkPlan& network, BitRate now) {
    const BitRate fastest =
        network.model == core::NetworkModel::packet ? fastest_packet_link : fastest_fluid_link;
    std::vector<double> factors;
    BitRate last = now;
    for (const double factor : faster) {
        const BitRate wanted = times(now, factor);
        if (wanted > last && (wanted <= fastest || factor <= 4)) {
            factors.push_back(factor);
            last = wanted;
        }
    }
    return factors;
}

void keep_shared_memory(const core::NetworkPlan& before, SimulatedRun& changed) {
    const core::Plan& plan = changed.run.plan;
    const auto headroom = [&plan](const core::NetworkPlan& network) {
        return network.model == core::NetworkModel::packet
                   ? core::largest_headroom(network, plan.producers, plan.consumers).count
                   : 0;
    };
    changed.network.fabric.switches.pool.count += headroom(changed.network) - headroom(before);
}

}  // namespace weir::simulation
