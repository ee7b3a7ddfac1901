// The one table of commands, with their help for people and for programs. The pages of
// `--help`, `weir --help json`, and from that manual pages and completions are made from it and from the
// option table; the parser takes the commands from it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/option_table.hpp"

namespace weir::cli {

/// An option of a command that is not one of a run's, or an argument.
struct CommandOption {
    std::string_view name;             ///< "find" or, as an argument, "NAME"
    std::string_view short_name = {};  ///< "q"; empty: none
    std::string_view syntax = {};      ///< as in config::Option; empty: a flag, or an argument
    std::string_view help = {};        ///< one line
    std::string_view default_text = {};

    [[nodiscard]] constexpr std::string_view shown_default() const { return default_text; }
};

struct Command {
    std::string_view name;
    std::string_view summary;      ///< for the list of commands
    std::string_view usage;        ///< "weir scenarios [NAME]"
    std::string_view description;  ///< paragraphs, lines as they are to be shown
    std::string_view examples;     ///< command lines, indented by two spaces
    /// Has the options of a run too: those of the table that it `accepts`, and their shorthand.
    bool has_run_options = false;
    std::span<const std::string_view> most_used = {};  ///< of the option table, for the first page
    std::span<const CommandOption> options = {};       ///< its own
    std::span<const CommandOption> arguments = {};
    std::string_view exit_status = {};  ///< a paragraph; empty: 0, or 2 after bad usage
};

/// weir itself, before a command is chosen.
const Command& program();

/// In the order in which they are listed.
std::span<const Command> commands();
/// nullptr: there is none of that name.
const Command* find_command(std::string_view name);

/// Whether the help of the command lists the option: `weir run` has no network to assume, a simulation no
/// ranks that choose roles, a check no start without MPI. Options for weir's own tests are listed nowhere.
bool accepts(const Command& command, const config::Option& option);

/// Beside the options of the table, for commands that have those: --json, -q and --quiet.
std::span<const CommandOption> shorthand_options();

/// "run, simulate and scenarios"
std::string listed_commands();

}  // namespace weir::cli
