// What is printed when a run has ended: the verdict first, then the numbers behind it, on one screen.
#pragma once

#include <string>

#include "show/run_record.hpp"

namespace weir::show {

/// Lines with line ends, at most 110 columns and 30 lines. `terminal`: colours may be used.
std::string final_summary_text(const RunRecord& record, bool terminal);

/// The same as JSON: summary_line().
std::string final_summary_json(const RunRecord& record);

}  // namespace weir::show
