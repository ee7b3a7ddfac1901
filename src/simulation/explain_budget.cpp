#include "simulation/explain_budget.hpp"

#include <algorithm>

namespace weir::simulation {

double simulation_seconds(const SimulatedRun& run, const show::RunRecord& record) {
    // On a core of about 3 GHz.
    constexpr double transmissions_per_second = 15e6;  // of packets; cli/packet_forecast.cpp
    constexpr double events_per_second = 5e5;
    constexpr double ticks_per_second = 3e6;  // 10 ms of one node
    const core::Plan& plan = run.run.plan;
    const record::Counts totals = show::totals_of(record);
    const double ticks = (plan.warmup + plan.duration).in_seconds() * 100 * (plan.producers + plan.consumers);
    double seconds =
        static_cast<double>(totals.generated.events) / events_per_second + ticks / ticks_per_second;
    if (run.network.model == core::NetworkModel::packet) {
        const double packets = static_cast<double>(totals.generated.bytes.count) /
                               static_cast<double>(std::max<std::int64_t>(1, run.network.mtu.count));
        seconds += 2 * packets / transmissions_per_second;
    }
    return seconds;
}

ExplainBudget explain_budget(Explain explain, double simulation_seconds) {
    constexpr double dear_seconds = 1.5;
    constexpr double cheap_seconds = 0.02;
    constexpr double fast_processor_s = 120;
    constexpr double full_processor_s = 3600;
    switch (explain) {
        case Explain::off:
            return {};
        case Explain::fast:
            if (simulation_seconds > dear_seconds) {
                return {};
            }
            return {.simulations = static_cast<std::size_t>(
                        std::clamp(1 / std::max(simulation_seconds, 1e-6), 24.0, 150.0)),
                    .refines_all = simulation_seconds < cheap_seconds,
                    .processor_s = fast_processor_s};
        case Explain::full:
            return {.simulations = 400, .refines_all = true, .processor_s = full_processor_s};
    }
    return {};
}

}  // namespace weir::simulation
