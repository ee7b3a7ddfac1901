// The pressure of a plan (core/pressure.hpp) as text and JSON: for the dry run, run.json, and what reads
// those.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/pressure.hpp"

namespace weir::show {

/// "pfc", "ecn", "drop"; "switch": the value of --acts-at.
const char* setting_name(core::Pressure::Setting setting);

/// "at most 4.194 MB under way into a consumer's port: 4 transfers of 1.049 MB, as --slots allows"
std::string under_way_text(const core::Pressure& pressure);

/// "PFC pauses from 3.420 MB in a consumer's port on, and at most 3.217 MB can wait there (pressure 0.94)"
std::string waiting_text(const core::Pressure::Acting& acting);

/// The same; of a setting that cannot act: ": it cannot act in this plan, but with events of 1.115 MB or more
/// (--event-size) or more slots (--slots)"
std::string setting_text(const core::Pressure& pressure, const core::Pressure::Acting& acting);

/// Why nothing is known of the settings; empty: it is.
std::string unknown_text(const core::Pressure& pressure);

/// What run.json and the dry run hold; `text` of each setting is waiting_text(), `remedy` what lets it act.
nlohmann::ordered_json to_json(const core::Pressure& pressure);

}  // namespace weir::show
