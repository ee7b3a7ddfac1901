// What a request has about a run, measured or simulated: its description, and the pressure of its plan.
#pragma once

#include <cstdint>
#include <optional>

#include "config/run_request.hpp"
#include "core/pressure.hpp"
#include "participant/run_description.hpp"

namespace weir::cli {

/// Fills in plan, options, labels and requirements. The layout must be known.
void describe(const config::RunRequest& request, participant::RunDescription& run);

/// The pressure of a plan as options give it. For a dry run; consumers are taken to share hosts by the
/// options. Nothing while the layout is not known.
std::optional<core::Pressure> pressure_of(const config::RunRequest& request);

/// For a run whose ranks have their hosts.
core::Pressure pressure_of(const config::RunRequest& request, const participant::RunDescription& run);

}  // namespace weir::cli
