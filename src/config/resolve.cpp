#include "config/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/option_table.hpp"
#include "config/passes.hpp"
#include "config/scenario.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

void set(RunRequest& request, const Option& option, std::string_view value, const std::string& place) {
    at_place(place, [&] {
        if (value.find_first_of("\n\r") != std::string_view::npos) {
            throw UsageError("the value contains a line break; write it on one line");
        }
        option.set(request, value);
    });
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
    if (option.is(repeatable) && request.origin(option.name) != origin) {
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
    throw UsageError("--{}: there is no such option; {}", name,
                     near.empty() ? "see `weir run --help`" : "did you mean " + near + "?");
}

void check_repetition(std::span<const GivenOption> command_line) {
    std::set<std::string_view> seen;
    for (const GivenOption& given : command_line) {
        if (!known_option(given.name).is(repeatable) && !seen.insert(given.name).second) {
            throw UsageError("--{}: given more than once; write it once", given.name);
        }
    }
}

void apply_scenario(RunRequest& request, const GivenOption& given) {
    const Scenario scenario = at_place("--scenario", [&] { return load_scenario(given.value); });
    request.scenario = given.value;
    request.scenario_title = scenario.title;
    request.scenario_found = scenario.found;
    request.origins.insert_or_assign("scenario", Origin::command_line);
    for (const ScenarioEntry& entry : scenario.entries) {
        apply(request, *find_option(entry.name), entry.value, Origin::scenario,
              fmt::format("--scenario: {}: {}", entry.place, entry.name));
    }
}

}  // namespace

RunRequest resolve(std::span<const GivenOption> command_line, bool simulated) {
    RunRequest request;
    request.simulated = simulated;
    for (const Option& option : option_table()) {
        if (!option.usual.value.empty()) {
            set(request, option, option.usual.value, std::string(option.name));
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
                    "--{}: is for `weir simulate`; a measured run uses the network that it finds",
                    given.name);
            }
            if (option.is(only_measured) && simulated) {
                throw UsageError("--{}: is for `weir run`; a simulation moves no data", given.name);
            }
            apply(request, option, given.value, Origin::command_line, "--" + given.name);
        }
    }
    request.command_line.assign(command_line.begin(), command_line.end());
    run_passes(request);
    return request;
}

void apply_layout(RunRequest& request, const core::RoleMap& roles) {
    request.plan.producers = roles.producers();
    request.plan.consumers = roles.consumers();
    run_passes_for_layout(request);
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
            const bool may_repeat = known_option(option.name).is(repeatable);
            const auto same = std::find_if(merged.begin(), merged.end(), [&](const Merged& other) {
                return other.option.name == option.name &&
                       (!may_repeat || other.option.value == option.value);
            });
            if (same == merged.end()) {
                merged.push_back({std::move(option), rank});
            } else if (same->option.value != option.value) {
                throw UsageError(
                    "--{}: {} on rank {}, but {} on rank {}; write the same on every part of the command "
                    "line, or on one only",
                    option.name, same->option.value, same->rank, option.value, rank);
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
