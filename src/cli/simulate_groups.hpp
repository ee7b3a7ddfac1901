// `weir simulate --groups N`: the groups of a job, each a simulation of its own, several at a time.
#pragma once

#include <cstdint>

#include "config/run_request.hpp"
#include "simulation/counterfactuals.hpp"

namespace weir::cli {

/// `jobs`: groups that are simulated at the same time; causes of a group are proved while it is. Returns the
/// exit status. Throws config::UsageError.
int simulate_groups(const config::RunRequest& asked, std::uint32_t jobs, simulation::Explain explain);

}  // namespace weir::cli
