// The executable: takes the command line apart, calls the command, turns what it throws into one line and an
// exit status.
#include <cstdio>
#include <exception>
#include <string>

#include "cli/check_command.hpp"
#include "cli/command_line.hpp"
#include "cli/help.hpp"
#include "cli/launcher.hpp"
#include "cli/run_command.hpp"
#include "cli/scenarios_command.hpp"
#include "cli/simulate_command.hpp"
#include "config/usage_error.hpp"
#include "participant/exit_status.hpp"

namespace {

using weir::cli::CommandLine;

/// Text that would otherwise come once per rank.
int say(const std::string& text) {
    if (weir::cli::launched_as().is_first()) {
        std::fputs(text.c_str(), stdout);
    }
    return weir::participant::exit_ok;
}

int obey(const CommandLine& line) {
    using Command = CommandLine::Command;
    switch (line.command) {
        case Command::version:
            return say(weir::cli::version_text());
        case Command::run:
            return line.help ? say(weir::cli::run_help(*line.help)) : weir::cli::run_command(line.options);
        case Command::simulate:
            return line.help ? say(weir::cli::simulate_help(*line.help)) : weir::cli::simulate_command(line);
        case Command::check:
            return line.help ? say(weir::cli::check_help(*line.help)) : weir::cli::check_command(line);
        case Command::scenarios:
            return say(line.help ? weir::cli::scenarios_help() : weir::cli::scenarios_text(line.scenario));
        case Command::overview:
            break;
    }
    if (line.help) {
        return say(weir::cli::overview_help());
    }
    throw weir::config::UsageError(
        "a command is missing; write `weir run`, `weir simulate`, `weir check` or `weir scenarios`, or see "
        "`weir --help`");
}

}  // namespace

int main(int argc, char** argv) {
    const std::string command = weir::cli::command_name(argc, argv);
    try {
        return obey(weir::cli::parse_command_line(argc, argv));
    } catch (const weir::config::UsageError& error) {
        return weir::cli::report_usage_error(command, error);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", command.c_str(), error.what());
        return weir::participant::exit_failed;
    }
}
