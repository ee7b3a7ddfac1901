// What the commands do, each in a .cpp file of its own; main.cpp calls them. Those that carry something out
// return the exit status and throw config::UsageError, before MPI has started; the others return what is
// printed.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "config/run_request.hpp"

namespace weir::cli {

/// `weir run`: a dry run or the real one.
int run_command(const CommandLine& line);

/// `weir simulate`: a run in virtual time, from options to run directory.
int simulate_command(const CommandLine& line);

/// `weir explain DIR`: what held up a run that was made, and what would have put every set on time. 3 if that
/// is not told.
int explain_command(const CommandLine& line);

/// `weir check`: what is wrong with hosts and network, before a run. Under a launcher: all hosts, and a probe
/// between the pairs of the plan. With --join: all hosts. Else: this host by itself. 3 if a finding is
/// serious.
int check_command(const CommandLine& line);

/// `weir scenarios`, `weir switches`: a table of what is built in, or the TOML of one (built in, or a file).
/// Throws config::UsageError.
std::string scenarios_text(const std::string& name);
std::string switches_text(const std::string& name);

/// `weir help WORD`: what the glossary has on `word` (several words: with one blank between them; a plural,
/// capitals and a part of a longer term are found too), or the help of the command of that name. Empty: all
/// words by section. Throws config::UsageError, with the nearest words.
std::string help_text(const std::string& word);

/// `weir --help json`: one JSON object. weir itself and each of its `commands` have `name`, `summary`,
/// `usage`, `description`, `examples`, `exit_status`, `arguments` and `groups` of `options`; weir also
/// `version` and `date` (of the commit; null: not known). An option has `name` and `short` with their dashes,
/// `syntax` (null: a flag), `help`, `default` (null: none), `values` (the words that it takes, where they can
/// be listed) and `repeatable`.
std::string help_json();

/// `weir --version`: one fact per line, the first "weir VERSION". The libraries are those of now, not those
/// that weir was built with. `mpi`: mpi_library().
std::string version_text(const std::string& mpi);

/// What the MPI library says of itself.
std::string mpi_library();

}  // namespace weir::cli
