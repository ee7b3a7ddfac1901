// How much a run generates, against what can be counted and what can wait.
#pragma once

#include <span>
#include <string_view>

#include "config/run_request.hpp"
#include "core/traffic_plan.hpp"

namespace weir::config {

/// Refuses transfers of one interval that are more bytes than sums can hold, before they are summed. `what`
/// names where they come from. Throws UsageError.
void check_traffic_sum(std::string_view what, std::span<const core::TrafficPlan::Entry> transfers);

}  // namespace weir::config
