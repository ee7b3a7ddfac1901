// The plan in run.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/plan.hpp"
#include "core/pressure.hpp"

namespace weir::show {

/// The plan in plain numbers, for programs: the options beside it are text with units.
nlohmann::ordered_json resolved_json(const core::Plan& plan, const std::optional<core::Pressure>& pressure);

}  // namespace weir::show
