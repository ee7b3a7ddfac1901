// From options to a run: defaults < scenario < command line, then --scale, then what follows from what, then
// the checks of everything that one command line can get wrong. Needs neither MPI nor the number of ranks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/run_request.hpp"
#include "core/role_map.hpp"

namespace weir::config {

/// The request that these options make, complete and checked. Reads scenario and trace files. Throws
/// UsageError. `simulated`: for `weir simulate`, which takes the options of the network too.
RunRequest resolve(std::span<const GivenOption> command_line, bool simulated = false);

/// Enters the numbers of producers and consumers and checks what depends on them. Throws UsageError.
void apply_layout(RunRequest& request, const core::RoleMap& roles);

/// MPMD starts may give options on one part of the command line only. encode_options: this rank's command
/// line in one string; merge_options: the request that all of them together make (`--role` aside; every rank
/// arrives at the same). Throws UsageError where two ranks contradict each other, naming both.
std::string encode_options(const RunRequest& request);
RunRequest merge_options(std::span<const std::string> encoded_by_rank);

}  // namespace weir::config
