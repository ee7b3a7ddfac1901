// Scenarios: named points in the space of options, as TOML. Those of bench/scenarios/ are compiled in, so
// that an installed executable needs no files; a file of the user's is read the same way. The text is kept
// with its comments, which explain how a paper was read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/run_request.hpp"

namespace weir::config {

/// An option in a scenario and where it stands.
struct ScenarioEntry {
    std::string name;
    std::string value;
    std::string place;  ///< "FILE:LINE:COLUMN"
};

struct Scenario {
    std::string name;
    std::string title;
    std::string description;
    std::string source;  ///< where the numbers come from
    std::string found;   ///< what the source found, on one line
    std::vector<ScenarioEntry> entries;
    std::string text;  ///< the TOML
};

/// Reads TOML. `file` is for messages. Throws UsageError with file, line and column.
Scenario parse_scenario(std::string_view text, const std::string& file);

/// A built-in scenario by name, or a file (anything with '/' or ending in .toml). Throws UsageError; for an
/// unknown name with the nearest ones.
Scenario load_scenario(const std::string& name_or_file);

/// Names of the built-in scenarios, sorted.
std::vector<std::string> scenario_names();

}  // namespace weir::config
