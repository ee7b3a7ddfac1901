// One rank in run.json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "show/run_record.hpp"

namespace weir::show {

/// An entry of "ranks".
nlohmann::ordered_json rank_json(const record::RankRecord& rank);

}  // namespace weir::show
