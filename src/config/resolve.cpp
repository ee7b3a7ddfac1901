#include "config/resolve.hpp"

#include <fmt/ranges.h>

#include <set>

#include "config/input_file.hpp"
#include "config/option_table.hpp"
#include "config/passes.hpp"
#include "config/toml_file.hpp"
#include "config/words.hpp"

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

class ScenarioReader {
  public:
    ScenarioReader(std::string_view text, const std::string& file) : file_(text, file) {
        scenario_.text = std::string(text);
    }

    Scenario read() {
        for (const auto& [key, node] : file_.table()) {
            read_entry(std::string(key.str()), key.source().begin, node);
        }
        return std::move(scenario_);
    }

  private:
    void read_entry(const std::string& key, const toml::source_position& at, const toml::node& node) {
        for (const auto& [name, field] : {std::pair{"name", &Scenario::name},
                                          {"title", &Scenario::title},
                                          {"description", &Scenario::description},
                                          {"source", &Scenario::source},
                                          {"found", &Scenario::found}}) {
            if (key == name) {
                scenario_.*field = file_.text(key, node);
                return;
            }
        }
        const Option* option = find_option(key);
        if (option == nullptr) {
            const std::string near = near_option(key);
            file_.refuse(at, "there is no option '{}'; {}", key,
                         near.empty() ? "the options are those of `weir run --help`, without dashes in front"
                                      : fmt::format("did you mean {}?", near.substr(2)));
        }
        if (option->is(not_in_scenario)) {
            file_.refuse(at, "'{}' belongs on the command line; remove it here", key);
        }
        if (const auto* list = node.as_array(); list != nullptr && option->is(repeatable)) {
            for (const toml::node& element : *list) {
                add(key, element);
            }
            return;
        }
        add(key, node);
    }

    void add(const std::string& key, const toml::node& node) {
        scenario_.entries.push_back({key, file_.value(key, node), file_.place(node.source().begin)});
    }

    TomlFile file_;
    Scenario scenario_;
};

Scenario read_scenario_file(const std::string& file) {
    constexpr auto here = UsageError::Reach::this_host;
    constexpr std::string_view right =
        "lines such as rate = \"2Gb/s\" into it, or begin with `weir scenarios quickstart > FILE`";
    const std::string text =
        read_input_file(file, most_toml_bytes, "a built-in name or the name of a scenario file");
    if (text.empty()) {
        throw UsageError(here, "'{}' is empty; write {}", file, right);
    }
    try {
        Scenario scenario = parse_scenario(text, file);
        if (scenario.entries.empty()) {
            throw UsageError("'{}' sets no option; write {}", file, right);
        }
        return scenario;
    } catch (const UsageError& error) {
        throw UsageError(error.what(), here);
    }
}

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

Scenario parse_scenario(std::string_view text, const std::string& file) {
    return ScenarioReader(text, file).read();
}

Scenario load_scenario(const std::string& name_or_file) {
    if (is_file_name(name_or_file)) {
        return read_scenario_file(name_or_file);
    }
    std::vector<std::string_view> names;
    for (const EmbeddedFile& embedded : embedded_scenarios()) {
        if (embedded.name == name_or_file) {
            return parse_scenario(embedded.text, fmt::format("{}.toml", embedded.name));
        }
        names.push_back(embedded.name);
    }
    const auto near = near_names(name_or_file, names, 6);
    throw UsageError("there is no scenario '{}'; {}; a file's name has a / in it or ends with .toml",
                     name_or_file,
                     near.empty() ? fmt::format("built in are: {}", fmt::join(names, ", "))
                                  : fmt::format("near: {}", fmt::join(near, ", ")));
}

std::vector<std::string> scenario_names() {
    std::vector<std::string> names;
    for (const EmbeddedFile& embedded : embedded_scenarios()) {
        names.emplace_back(embedded.name);
    }
    return names;
}

}  // namespace weir::config
