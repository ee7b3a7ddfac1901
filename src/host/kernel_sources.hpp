// The sources behind KernelCalls: of what a driver counts, which is hundreds to thousands of numbers, only
// signs of congestion and loss; and the drops of queueing disciplines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/counter_files.hpp"
#include "host/kernel_calls.hpp"

namespace weir::host {

/// Whether a driver's counter is of the kinds that are recorded: pauses, discards, drops, marks, congestion
/// notifications, buffers, stalls. Counters of single queues are not: they are sums of these taken apart.
bool driver_counter_wanted(std::string_view name);

/// `calls` must outlive the sources.
Sources driver_counters(KernelCalls& calls, const std::vector<std::string>& interfaces);
Sources queue_counters(KernelCalls& calls, const std::vector<std::string>& interfaces);

/// `root`: what the paths begin with, empty on a real host.
Sources protocol_tables(const std::string& root);

}  // namespace weir::host
