#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>

#include "cli/commands.hpp"
#include "config/near_name.hpp"
#include "config/option_table.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"

namespace weir::cli {

namespace {

using config::UsageError;

/// An option's values, one per time that it is given.
struct Values {
    const config::Option* option = nullptr;
    std::vector<std::string> values;
};

// `help` is an option with an optional topic and not CLI11's own, whose pages list all of 40 options at once.
void add_help(CLI::App& app, std::vector<std::string>& topic) {
    app.set_help_flag();
    app.add_option("-h,--help", topic)->expected(0, 1);
}

void add_run_options(CLI::App& run, std::deque<Values>& options) {
    for (const config::Option& option : config::option_table()) {
        Values& values = options.emplace_back();
        values.option = &option;
        const std::string name = fmt::format("--{}", option.name);
        if (option.syntax.empty()) {
            run.add_flag_callback(name, [&values] { values.values.emplace_back(); });
        } else {
            // Repetitions are config's to judge: it knows which options may be.
            run.add_option(name, values.values)
                ->expected(1)
                ->allow_extra_args(false)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        }
    }
}

[[noreturn]] void refuse_argument(const std::string& argument, std::string_view command) {
    const Command* const known_command = find_command(command);
    const bool inside_run = known_command != nullptr && known_command->has_run_options;
    if (argument.starts_with('-')) {
        const std::string near = inside_run ? config::near_option(argument) : std::string{};
        const std::string name = argument.substr(0, argument.find('='));
        throw UsageError(fmt::format(
            "{}: there is no such option; {}", name,
            !near.empty() ? fmt::format("did you mean {}?", near)
                          : fmt::format("see `weir {0}{1}--help`", command, command.empty() ? "" : " ")));
    }
    if (inside_run) {
        throw UsageError(fmt::format("'{}': nothing is expected here; options begin with --", argument));
    }
    if (!command.empty()) {
        throw UsageError(fmt::format("'{}': nothing more is expected here; write one name", argument));
    }
    std::vector<std::string_view> names;
    for (const Command& known : commands()) {
        names.push_back(known.name);
    }
    const auto near = config::near_names(argument, names, 1);
    throw UsageError(fmt::format("'{}': there is no such command; {}", argument,
                                 near.empty() ? fmt::format("there are {}", listed_commands())
                                              : fmt::format("did you mean `weir {}`?", near.front())));
}

/// Of an option of any command, with its dashes; empty: it is a flag. Nothing: there is none of that name.
std::optional<std::string_view> syntax_of(std::string_view name) {
    if (!name.starts_with("--")) {
        return std::nullopt;
    }
    name.remove_prefix(2);
    if (const config::Option* option = config::find_option(name)) {
        return option->syntax;
    }
    for (const Command& command : commands()) {
        for (const CommandOption& option : command.options) {
            if (option.name == name) {
                return option.syntax;
            }
        }
    }
    return std::nullopt;
}

[[noreturn]] void refuse_missing_value(const std::string& message) {
    // All that CLI11 gives is a text that begins with the option's name.
    const std::string name = message.substr(0, message.find(':'));
    const std::optional<std::string_view> syntax = syntax_of(name);
    if (!syntax) {
        throw UsageError(message);
    }
    if (syntax->empty()) {
        throw UsageError(fmt::format("{}: takes no value; write it alone", name));
    }
    throw UsageError(fmt::format("{0}: needs a value; write {0} {1}", name, *syntax));
}

/// Numbers of `weir simulate` that are no options of a run.
struct SimulateTexts {
    std::string explore;
    std::string seeds;
    std::string jobs;
};

void take_numbers(const SimulateTexts& texts, CommandLine& line) {
    const auto take = [](const char* name, const std::string& text, std::uint64_t most,
                         std::optional<std::uint64_t>& number) {
        if (text.empty()) {
            return;
        }
        try {
            number = config::parse_count(text, 1, most);
        } catch (const UsageError& error) {
            throw UsageError(fmt::format("{}: {}", name, error.what()));
        }
    };
    take("--explore", texts.explore, 1000000000000, line.explore);
    take("--seeds", texts.seeds, 1000, line.seeds);
    take("--jobs", texts.jobs, 1024, line.jobs);
    if (line.explore && !line.find.empty()) {
        throw UsageError("--explore: cannot be combined with --find; give one of them");
    }
    if (!line.find_events.empty() && line.find.empty()) {
        throw UsageError("--find-events: means nothing without --find rate");
    }
    if (line.seeds && line.find.empty()) {
        throw UsageError("--seeds: means nothing without --find; --seed chooses the seed of one run");
    }
    if (line.jobs && !line.explore) {
        throw UsageError("--jobs: means nothing without --explore");
    }
}

void parse(CLI::App& app, int argc, const char* const* argv) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::ArgumentMismatch& error) {
        refuse_missing_value(error.what());
    } catch (const CLI::ParseError& error) {
        throw UsageError(error.what());
    }
}

}  // namespace

