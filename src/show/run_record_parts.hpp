// The larger parts of run.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/pressure.hpp"
#include "judge/causes.hpp"
#include "show/run_record.hpp"

namespace weir::show {

/// An entry of "ranks".
nlohmann::ordered_json rank_json(const record::RankRecord& rank);

/// The plan in plain numbers, for programs: the options beside it are text with units.
nlohmann::ordered_json resolved_json(const core::Plan& plan, const std::optional<core::Pressure>& pressure);

/// `verdict` of the record, with `causes`.
nlohmann::ordered_json verdict_json(const RunRecord& record);
/// The causes of such a verdict, which may come from elsewhere. `list`: "causes", or "observed".
std::vector<judge::NamedCause> causes_from(const nlohmann::ordered_json& verdict,
                                           const char* list = "causes");

/// The record of a run or of a job on one line, without line end; "type" is "summary", as "second" is in live
/// lines.
std::string summary_line(const nlohmann::ordered_json& json, const std::string& directory);

}  // namespace weir::show
