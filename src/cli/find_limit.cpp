#include "cli/find_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/simulation_setup.hpp"
#include "config/distributions.hpp"
#include "config/quantities.hpp"
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

/// What can be looked for.
struct Quantity {
    std::string_view name;
    bool larger_is_harder;
    bool whole;
    std::string_view meaning;
};
constexpr std::array quantities{
    Quantity{"rate", true, false, "largest rate per producer"},
    Quantity{"busy", true, false, "longest mean processing time"},
    Quantity{"slots", false, true, "fewest slots per consumer"},
    Quantity{"streams", false, true, "fewest streams per producer"},
    Quantity{"consumers", false, true, "fewest consumers"},
};

const Quantity& quantity_of(const std::string& what) {
    for (const Quantity& quantity : quantities) {
        if (quantity.name == what) {
            return quantity;
        }
    }
    throw UsageError(fmt::format("--find: '{}' is not one of: rate, slots, streams, consumers, busy", what));
}

double value_in(const RunRequest& request, std::string_view quantity) {
    if (quantity == "rate") {
        return static_cast<double>(request.plan.rate.bits_per_second);
    }
    if (quantity == "busy") {
        return request.plan.busy.mean;
    }
    return quantity == "slots"     ? request.plan.slots
           : quantity == "streams" ? request.plan.streams
                                   : request.plan.consumers;
}

/// Five significant digits: more than the precision, and readable.
double rounded(double value) {
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - 4);
    return unit > 1 ? std::round(value / unit) * unit : std::round(value);
}

std::string option_text(const RunRequest& request, std::string_view quantity, double value) {
    if (quantity == "rate") {
        return config::to_text(core::BitRate{std::llround(rounded(value))});
    }
    if (quantity == "busy") {
        config::NamedDistribution busy{request.plan.busy, request.busy_trace};
        const double factor = value / busy.distribution.mean;
        busy.distribution.mean = rounded(value);
        busy.distribution.deviation = std::round(busy.distribution.deviation * factor);
        return config::busy_text(busy);
    }
    return fmt::format("{:.0f}", value);
}

class Search {
  public:
    Search(const FindRequest& request, const std::vector<GivenOption>& options)
        : request_(request),
          options_(options),
          quantity_(quantity_of(request.what)),
          base_(config::resolve(options, true)) {
        simulation::SimulatedRun run = simulated_run(base_);
        if (base_.scale.numerator != base_.scale.denominator) {
            throw UsageError("--find: cannot be combined with --scale; look for the limit at full scale");
        }
        if (base_.plan.generation == core::Generation::saturate) {
            throw UsageError(
                "--find: --generation saturate has no rate that could be sustained; use sets or steady");
        }
        if (request.what == "busy" && (base_.plan.busy.kind == core::DistributionKind::none ||
                                       base_.plan.busy.kind == core::DistributionKind::trace)) {
            throw UsageError(
                "--find: busy needs a --busy to vary, such as --busy poisson:100ms,quantum=20ms");
        }
    }

    int carry_out() {
        runtime::install_signal_handlers();
        const double start = value_in(base_, quantity_.name);
        FindResult result;
        try {
            result = find_limit(start, quantity_.larger_is_harder, quantity_.whole, request_.precision,
                                [this](double value) { return measure(value); });
        } catch (const Interrupted& interrupted) {
            fmt::print(stderr, "weir simulate: interrupted, the limit was not found\n");
            return participant::exit_signal_base + interrupted.signal;
        }
        if (request_.output == config::OutputForm::json) {
            print_json(result);
        } else {
            print_text(result);
        }
        return result.best ? participant::exit_ok : participant::exit_requirement;
    }

  private:
    struct Interrupted {
        int signal;
    };

    FindPoint measure(double value) {
        FindPoint point;
        point.value = value;
        point.text = option_text(base_, quantity_.name, value);
        point.worst_occupancy = 0;
        for (std::uint32_t seed = 0; seed < request_.seeds; ++seed) {
            try {
                one_seed(point, base_.plan.seed + seed);
            } catch (const UsageError& error) {
                point.refused = error.what();
                break;
            }
            if (const int signal = runtime::caught_signal()) {
                throw Interrupted{signal};
            }
        }
        if (request_.output == config::OutputForm::text) {
            const std::string outcome = point.refused.empty() ? fmt::format("sustained with {} of {} seeds",
                                                                            point.sustained, point.seeds)
                                                              : point.refused;
            fmt::print(stderr, "weir simulate: --{} {}: {}\n", quantity_.name, point.text, outcome);
        }
        return point;
    }

