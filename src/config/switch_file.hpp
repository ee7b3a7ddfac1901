// Descriptions of switches as TOML. Those of bench/switches/ are compiled in; a file of the user's is read
// the same way, and can begin with `base`, the name of a built-in one whose values it replaces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/switch_description.hpp"

namespace weir::config {

struct SwitchFile {
    std::string name;
    std::string title;
    std::string about;   ///< `description`
    std::string source;  ///< where the numbers come from
    std::string text;    ///< the TOML
    SwitchDescription description;
};

/// Reads TOML. `file` is for messages. Throws UsageError with file, line and column, or file and key.
SwitchFile parse_switch(std::string_view text, const std::string& file);

/// A built-in switch by name, or a file (anything with '/' or ending in .toml). Throws UsageError; for an
/// unknown name with the nearest ones.
SwitchFile load_switch(const std::string& name_or_file);

/// Names of the built-in switches, sorted.
std::vector<std::string> switch_names();

}  // namespace weir::config
