#include "cli/find_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <string_view>

#include "cli/find_report.hpp"
#include "cli/find_values.hpp"
#include "cli/forecast.hpp"
#include "cli/limit_search.hpp"
#include "cli/simulation_setup.hpp"
#include "config/checks.hpp"
#include "config/resolve.hpp"
#include "config/usage_error.hpp"
#include "participant/exit_status.hpp"
#include "runtime/signals.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::cli {

namespace {

using config::GivenOption;
using config::RunRequest;
using config::UsageError;

/// What a search cannot use, or would not heed.
void check_search_options(const FindRequest& request, const std::vector<GivenOption>& options) {
    for (const GivenOption& option : options) {
        if (option.name == "dry-run") {
            throw UsageError(
                "--dry-run: cannot be combined with --find; without --find it shows the run that the search "
                "begins with");
        }
        if (option.name == "require") {
            throw UsageError(
                "--require: cannot be combined with --find, which searches for what is sustained; exit "
                "status 3 means that no value is sustained");
        }
        if (request.what == "consumers" &&
            (option.name == "consumer-hosts" || option.name == "consumers-per-host")) {
            throw UsageError(fmt::format(
                "--{}: sets the number of consumers, which --find consumers varies; use --consumers",
                option.name));
        }
    }
}

void check_base(const FindRequest& request, const RunRequest& base) {
    if (base.scale.numerator != base.scale.denominator) {
        throw UsageError("--find: cannot be combined with --scale; look for the limit at full scale");
    }
    if (base.plan.generation == core::Generation::saturate) {
        throw UsageError("--find: --generation saturate has no rate to sustain; use sets or steady");
    }
    if (request.what == "rate" && base.traffic.form != config::TrafficDescription::Form::none) {
        throw UsageError(
            fmt::format("--find: rate cannot be varied, because {} says how much each producer generates; "
                        "find busy, slots or streams",
                        base.traffic.file));
    }
    if (request.what == "busy" && (base.plan.busy.kind == core::DistributionKind::none ||
                                   base.plan.busy.kind == core::DistributionKind::trace)) {
        throw UsageError("--find: busy needs a --busy to vary, such as --busy poisson:100ms,quantum=20ms");
    }
}

/// The run as asked for, its nodes counted.
RunRequest laid_out(const FindRequest& request, const std::vector<GivenOption>& options) {
    RunRequest base = config::resolve(options, true);
    simulated_run(base);
    check_base(request, base);
    if (!base.out.empty()) {
        config::check_run_directory(base.out);
    }
    return base;
}

/// Requirements would refuse runs that a search may pass through.
std::vector<GivenOption> without_requirements(std::vector<GivenOption> options) {
    options.push_back({"require", "none"});
    return options;
}

class Search {
  public:
    Search(const FindRequest& request, const std::vector<GivenOption>& options)
        : request_(request),
          options_(without_requirements(options)),
          base_(laid_out(request, options_)),
          values_(request.what, request.events, base_) {}

    FindResult search(bool shows) {
        shows_ = shows;
        SearchSpace space = values_.space();
        space.precision = request_.precision;
        if (request_.most > 0) {
            const double most = space.start * request_.most;
            space.most = std::min(space.most, space.whole ? std::floor(most) : most);
        }
        return find_limit(space, [this](double value) { return measure(value); });
    }
    [[nodiscard]] std::vector<std::string> statements() const { return values_.statements(); }

    struct Interrupted {
        int signal;
    };

    int carry_out() {
        runtime::install_signal_handlers();
        FindReport report;
        report.search = &values_;
        report.seeds = request_.seeds;
        report.precision = request_.precision;
        try {
            report.result = search(request_.output == config::OutputForm::text);
        } catch (const Interrupted& interrupted) {
            fmt::print(stderr, "weir simulate: interrupted, the limit was not found\n");
            return participant::exit_signal_base + interrupted.signal;
        }
        if (!report.result.best) {
            report.warnings = forecast(base_).warnings;
        }
        const std::string json = find_json(report, base_);
        const bool as_json = request_.output == config::OutputForm::json;
        fmt::print("{}", as_json ? json : find_text(report));
        std::fflush(stdout);
        if (!base_.out.empty()) {
            if (const auto error = write_find_directory(base_.out, json)) {
                fmt::print(stderr, "weir simulate: {}\n", *error);
                return participant::exit_failed;
            }
        }
        return report.result.best ? participant::exit_ok : participant::exit_requirement;
    }

  private:
    FindPoint measure(double value) {
        FindPoint point;
        point.value = value;
        try {
            const std::vector<GivenOption> varied = values_.options_of(value, point);
            for (std::uint32_t seed = 0; seed < request_.seeds; ++seed) {
                one_seed(point, varied, base_.plan.seed + seed);
                if (const int signal = runtime::caught_signal()) {
                    throw Interrupted{signal};
                }
            }
        } catch (const UsageError& error) {
            point.refused = error.what();
        }
        if (shows_) {
            fmt::print(stderr, "weir simulate: {}\n", point_text(values_, point));
        }
        return point;
    }

    void one_seed(FindPoint& point, const std::vector<GivenOption>& varied, std::uint64_t seed) {
        std::vector<GivenOption> options = varied;
        options.push_back({"seed", fmt::format("{}", seed)});
        const auto differs = [&](const GivenOption& option) {
            return option.name == "seed" ||
                   std::any_of(varied.begin(), varied.end(),
                               [&](const GivenOption& other) { return other.name == option.name; });
        };
        std::copy_if(options_.begin(), options_.end(), std::back_inserter(options), std::not_fn(differs));
        RunRequest request = config::resolve(options, true);
        const simulation::SimulatedRun run = simulated_run(request);
        check_simulation_memory(run.run.plan);
        const simulation::SimulationResult result = simulation::simulate(
            run, {.second = {}, .interruption = [](core::Instant) { return runtime::caught_signal(); }});
        const telemetry::Verdict& verdict = result.record.verdict;
        const bool in_time = !request_.on_time || verdict.on_time.value_or(false);
        ++point.seeds;
        point.sustained += verdict.judged && verdict.sustained && in_time ? 1U : 0U;
        point.worst_occupancy = std::max(point.worst_occupancy, verdict.max_occupancy);
    }

    const FindRequest& request_;
    std::vector<GivenOption> options_;
    RunRequest base_;
    FindValues values_;
    bool shows_ = false;  ///< each value that was tried
};

}  // namespace

FoundLimit search_limit(const FindRequest& request, const std::vector<GivenOption>& options) {
    check_search_options(request, options);
    Search search(request, options);
    FoundLimit found;
    try {
        found.result = search.search(false);
    } catch (const Search::Interrupted&) {
        found.interrupted = true;
    }
    found.statements = search.statements();
    return found;
}

int find_command(const FindRequest& request, const std::vector<config::GivenOption>& options) {
    check_search_options(request, options);
    return Search(request, options).carry_out();
}

}  // namespace weir::cli
