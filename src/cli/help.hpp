// Help that fits on a screen: a page per command, and one per group of options. Made from the tables of
// commands and of options.
#pragma once

#include <string>
#include <string_view>

#include "cli/commands.hpp"

namespace weir::cli {

/// `weir --help`
std::string overview_help();
/// `weir COMMAND --help [TOPIC]`: "" the first page; of a command with the options of a run also a group's
/// name, or "all". Throws config::UsageError.
std::string command_help(const Command& command, std::string_view topic);

}  // namespace weir::cli
