#include "cli/twin_search.hpp"

#include <csignal>
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
/// With packets: they are dear, and chance moves them by more than is corrected.
constexpr std::size_t most_of_packets = 8;
constexpr double least_latency_s = 5e-6;  ///< of a message between hosts
constexpr std::size_t most_in_vain = 6;   ///< in a row without coming nearer

/// Runs that are equal but for what chance makes of marks and losses differ by more.
double like_equal_runs(const twin::ShownRun& run) {
    constexpr double packets = 0.3;
    return run.has_packets() ? packets : twin::like_equal_runs;
}

Twin simulated_twin(const twin::ShownRun& run, const twin::Assumptions& assumptions,
                    std::optional<twin::ShownRun>& shown, const std::function<bool()>& out_of_time) {
    Twin twin;
    twin.assumptions = assumptions;
    twin.options = twin_options(run, assumptions);
    config::RunRequest request = config::resolve(twin.options, true);
    twin.run = simulated_run(request);
    check_simulation_memory(twin.run.run.plan);
    simulation::SimulationResult result = simulation::simulate(
        twin.run,
        {.second = {}, .interruption = [&](core::Instant) {
             return host::caught_signal() != 0 ? host::caught_signal() : out_of_time() ? SIGXCPU : 0;
         }});
    if (const int signal = host::caught_signal()) {
        throw Interrupted{signal};
    }
    if (result.record.status != show::RunStatus::complete) {
        throw TwinFailed{};
    }
    twin.record = std::move(result.record);
    shown = twin::read_record(show::to_json(twin.record));
    twin.comparison = twin::compare(run, *shown);
    return twin;
}

Twin fitted(const twin::ShownRun& run, twin::Limits limits, twin::Correction::Latency latency,
            const std::function<bool()>& out_of_time, const std::function<bool()>& enough) {
    twin::Assumptions assumptions = twin::assumed_of(run, limits);
    if (latency == twin::Correction::Latency::none) {
        assumptions.latency_s = least_latency_s;
    }
    twin::Correction correction(run, latency);
    std::optional<twin::ShownRun> shown;
    Twin best = simulated_twin(run, assumptions, shown, out_of_time);
    std::size_t simulations = 1;
    std::size_t better_at = 1;
    try {
        const std::size_t most = run.has_packets() ? most_of_packets : most_simulations;
        while (simulations < most && simulations - better_at < most_in_vain && !enough() &&
               correction.correct(assumptions, *shown)) {
            Twin next = simulated_twin(run, assumptions, shown, out_of_time);
            ++simulations;
            if (next.comparison.misfit() < best.comparison.misfit()) {
                best = std::move(next);
                better_at = simulations;
            }
        }
    } catch (const TwinFailed&) {
        // The best so far, then.
    }
    best.simulations = simulations;
    return best;
}

}  // namespace

Twin nearest_twin(const twin::ShownRun& run, twin::Limits limits, const std::function<bool()>& out_of_time,
                  const std::function<bool()>& enough) {
    using Latency = twin::Correction::Latency;
    Twin twin = fitted(run, limits, Latency::from_slots, out_of_time, enough);
    std::size_t simulations = twin.simulations;
    for (const Latency latency : {Latency::from_waiting, Latency::none}) {
        if (twin.comparison.misfit() < like_equal_runs(run) || enough()) {
            break;
        }
        Twin other = fitted(run, limits, latency, out_of_time, enough);
        simulations += other.simulations;
        if (other.comparison.misfit() < twin.comparison.misfit()) {
            twin = std::move(other);
        }
    }
    twin.simulations = simulations;
    twin::add_slow_links(twin.comparison, run, twin.assumptions);
    return twin;
}

}  // namespace weir::cli
