// Holds the verdict of a run against the rest of its record: what may never be said together.
#pragma once

#include <string>

#include "telemetry/run_record.hpp"

namespace weir::simulation {

/// The first contradiction, as a sentence; empty if there is none. For complete runs.
std::string contradiction_in(const telemetry::RunRecord& record);

}  // namespace weir::simulation
