// A run that is to be explained, as its directory has it: what its rows show, and what rules over them found.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "judge/causes.hpp"
#include "twin/shown_run.hpp"

namespace weir::cli {

/// The run of this record and of the rows that it names in `directory`. Throws twin::Unreadable and
/// config::UsageError.
twin::ShownRun shown_run(const nlohmann::ordered_json& record, const std::string& directory);

/// What rules over its rows found, as the record has it.
std::vector<judge::NamedCause> observed_in(const nlohmann::ordered_json& record);

}  // namespace weir::cli
