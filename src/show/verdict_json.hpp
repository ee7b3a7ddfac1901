// The verdict as run.json has it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "show/run_record.hpp"

namespace weir::show {

/// `verdict` of the record, with `causes`.
nlohmann::ordered_json verdict_json(const RunRecord& record);

}  // namespace weir::show
