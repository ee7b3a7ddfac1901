// What both programs do with a command line: take it apart, call the command, turn what it throws into one
// line and an exit status.
#include "cli/program.hpp"

#include <cstdio>
#include <exception>

#include "cli/command_functions.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/launcher.hpp"
#include "config/usage_error.hpp"
#include "files/formatting.hpp"
#include "host/process.hpp"
#include "participant/exit_status.hpp"

namespace weir::cli {

namespace {

/// Prints on the first rank only.
int print_once(const std::string& text) {
    if (launched_as().is_first()) {
        std::fputs(text.c_str(), stdout);
    }
    return participant::exit_ok;
}

std::string help_on(const CommandLine& line) {
    if (const Command* command = find_command(line.command_name)) {
        return command_help(*command, *line.help);
    }
    if (*line.help == "json") {
        return help_json();
    }
    if (!line.help->empty()) {
        throw config::UsageError("--help: there is no page '" + *line.help +
                                 "'; write `weir COMMAND --help`, or `weir --help json` for programs");
    }
    return overview_help();
}

int run_command_line(const CommandLine& line, const MpiCommands& mpi) {
    using CommandKind = CommandLine::CommandKind;
    if (line.help) {
        return print_once(help_on(line));
    }
    switch (line.command) {
        case CommandKind::version:
            return print_once(version_text(mpi.library()));
        case CommandKind::run:
            return mpi.run(line);
        case CommandKind::simulate:
            return simulate_command(line);
        case CommandKind::explain:
            return explain_command(line);
        case CommandKind::check:
            return mpi.check(line);
        case CommandKind::scenarios:
            return print_once(scenarios_text(line.name));
        case CommandKind::switches:
            return print_once(switches_text(line.name));
        case CommandKind::help:
            return print_once(help_text(line.name));
        case CommandKind::overview:
            break;
    }
    throw config::UsageError("a command is missing; there are " + listed_commands() + ", see `weir --help`");
}

/// The status, unless what the command has printed could not be written.
int status_after_output(const std::string& command, int status) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
        return status;
    }
    std::fprintf(stderr, "%s: standard output cannot be written (is its disk full, or its reader gone?)\n",
                 command.c_str());
    return status == participant::exit_ok ? participant::exit_failed : status;
}

}  // namespace

int run_program(int argc, char** argv, const MpiCommands& mpi) {
    const std::string command = command_name(argc, argv);
    if (const auto columns = host::terminal_columns()) {
        files::set_line_width(*columns);
    }
    try {
        return status_after_output(command, run_command_line(parse_command_line(argc, argv), mpi));
    } catch (const config::UsageError& error) {
        return report_usage_error(command, error);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", command.c_str(), error.what());
        return participant::exit_failed;
    }
}

}  // namespace weir::cli
