// From options to a run: defaults < scenario < command line, then --scale, then what follows from what, then
// the checks of everything that one command line can get wrong. Needs neither MPI nor the number of ranks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_request.hpp"
#include "core/role_map.hpp"

namespace weir::config {

/// The request that these options make, complete and checked. Reads scenario and trace files. Throws
/// UsageError. `simulated`: for `weir simulate`, which takes the options of the network too.
RunRequest resolve(std::span<const GivenOption> command_line, bool simulated = false);

/// Enters the numbers of producers and consumers and checks what depends on them. Throws UsageError.
void apply_layout(RunRequest& request, const core::RoleMap& roles);

/// MPMD starts may give options on one part of the command line only. encode_options: this rank's command
/// line in one string; merge_options: the request that all of them together make (`--role` aside; every rank
/// arrives at the same). Throws UsageError where two ranks contradict each other, naming both.
std::string encode_options(const RunRequest& request);
RunRequest merge_options(std::span<const std::string> encoded_by_rank);

// Scenarios: named points in the space of options, as TOML. Those of bench/scenarios/ are compiled in, so
// that an installed executable needs no files; a file of the user's is read the same way. The text is kept
// with its comments, which explain how a paper was read.

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
