// The switches, cables and hosts of a simulation as text, and what their numbers say before anything runs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "config/run_request.hpp"

namespace weir::cli {

struct DrawnLine {
    std::string name;  ///< empty: goes on with the line before
    std::string text;
};

/// Nothing for one switch whose hosts have a rank and a NIC each. Needs the layout and the network model
/// `packet`.
std::vector<DrawnLine> fabric_lines(const config::RunRequest& request);
nlohmann::ordered_json fabric_json(const config::RunRequest& request);

}  // namespace weir::cli