std::string command_name(int argc, const char* const* argv) {
    const bool known = argc > 1 && find_command(argv[1]) != nullptr;
    return known ? fmt::format("weir {}", argv[1]) : "weir";
}

CommandLine parse_command_line(int argc, const char* const* argv) {
    CommandLine line;
    CLI::App app;
    std::vector<std::string> topic;
    std::deque<Values> options;
    bool version = false;
    bool quiet = false;
    bool json = false;

    app.allow_extras();
    app.require_subcommand(0, 1);
    app.add_flag("--version", version);
    add_help(app, topic);

    CLI::App* run = app.add_subcommand("run");
    run->allow_extras();
    add_help(*run, topic);
    add_run_options(*run, options);

    CLI::App* simulate = app.add_subcommand("simulate");
    simulate->allow_extras();
    add_help(*simulate, topic);
    add_run_options(*simulate, options);

    CLI::App* check = app.add_subcommand("check");
    check->allow_extras();
    add_help(*check, topic);
    add_run_options(*check, options);
    check->add_option("--probe", line.probe);
    check->add_option("--root", line.root);
    for (CLI::App* part : {run, simulate, check}) {
        part->add_flag("-q,--quiet", quiet);
        part->add_flag("--json", json);
    }

    SimulateTexts extra;
    simulate->add_option("--explore", extra.explore);
    simulate->add_option("--find", line.find);
    simulate->add_option("--find-events", line.find_events);
    simulate->add_option("--seeds", extra.seeds);
    simulate->add_option("--jobs", extra.jobs);

    CLI::App* scenarios = app.add_subcommand("scenarios");
    scenarios->allow_extras();
    add_help(*scenarios, topic);
    scenarios->add_option("NAME", line.scenario);

    parse(app, argc, argv);
    // CLI11 takes whatever follows as the value that it needs.
    const auto check_value = [](std::string_view name, std::string_view value) {
        if (value.starts_with("--")) {
            refuse_missing_value(fmt::format("--{}: ", name));
        }
    };
    for (const Values& given : options) {
        for (const std::string& value : given.values) {
            check_value(given.option->name, value);
            line.options.push_back({std::string(given.option->name), value});
        }
    }
    check_value("find", line.find);
    check_value("find-events", line.find_events);
    check_value("explore", extra.explore);
    check_value("seeds", extra.seeds);
    check_value("jobs", extra.jobs);
    check_value("probe", line.probe);
    const std::initializer_list<const CLI::App*> parts{&app, run, simulate, check, scenarios};
    for (const CLI::App* part : parts) {
        const std::vector<std::string> unknown = part->remaining();
        if (!unknown.empty()) {
            refuse_argument(unknown.front(), part == &app ? std::string{} : part->get_name());
        }
    }

    const auto asks_for_help = [](const CLI::App* part) { return part->count("--help") > 0; };
    if (std::any_of(parts.begin(), parts.end(), asks_for_help)) {
        line.help = topic.empty() ? std::string{} : topic.front();
    }
    if (version) {
        line.command = CommandLine::Command::version;
    } else if (run->parsed()) {
        line.command = CommandLine::Command::run;
    } else if (simulate->parsed()) {
        line.command = CommandLine::Command::simulate;
    } else if (check->parsed()) {
        line.command = CommandLine::Command::check;
    } else if (scenarios->parsed()) {
        line.command = CommandLine::Command::scenarios;
    }
    const auto parsed = app.get_subcommands();
    line.command_name = parsed.empty() ? std::string{} : parsed.front()->get_name();
    take_numbers(extra, line);
    if (quiet) {
        line.options.push_back({"output", "quiet"});
    }
    if (json) {
        line.options.push_back({"output", "json"});
    }
    return line;
}

}  // namespace weir::cli
