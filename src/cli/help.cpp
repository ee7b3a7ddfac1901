#include "cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "config/input_file.hpp"
#include "config/option_table.hpp"
#include "config/usage_error.hpp"
#include "weir_version.hpp"

namespace weir::cli {

namespace {

using config::Option;
using config::OptionGroup;

constexpr std::size_t help_column = 32;

/// "  --rate RATE       payload that each producer generates per second [1Gb/s]"
template <typename AnyOption>
std::string option_line(const AnyOption& option) {
    std::string line =
        fmt::format("  --{}{}{}", option.name, option.syntax.empty() ? "" : " ", option.syntax);
    // A syntax that is too long for its column gets a line of its own.
    if (line.size() + 1 > help_column) {
        line += fmt::format("\n{:{}}", "", help_column);
    } else {
        line += std::string(help_column - line.size(), ' ');
    }
    line += option.help;
    if (const std::string_view value = option.shown_default(); !value.empty()) {
        line += fmt::format(" [{}]", value);
    }
    return line + '\n';
}

std::string group_lines(const Command& command, OptionGroup group) {
    std::string lines;
    for (const Option& option : config::option_table()) {
        if (option.group == group && accepts(command, option)) {
            lines += option_line(option);
        }
    }
    return lines;
}

std::string group_page(const Command& command, OptionGroup group) {
    const config::OptionGroupRow& row = config::row_of(group);
    return fmt::format("{}: {}\n{}{}", row.name, row.title, group_lines(command, group), row.note);
}

bool has_any_of(const Command& command, OptionGroup group) {
    const auto options = config::option_table();
    return std::any_of(options.begin(), options.end(), [&](const Option& option) {
        return option.group == group && accepts(command, option);
    });
}

/// The first page of a command that has the options of a run.
std::string first_page(const Command& command) {
    std::string text =
        fmt::format("Usage: {}\n\n{}\n{}\n", command.usage, command.description, command.examples);
    if (!command.most_used.empty()) {
        text += "Used most:\n";
    }
    for (const std::string_view name : command.most_used) {
        text += option_line(*config::find_option(name));
    }
    if (!command.most_used.empty() && !command.options.empty()) {
        text += '\n';
    }
    for (const CommandOption& option : command.options) {
        text += option_line(option);
    }
    text += fmt::format("\n{}, by group: weir {} --help GROUP, or --help all\n",
                        command.most_used.empty() ? "Options of the plan" : "More options", command.name);
    for (const OptionGroup group : config::shown_groups) {
        if (has_any_of(command, group)) {
            text += fmt::format("  {:10}{}\n", config::row_of(group).name, config::row_of(group).title);
        }
    }
    return text + fmt::format("\nExit status: {}", command.exit_status);
}

/// The page of a group, or of all; an empty topic is the first page.
std::string help_page(const Command& command, std::string_view topic) {
    if (topic.empty()) {
        return first_page(command);
    }
    std::string names;
    std::string all;
    for (const OptionGroup group : config::shown_groups) {
        if (!has_any_of(command, group)) {
            continue;
        }
        if (topic == config::row_of(group).name) {
            return group_page(command, group);
        }
        names += fmt::format("{} ", config::row_of(group).name);
        all += fmt::format("{}{}", all.empty() ? "" : "\n", group_page(command, group));
    }
    if (topic == "all") {
        return all;
    }
    throw config::UsageError(fmt::format("--help: there is no group '{}'; there are: {}all", topic, names));
}

}  // namespace

std::string overview_help() {
    std::string list;
    for (const Command& command : commands()) {
        list += fmt::format("  {:11}{}: weir {} --help\n", command.name, command.summary, command.name);
    }
    std::string questions;
    for (const config::AnsweredQuestion& row : config::answered_questions()) {
        questions += fmt::format("  {:16}  {}\n", row.command, row.question);
    }
    return fmt::format(R"(weir {}: {}

Usage: {}

{}
Which command answers which question:
{}
  weir --help       this page; `weir --help json`: all commands and options, for programs
  weir --version    version, commit, compiler, MPI and UCX

First steps:
{})",
                       build_info::version, program().summary, program().usage, list, questions,
                       program().examples);
}

std::string command_help(const Command& command, std::string_view topic) {
    if (command.has_run_options) {
        return help_page(command, topic);
    }
    std::string text =
        fmt::format("Usage: {}\n\n{}\n{}", command.usage, command.description, command.examples);
    if (!command.options.empty()) {
        text += '\n';
    }
    for (const CommandOption& option : command.options) {
        text += option_line(option);
    }
    return command.exit_status.empty() ? text : text + fmt::format("\nExit status: {}", command.exit_status);
}

}  // namespace weir::cli
