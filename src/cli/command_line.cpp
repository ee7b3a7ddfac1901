#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <string_view>

#include "cli/commands.hpp"
#include "config/option_table.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"
#include "config/words.hpp"

namespace weir::cli {

namespace {

using config::UsageError;

/// An option's values, one per time that it is given.
struct OptionValues {
    const config::Option* option = nullptr;
    std::vector<std::string> values;
};

// `help` is an option with an optional topic and not CLI11's own, whose pages list all of 40 options at once.
void add_help(CLI::App& app, std::vector<std::string>& topic) {
    app.set_help_flag();
    app.add_option("-h,--help", topic)->expected(0, 1);
}

void add_run_options(CLI::App& run, std::deque<OptionValues>& options) {
    for (const config::Option& option : config::option_table()) {
        OptionValues& values = options.emplace_back();
        values.option = &option;
        const std::string name = fmt::format("--{}", option.name);
        if (option.syntax.empty()) {
            run.add_flag_callback(name, [&values] { values.values.emplace_back(); })->disable_flag_override();
        } else {
            // Whether an option may be repeated is checked by config.
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
    if (command == "simulate" && argument.starts_with("--find")) {
        throw UsageError(
            "--find: limits are looked for by weir-sweep; write weir-sweep find rate --simulate -- OPTIONS "
            "(or busy, slots, streams, consumers)");
    }
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

/// Syntax of an option of any command. `name`: with dashes. Empty: it is a flag. Nothing: there is none.
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
    // All that CLI11 gives is a text that begins with the option's name, of a flag without dashes.
    std::string name = message.substr(0, message.find_first_of(": "));
    if (!name.starts_with('-')) {
        name.insert(0, name.size() == 1 ? "-" : "--");
    }
    if (name == "--quiet" || name == "--json" || name == "--version") {
        throw UsageError(fmt::format("{}: takes no value; write it alone", name));
    }
    const std::optional<std::string_view> syntax = syntax_of(name);
    if (!syntax) {
        throw UsageError(message);
    }
    if (syntax->empty()) {
        throw UsageError(fmt::format("{}: takes no value; write it alone", name));
    }
    throw UsageError(fmt::format("{0}: needs a value; write {0} {1}", name, *syntax));
}

/// Options of a command that are none of a run.
struct ExtraTexts {
    std::vector<std::string> jobs, explain, probe, root;
};

void add_extra(CLI::App& command, const char* name, std::vector<std::string>& values) {
    // Repetitions are refused below: CLI11 would report a missing value.
    command.add_option(name, values)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// Its value; nothing: it was not given.
std::optional<std::string> single(const char* name, const std::vector<std::string>& values) {
    if (values.empty()) {
        return std::nullopt;
    }
    if (values.size() > 1) {
        throw UsageError(fmt::format("{}: given more than once; write it once", name));
    }
    // CLI11 takes whatever follows as the value that it needs.
    if (values.front().empty() || values.front().starts_with("--")) {
        refuse_missing_value(name);
    }
    return values.front();
}

void read_extra_options(const ExtraTexts& texts, CommandLine& line) {
    line.explain = single("--explain", texts.explain).value_or("");
    line.probe = single("--probe", texts.probe).value_or("");
    line.root = single("--root", texts.root).value_or("");
    if (const std::optional<std::string> jobs = single("--jobs", texts.jobs)) {
        try {
            line.jobs = config::parse_count(*jobs, 1, 1024);
        } catch (const UsageError& error) {
            throw UsageError(fmt::format("--jobs: {}", error.what()));
        }
    }
}

/// What CLI11 fills in, and from that the command line.
class Parser {
  public:
    /// CLI11 compares each option with all before it, so those of runs are defined for the given command.
    explicit Parser(std::span<const char* const> arguments) {
        app_.require_subcommand(0, 1);
        app_.add_flag("--version", version_)->disable_flag_override();
        for (CLI::App* part : {&app_, run_, simulate_, explain_, check_, scenarios_, switches_, help_}) {
            part->allow_extras();
            add_help(*part, topic_);
        }
        for (CLI::App* part : {run_, simulate_, check_}) {
            if (std::ranges::find(arguments, std::string_view{part->get_name()}) != arguments.end()) {
                add_run_options(*part, options_);
            }
            add_output_flags(*part);
        }
        add_output_flags(*explain_);
        add_extra(*explain_, "--jobs", extra_.jobs);
        explain_->add_flag("--confirm", line_.confirm)->disable_flag_override();
        explain_->add_option("DIR", line_.name);
        add_extra(*check_, "--probe", extra_.probe);
        add_extra(*check_, "--root", extra_.root);
        add_extra(*run_, "--explain", extra_.explain);
        add_extra(*simulate_, "--jobs", extra_.jobs);
        add_extra(*simulate_, "--explain", extra_.explain);
        scenarios_->add_option("NAME", line_.name);
        switches_->add_option("NAME", line_.name);
        help_->add_option("WORD", words_);
    }

    CommandLine parse(int argc, const char* const* argv) {
        try {
            app_.parse(argc, argv);
        } catch (const CLI::ArgumentMismatch& error) {
            refuse_missing_value(error.what());
        } catch (const CLI::ParseError& error) {
            throw UsageError(error.what());
        }
        read_run_options();
        read_extra_options(extra_, line_);
        for (const CLI::App* part :
             {&app_, run_, simulate_, explain_, check_, scenarios_, switches_, help_}) {
            const std::vector<std::string> unknown = part->remaining();
            if (part == &app_ && unknown == std::vector<std::string>{"version"}) {
                version_ = true;  // what one tries first
            } else if (!unknown.empty()) {
                refuse_argument(unknown.front(), part == &app_ ? std::string{} : part->get_name());
            }
            if (part->count("--help") > 0) {
                line_.help = topic_.empty() ? std::string{} : topic_.front();
            }
        }
        if (!words_.empty()) {
            line_.name = fmt::format("{}", fmt::join(words_, " "));
        }
        line_.command = command();
        const auto parsed = app_.get_subcommands();
        line_.command_name = parsed.empty() ? std::string{} : parsed.front()->get_name();
        return line_;
    }

  private:
    void add_output_flags(CLI::App& part) {
        part.add_flag("-q,--quiet", quiet_)->disable_flag_override();
        part.add_flag("--json", json_)->disable_flag_override();
    }

    void read_run_options() {
        for (const OptionValues& given : options_) {
            for (const std::string& value : given.values) {
                if (value.starts_with("--")) {
                    refuse_missing_value(fmt::format("--{}", given.option->name));
                }
                line_.options.push_back({std::string(given.option->name), value});
            }
        }
        if (quiet_) {
            line_.options.push_back({"output", "quiet"});
        }
        if (json_) {
            line_.options.push_back({"output", "json"});
        }
    }

    [[nodiscard]] CommandLine::CommandKind command() const {
        return version_               ? CommandLine::CommandKind::version
               : run_->parsed()       ? CommandLine::CommandKind::run
               : simulate_->parsed()  ? CommandLine::CommandKind::simulate
               : explain_->parsed()   ? CommandLine::CommandKind::explain
               : check_->parsed()     ? CommandLine::CommandKind::check
               : scenarios_->parsed() ? CommandLine::CommandKind::scenarios
               : switches_->parsed()  ? CommandLine::CommandKind::switches
               : help_->parsed()      ? CommandLine::CommandKind::help
                                      : CommandLine::CommandKind::overview;
    }

    CLI::App app_;
    CLI::App* run_ = app_.add_subcommand("run");
    CLI::App* simulate_ = app_.add_subcommand("simulate");
    CLI::App* explain_ = app_.add_subcommand("explain");
    CLI::App* check_ = app_.add_subcommand("check");
    CLI::App* scenarios_ = app_.add_subcommand("scenarios");
    CLI::App* switches_ = app_.add_subcommand("switches");
    CLI::App* help_ = app_.add_subcommand("help");
    std::vector<std::string> topic_;
    std::vector<std::string> words_;
    std::deque<OptionValues> options_;
    ExtraTexts extra_;
    bool version_ = false;
    bool quiet_ = false;
    bool json_ = false;
    CommandLine line_;
};

}  // namespace

std::string command_name(int argc, const char* const* argv) {
    const bool known = argc > 1 && find_command(argv[1]) != nullptr;
    return known ? fmt::format("weir {}", argv[1]) : "weir";
}

CommandLine parse_command_line(int argc, const char* const* argv) {
    return Parser({argv, static_cast<std::size_t>(argc)}).parse(argc, argv);
}

}  // namespace weir::cli
