// Notes below the options of a group: how distributions and faults are written, which options go
// together. Shown below the lines by `--help GROUP` and in the manual.
#pragma once

#include <string_view>

#include "config/option_table.hpp"

namespace weir::cli {

/// Paragraphs, lines as they are to be shown; examples are indented by two spaces. Begins with an empty line;
/// empty: none.
std::string_view group_note(config::OptionGroup group);

}  // namespace weir::cli
