// What is wrong on a host by itself, whatever the others have. Each rule looks at one thing, and reports
// nothing where that is not known.
#pragma once

#include <vector>

#include "host/finding.hpp"
#include "host/host_view.hpp"

namespace weir::host {

/// Devices, addresses, MTU, speed, PFC and ECN of the way that the data will take.
std::vector<Finding> judge_network(const HostView& host);
/// Limits, memory, processors and their distance from the network.
std::vector<Finding> judge_host(const HostView& host);

}  // namespace weir::host
