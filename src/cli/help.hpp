// Help that fits on a screen: an overview per command, and one page per group of options. Made from the
// option table.
#pragma once

#include <string>
#include <string_view>

namespace weir::cli {

/// `weir --help`
std::string overview_help();
/// `weir run --help [TOPIC]`: "" the overview, a group's name, or "all". Throws config::UsageError.
std::string run_help(std::string_view topic);
/// `weir scenarios --help`
/// As run_help, of `weir simulate`.
std::string simulate_help(std::string_view topic);

/// As run_help, of `weir check`.
std::string check_help(std::string_view topic);

std::string scenarios_help();
/// `weir --version`
std::string version_text();

}  // namespace weir::cli