    void one_seed(FindPoint& point, std::uint64_t seed) {
        std::vector<GivenOption> options;
        for (const GivenOption& option : options_) {
            if (option.name != quantity_.name && option.name != "seed") {
                options.push_back(option);
            }
        }
        options.push_back({std::string(quantity_.name), point.text});
        options.push_back({"seed", fmt::format("{}", seed)});
        RunRequest request = config::resolve(options, true);
        const simulation::SimulatedRun run = simulated_run(request);
        const simulation::SimulationResult result = simulation::simulate(
            run, {.second = {}, .interruption = [](core::Instant) { return runtime::caught_signal(); }});
        ++point.seeds;
        point.sustained += result.record.verdict.judged && result.record.verdict.sustained ? 1U : 0U;
        point.worst_occupancy = std::max(point.worst_occupancy, result.record.verdict.max_occupancy);
    }

    void print_text(const FindResult& result) const {
        std::size_t width = quantity_.name.size();
        for (const FindPoint& point : result.curve) {
            width = std::max(width, point.text.size());
        }
        fmt::print("{:>{}}   sustained   worst occupancy\n", quantity_.name, width);
        for (const FindPoint& point : result.curve) {
            if (point.refused.empty()) {
                fmt::print("{:>{}}   {:>4} of {:<2}   {:>15.3f}\n", point.text, width, point.sustained,
                           point.seeds, point.worst_occupancy);
            } else {
                fmt::print("{:>{}}   not possible: {}\n", point.text, width, point.refused);
            }
        }
        if (!result.best) {
            fmt::print("\nno value of --{} is sustained\n", quantity_.name);
            return;
        }
        fmt::print("\n{}: {}, sustained with all {} seeds; ", quantity_.meaning,
                   result.curve[*result.best].text, request_.seeds);
        if (result.beyond) {
            fmt::print("{} is not\n", result.curve[*result.beyond].text);
        } else {
            fmt::print("no limit was found\n");
        }
    }

    void print_json(const FindResult& result) const {
        nlohmann::ordered_json json;
        json["find"] = quantity_.name;
        json["seeds"] = request_.seeds;
        json["limit"] = result.best ? nlohmann::ordered_json(result.curve[*result.best].text) : nullptr;
        auto& curve = json["curve"] = nlohmann::ordered_json::array();
        for (const FindPoint& point : result.curve) {
            nlohmann::ordered_json entry{{"value", point.text},
                                         {"sustained_seeds", point.sustained},
                                         {"worst_occupancy", point.worst_occupancy}};
            if (!point.refused.empty()) {
                entry["refused"] = point.refused;
            }
            curve.push_back(std::move(entry));
        }
        fmt::print("{}\n", json.dump());
    }

    const FindRequest& request_;
    const std::vector<GivenOption>& options_;
    const Quantity& quantity_;
    RunRequest base_;
};

}  // namespace

FindResult find_limit(double start, bool larger_is_harder, bool whole, double precision,
                      const std::function<FindPoint(double)>& measure) {
    constexpr int most_doublings = 20;
    std::map<double, FindPoint> seen;
    const auto holds = [&](double value) {
        auto found = seen.find(value);
        if (found == seen.end()) {
            found = seen.emplace(value, measure(value)).first;
        }
        return found->second.holds();
    };
    // From the start in the direction of the limit, in steps of a factor of two, until it lies between two
    // values.
    double good = whole ? std::max(1.0, std::round(start)) : start;
    double bad = good;
    const bool start_holds = holds(good);
    const bool upwards = start_holds == larger_is_harder;
    bool bracketed = false;
    for (int step = 0; step < most_doublings && !bracketed; ++step) {
        const double here = start_holds ? good : bad;
        const double next = upwards ? here * 2 : whole ? std::floor(here / 2) : here / 2;
        if (whole && next < 1) {
            break;
        }
        bracketed = holds(next) != start_holds;
        (start_holds != bracketed ? good : bad) = next;
        if (!start_holds && bracketed) {
            bad = here;
        }
    }
    if (bracketed) {
        while (whole ? std::abs(good - bad) > 1 : std::abs(good - bad) > precision * std::min(good, bad)) {
            const double middle = whole ? std::floor((good + bad) / 2) : std::sqrt(good * bad);
            (holds(middle) ? good : bad) = middle;
        }
    }
    FindResult result;
    for (auto& [value, point] : seen) {
        if (value == good && point.holds()) {
            result.best = result.curve.size();
        } else if (bracketed && value == bad) {
            result.beyond = result.curve.size();
        }
        result.curve.push_back(std::move(point));
    }
    return result;
}

int find_command(const FindRequest& request, const std::vector<GivenOption>& options) {
    return Search(request, options).carry_out();
}

}  // namespace weir::cli
