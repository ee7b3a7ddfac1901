// Parses the command line into a command and its options. Values of options are parsed in config; CLI11
// stays inside command_line.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/run_request.hpp"

namespace weir::cli {

struct CommandLine {
    enum class CommandKind { overview, version, run, simulate, explain, check, scenarios, switches, help };
    CommandKind command = CommandKind::overview;
    std::string command_name;                  ///< "run", ...; empty: none
    std::optional<std::string> help;           ///< --help [TOPIC]; empty: the first page
    std::vector<config::GivenOption> options;  ///< of run, simulate, check; the form of explain's output
    std::string name;  ///< of scenarios, switches and help, empty: list; of explain the directory

    std::optional<std::uint64_t> jobs;  ///< of weir simulate and weir explain
    bool confirm = false;               ///< of weir explain
    std::string explain;                ///< of weir run and weir simulate, as written; empty: not said

    // weir check.
    std::string probe;  ///< how long, as written; empty: not said
    std::string root;   ///< what the paths of the kernel's files begin with, for tests
};

/// "weir run", "weir scenarios" or "weir": how messages about this command line begin.
std::string command_name(int argc, const char* const* argv);

/// Throws config::UsageError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace weir::cli
