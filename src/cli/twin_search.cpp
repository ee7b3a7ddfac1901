#include "cli/twin_search.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/simulation_setup.hpp"
#include "cli/twin_options.hpp"
#include "config/resolve.hpp"
#include "config/usage_error.hpp"
#include "host/signals.hpp"

namespace weir::cli {

namespace {

/// Most that is simulated: each correction halves what is missing, or nearly so.
constexpr std::size_t most_simulations = 20;
constexpr double least_latency_s = 5e-6;  ///< of a message between hosts
constexpr std::size_t most_in_vain = 6;   ///< in a row without coming nearer

Twin simulated_twin(const twin::ShownRun& run, const twin::Assumptions& assumptions,
                    std::optional<twin::ShownRun>& shown) {
    Twin twin;
    twin.assumptions = assumptions;
    twin.options = twin_options(run, assumptions);
    config::RunRequest request = config::resolve(twin.options, true);
    twin.run = simulated_run(request);
    check_simulation_memory(twin.run.run.plan);
    simulation::SimulationResult result = simulation::simulate(
        twin.run, {.second = {}, .interruption = [](core::Instant) { return host::caught_signal(); }});
    if (const int signal = host::caught_signal()) {
        throw Interrupted{signal};
    }
    if (result.record.status != show::RunStatus::complete) {
        throw config::UsageError("the twin cannot be simulated: " +
                                 (result.record.failure ? result.record.failure->what : "it did not end"));
    }
    twin.record = std::move(result.record);
    shown = twin::read_record(show::to_json(twin.record));
    twin.comparison = twin::compare(run, *shown);
    return twin;
}

Twin fitted(const twin::ShownRun& run, twin::Limits limits, twin::Correction::Latency latency) {
    twin::Assumptions assumptions = twin::assumed_of(run, limits);
    if (latency == twin::Correction::Latency::none) {
        assumptions.latency_s = least_latency_s;
    }
    twin::Correction correction(run, latency);
    std::optional<twin::ShownRun> shown;
    Twin best = simulated_twin(run, assumptions, shown);
    std::size_t simulations = 1;
    std::size_t better_at = 1;
    while (simulations < most_simulations && simulations - better_at < most_in_vain &&
           correction.correct(assumptions, *shown)) {
        Twin next = simulated_twin(run, assumptions, shown);
        ++simulations;
        if (next.comparison.worst().excess() < best.comparison.worst().excess()) {
            best = std::move(next);
            better_at = simulations;
        }
    }
    best.simulations = simulations;
    return best;
}

}  // namespace

Twin nearest_twin(const twin::ShownRun& run, twin::Limits limits) {
    using Latency = twin::Correction::Latency;
    Twin twin = fitted(run, limits, Latency::from_slots);
    std::size_t simulations = twin.simulations;
    for (const Latency latency : {Latency::from_waiting, Latency::none}) {
        if (twin.comparison.near()) {
            break;
        }
        Twin other = fitted(run, limits, latency);
        simulations += other.simulations;
        if (other.comparison.worst().excess() < twin.comparison.worst().excess()) {
            twin = std::move(other);
        }
    }
    twin.simulations = simulations;
    twin::add_slow_links(twin.comparison, run, twin.assumptions);
    return twin;
}

Twin twin_with(const twin::ShownRun& run, const twin::Assumptions& assumptions) {
    std::optional<twin::ShownRun> shown;
    Twin twin = simulated_twin(run, assumptions, shown);
    twin.simulations = 1;
    twin::add_slow_links(twin.comparison, run, assumptions);
    return twin;
}

}  // namespace weir::cli
