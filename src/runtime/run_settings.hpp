// Everything that the runtime needs to know of a run, the same on every rank (the log form of one rank
// aside).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "core/role_map.hpp"
#include "runtime/host_facts.hpp"
#include "runtime/idle.hpp"
#include "telemetry/live_view.hpp"
#include "transport/fault_injection.hpp"

namespace weir::runtime {

struct RunSettings {
    core::Plan plan;
    core::RoleMap roles;
    std::vector<Place> places;  ///< by rank

    std::string directory;              ///< of the run; exists
    std::optional<IdleMode> idle_mode;  ///< nothing: chosen from the host's load
    core::Duration silence_timeout;

    telemetry::LiveForm output = telemetry::LiveForm::text;
    bool require_sustained = false;
    bool require_lossless = false;

    // For run.json.
    std::vector<std::pair<std::string, std::string>> labels;
    std::vector<std::pair<std::string, std::string>> plan_options;
    nlohmann::ordered_json environment = nlohmann::ordered_json::object();

    std::vector<transport::FaultSpec> faults;  ///< to be injected, in tests
};

/// "rank 3 (consumer 1 on eb07)"
std::string rank_text(const RunSettings& settings, int rank);

}  // namespace weir::runtime
