// The executable: takes the command line apart, calls the command, turns what it throws into one line and an
// exit status.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "cli/command_functions.hpp"
#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/launcher.hpp"
#include "config/usage_error.hpp"
#include "job/record_keeper.hpp"
#include "participant/exit_status.hpp"

namespace {

using weir::cli::CommandLine;

/// Prints on the first rank only.
int print_once(const std::string& text) {
    if (weir::cli::launched_as().is_first()) {
        std::fputs(text.c_str(), stdout);
    }
    return weir::participant::exit_ok;
}

std::string help_on(const CommandLine& line) {
    if (const weir::cli::Command* command = weir::cli::find_command(line.command_name)) {
        return weir::cli::command_help(*command, *line.help);
    }
    if (*line.help == "json") {
        return weir::cli::help_json();
    }
    if (!line.help->empty()) {
        throw weir::config::UsageError("--help: there is no page '" + *line.help +
                                       "'; write `weir COMMAND --help`, or `weir --help json` for programs");
    }
    return weir::cli::overview_help();
}

int run_command_line(const CommandLine& line) {
    using CommandKind = CommandLine::CommandKind;
    if (line.help) {
        return print_once(help_on(line));
    }
    switch (line.command) {
        case CommandKind::version:
            return print_once(weir::cli::version_text());
        case CommandKind::run:
            return weir::cli::run_command(line.options);
        case CommandKind::simulate:
            return weir::cli::simulate_command(line);
        case CommandKind::explain:
            return weir::cli::explain_command(line);
        case CommandKind::check:
            return weir::cli::check_command(line);
        case CommandKind::scenarios:
            return print_once(weir::cli::scenarios_text(line.name));
        case CommandKind::switches:
            return print_once(weir::cli::switches_text(line.name));
        case CommandKind::help:
            return print_once(weir::cli::help_text(line.name));
        case CommandKind::overview:
            break;
    }
    throw weir::config::UsageError("a command is missing; there are " + weir::cli::listed_commands() +
                                   ", see `weir --help`");
}

/// The status, unless what the command has printed could not be written.
int status_after_output(const std::string& command, int status) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
        return status;
    }
    std::fprintf(stderr, "%s: standard output cannot be written (is its disk full, or its reader gone?)\n",
                 command.c_str());
    return status == weir::participant::exit_ok ? weir::participant::exit_failed : status;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::string_view(argv[1]) == weir::job::keep_record_argument) {
        return weir::job::keep_record();
    }
    const std::string command = weir::cli::command_name(argc, argv);
    try {
        return status_after_output(command, run_command_line(weir::cli::parse_command_line(argc, argv)));
    } catch (const weir::config::UsageError& error) {
        return weir::cli::report_usage_error(command, error);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", command.c_str(), error.what());
        return weir::participant::exit_failed;
    }
}
