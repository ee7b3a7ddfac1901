// One rank in run.json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "telemetry/run_record.hpp"

namespace weir::telemetry {

/// An entry of "ranks".
nlohmann::ordered_json rank_json(const RankRecord& rank);

}  // namespace weir::telemetry
