// Compares the verdict of a run with the rest of its record: statements that contradict each other.
#pragma once

#include <string>

#include "show/run_record.hpp"

namespace weir::explorer {

/// The first contradiction, as a sentence; empty if there is none. For complete runs.
std::string contradiction_in(const show::RunRecord& record);

}  // namespace weir::explorer
