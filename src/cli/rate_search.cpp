#include "cli/rate_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cli/simulation_setup.hpp"
#include "config/distributions.hpp"
#include "config/limits.hpp"
#include "config/quantities.hpp"
#include "config/resolve.hpp"
#include "config/usage_error.hpp"
#include "host/signals.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::cli {

namespace {

using config::GivenOption;
using config::RunRequest;
using config::UsageError;

constexpr double bits_per_byte_ns = 8e9;

struct StoppedBySignal {};

/// Five significant digits: more than the precision, and readable.
double rounded(double value) {
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - 4);
    return unit > 1 ? std::round(value / unit) * unit : std::round(value);
}

void check_base(const RunRequest& base) {
    if (base.scale.numerator != base.scale.denominator) {
        throw UsageError("--scale: a limit is looked for at full scale; leave it out");
    }
    if (base.plan.generation == core::Generation::saturate) {
        throw UsageError("--generation saturate has no rate to sustain; use sets or steady");
    }
    if (base.traffic.form != config::TrafficDescription::Form::none) {
        throw UsageError(
            fmt::format("the rate cannot be varied, because {} says how much each producer generates",
                        base.traffic.file));
    }
}

/// The run as asked for, its nodes counted.
RunRequest laid_out(const std::vector<GivenOption>& options) {
    RunRequest base = config::resolve(options, true);
    simulated_run(base);
    check_base(base);
    return base;
}

/// Requirements would refuse runs that a search may pass through.
std::vector<GivenOption> without_requirements(std::vector<GivenOption> options) {
    options.push_back({"require", "none"});
    return options;
}

class RateBisection {
  public:
    RateBisection(const RateSearch& request, const std::vector<GivenOption>& options)
        : request_(request),
          options_(without_requirements(options)),
          base_(laid_out(options_)),
          whole_events_(base_.plan.generation == core::Generation::sets &&
                        base_.plan.event_size.kind == core::DistributionKind::fixed) {}

    FindResult carry_out() {
        return find_limit(space(), [this](double value) { return measure(value); });
    }

  private:
    /// The search is for a rate, or for a number of whole events per set.
    [[nodiscard]] SearchSpace space() const {
        const core::Plan& plan = base_.plan;
        SearchSpace space{.start = static_cast<double>(plan.rate.bits_per_second),
                          .whole = whole_events_,
                          .precision = request_.precision,
                          .least = 1,
                          .most = static_cast<double>(config::fastest_rate.bits_per_second)};
        if (whole_events_) {
            space.start =
                std::max(1.0, std::round(static_cast<double>(plan.set_bytes().count) / plan.event_size.mean));
            space.most = std::max(1.0, std::floor(space.most / rate_of_one_event()));
        }
        const double most = space.start * request_.most;
        space.most = std::min(space.most, space.whole ? std::floor(most) : most);
        return space;
    }

    [[nodiscard]] double rate_of_one_event() const {
        return base_.plan.event_size.mean * bits_per_byte_ns / static_cast<double>(base_.plan.interval.ns);
    }

    /// With whole events rounded down: a set of one byte more would have one event more.
    [[nodiscard]] core::BitRate rate_of(double value) const {
        return {whole_events_ ? static_cast<std::int64_t>(std::floor(value * rate_of_one_event()))
                              : std::llround(rounded(value))};
    }

    FindPoint measure(double value) {
        FindPoint point;
        point.value = value;
        point.text = config::to_text(rate_of(value));
        try {
            for (std::uint32_t seed = 0; seed < request_.seeds; ++seed) {
                one_seed(point, base_.plan.seed + seed);
                if (host::caught_signal() != 0) {
                    throw StoppedBySignal{};
                }
            }
        } catch (const UsageError& error) {
            point.refused = error.what();
        }
        return point;
    }

    void one_seed(FindPoint& point, std::uint64_t seed) {
        std::vector<GivenOption> options{
            {"event-size", config::event_size_text({base_.plan.event_size, base_.event_size_trace})},
            {"rate", point.text},
            {"seed", fmt::format("{}", seed)}};
        const std::size_t changed = options.size();
        std::copy_if(options_.begin(), options_.end(), std::back_inserter(options),
                     [&, changed](const GivenOption& option) {
                         return std::none_of(
                             options.begin(), options.begin() + static_cast<std::ptrdiff_t>(changed),
                             [&](const GivenOption& other) { return other.name == option.name; });
                     });
        RunRequest request = config::resolve(options, true);
        const simulation::SimulatedRun run = simulated_run(request);
        check_simulation_memory(run.run.plan);
        const simulation::SimulationResult result = simulation::simulate(
            run, {.second = {}, .interruption = [](core::Instant) { return host::caught_signal(); }});
        const judge::Verdict& verdict = result.record.verdict;
        ++point.seeds;
        point.held += verdict.judged && verdict.sustained && verdict.on_time.value_or(false) ? 1U : 0U;
    }

    const RateSearch& request_;
    std::vector<GivenOption> options_;
    RunRequest base_;
    bool whole_events_;
};

}  // namespace

FoundRate find_rate(const RateSearch& request, const std::vector<GivenOption>& options) {
    RateBisection search(request, options);
    FoundRate found;
    try {
        found.result = search.carry_out();
    } catch (const StoppedBySignal&) {
        found.interrupted = true;
    }
    return found;
}

}  // namespace weir::cli
