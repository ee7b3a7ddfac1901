#include "config/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/amounts.hpp"
#include "config/derive.hpp"
#include "config/derive_traffic.hpp"
#include "config/fabric.hpp"
#include "config/link_speeds.hpp"
#include "config/option_table.hpp"
#include "config/quantities.hpp"
#include "config/row_interval.hpp"
#include "config/scenario.hpp"
#include "config/switch_memory.hpp"
#include "config/usage_error.hpp"
#include "core/heartbeat.hpp"

namespace weir::config {

namespace {

void set(RunRequest& request, const Option& option, std::string_view value, const std::string& place) {
    try {
        if (value.find_first_of("\n\r") != std::string_view::npos) {
            throw UsageError("the value contains a line break; write it on one line");
        }
        option.set(request, value);
    } catch (const UsageError& error) {
        throw UsageError(place + ": " + error.what(), error.reach());
    }
}

/// Drops what a scenario has of a repeatable option whose values do not add up with the command line's.
/// Tags do, but one of the same key is replaced.
void begin_afresh(RunRequest& request, std::string_view option) {
    if (option == "require") {
        request.require = {};
    } else if (option == "inject") {
        request.injections.clear();
    } else if (option == "fault") {
        request.faults.clear();
    } else if (option == "tag") {
        request.scenario_tags = request.tags.size();
    }
}

void apply(RunRequest& request, const Option& option, std::string_view value, Origin origin,
           const std::string& place) {
    if (option.repeatable && request.origin(option.name) != origin) {
        begin_afresh(request, option.name);
    }
    set(request, option, value, place);
    request.origins.insert_or_assign(std::string(option.name), origin);
}

const Option& known_option(std::string_view name) {
    if (const Option* option = find_option(name)) {
        return *option;
    }
    const std::string near = near_option(name);
    throw UsageError(fmt::format("--{}: there is no such option; {}", name,
                                 near.empty() ? "see `weir run --help`" : "did you mean " + near + "?"));
}

void check_repetition(std::span<const GivenOption> command_line) {
    std::set<std::string_view> seen;
    for (const GivenOption& given : command_line) {
        if (!known_option(given.name).repeatable && !seen.insert(given.name).second) {
            throw UsageError(fmt::format("--{}: given more than once; write it once", given.name));
        }
    }
}

void apply_scenario(RunRequest& request, const GivenOption& given) {
    Scenario scenario;
    try {
        scenario = load_scenario(given.value);
    } catch (const UsageError& error) {
        throw UsageError(std::string("--scenario: ") + error.what(), error.reach());
    }
    request.scenario = given.value;
    request.scenario_title = scenario.title;
    request.scenario_found = scenario.found;
    request.origins.insert_or_assign("scenario", Origin::command_line);
    for (const ScenarioEntry& entry : scenario.entries) {
        apply(request, *find_option(entry.name), entry.value, Origin::scenario,
              fmt::format("--scenario: {}: {}", entry.place, entry.name));
    }
}

/// As soon as the number of ranks is known: what their heartbeats need.
void derive_silence_timeout(RunRequest& request) {
    const core::Plan& plan = request.plan;
    if (request.simulated || plan.producers == 0 || plan.consumers == 0) {
        return;
    }
    const std::int64_t ranks = std::int64_t{plan.producers} + plan.consumers + 1;
    const core::Duration least = core::silence_timeout_least(ranks);
    if (request.silence_timeout >= least) {
        return;
    }
    if (request.given("silence-timeout")) {
        throw UsageError(fmt::format(
            "--silence-timeout: {} is too short for {} ranks; write at least {}: the scheduler takes {} "
            "heartbeats per second, and {} of each rank must fit into the time-out",
            to_text(request.silence_timeout), ranks, to_text(least), core::heartbeats_per_second_max,
            core::heartbeats_in_timeout));
    }
    request.silence_timeout = least;
}

}  // namespace

RunRequest resolve(std::span<const GivenOption> command_line, bool simulated) {
    RunRequest request;
    request.simulated = simulated;
    for (const Option& option : option_table()) {
        if (!option.default_value.empty()) {
            set(request, option, option.default_value, std::string(option.name));
        }
    }
    check_repetition(command_line);
    for (const GivenOption& given : command_line) {
        if (given.name == "scenario") {
            apply_scenario(request, given);
        }
    }
    for (const GivenOption& given : command_line) {
        if (given.name != "scenario") {
            const Option& option = known_option(given.name);
            if (is_for_simulations(option.group) && !simulated) {
                throw UsageError(
                    fmt::format("--{}: is for `weir simulate`; a measured run uses the network that it finds",
                                given.name));
            }
            if (option.only_measured && simulated) {
                throw UsageError(
                    fmt::format("--{}: is for `weir run`; a simulation moves no data", given.name));
            }
            apply(request, option, given.value, Origin::command_line, "--" + given.name);
        }
    }
    request.command_line.assign(command_line.begin(), command_line.end());
    derive(request);
    derive_silence_timeout(request);
    derive_row_interval(request);
    check_row_interval(request.plan);
    return request;
}

void apply_layout(RunRequest& request, const core::RoleMap& roles) {
    request.plan.producers = roles.producers();
    request.plan.consumers = roles.consumers();
    derive_traffic(request);
    check_busy_consumers(request.plan);
    check_own_links(request);
    check_ranks_on_hosts(request);
    check_places(request.plan);
    check_senders(request.plan);
    check_amounts(request);
    check_headroom(request);
    derive_silence_timeout(request);
    derive_row_interval(request);
    check_row_interval(request.plan);
}

std::string encode_options(const RunRequest& request) {
    std::string encoded;
    for (const GivenOption& given : request.command_line) {
        if (given.name != "role") {
            encoded += fmt::format("{}={}\n", given.name, given.value);
        }
    }
    return encoded;
}

namespace {

std::vector<GivenOption> decode_options(std::string_view encoded) {
    std::vector<GivenOption> options;
    while (!encoded.empty()) {
        const std::string_view line = encoded.substr(0, encoded.find('\n'));
        encoded.remove_prefix(std::min(encoded.size(), line.size() + 1));
        const std::size_t equals = std::min(line.find('='), line.size());
        options.push_back({std::string(line.substr(0, equals)),
                           std::string(line.substr(std::min(line.size(), equals + 1)))});
    }
    return options;
}

}  // namespace

RunRequest merge_options(std::span<const std::string> encoded_by_rank) {
    struct Merged {
        GivenOption option;
        std::size_t rank = 0;
    };
    std::vector<Merged> merged;
    std::set<std::string_view> done;  // thousands of ranks, a handful of different command lines
    for (std::size_t rank = 0; rank < encoded_by_rank.size(); ++rank) {
        if (!done.insert(encoded_by_rank[rank]).second) {
            continue;
        }
        for (GivenOption& option : decode_options(encoded_by_rank[rank])) {
            const bool repeatable = known_option(option.name).repeatable;
            const auto same = std::find_if(merged.begin(), merged.end(), [&](const Merged& other) {
                return other.option.name == option.name &&
                       (!repeatable || other.option.value == option.value);
            });
            if (same == merged.end()) {
                merged.push_back({std::move(option), rank});
            } else if (same->option.value != option.value) {
                throw UsageError(
                    fmt::format("--{}: {} on rank {}, but {} on rank {}; write the same on every part "
                                "of the command line, or on one only",
                                option.name, same->option.value, same->rank, option.value, rank));
            }
        }
    }
    std::vector<GivenOption> command_line;
    command_line.reserve(merged.size());
    for (Merged& entry : merged) {
        command_line.push_back(std::move(entry.option));
    }
    return resolve(command_line);
}

}  // namespace weir::config
