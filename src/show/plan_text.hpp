// A plan as text, for the start of a run and the dry run; its pressure (core/pressure.hpp) also as JSON, for
// run.json and what reads that.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/pressure.hpp"

namespace weir::show {

/// "14 producers x 85.80 Gb/s to 72 consumers"; with generation `saturate`, where the rate is not what is
/// sent, "2 producers to 2 consumers, as fast as possible".
std::string load_text(const core::Plan& plan);

/// Notes on the last set where the duration is not a multiple of the interval, or where the set has less than
/// an interval until the end of the drain; empty: nothing to note.
std::vector<std::string> last_set_lines(const core::Plan& plan);

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
