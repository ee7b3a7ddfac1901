// Files that describe collectives (TOML): what each is, and the trace of its transfers. docs/traffic.md
// describes the format. Read completely, checked, and refused with file and line.
#pragma once

#include "config/traffic_file.hpp"

namespace weir::config {

/// Fills what the file of `traffic` describes: a phase for each collective. Throws UsageError.
void read_collectives(TrafficDescription& traffic);

}  // namespace weir::config
