// The sources behind KernelCalls: of what a driver counts, which is hundreds to thousands of numbers, only
// signs of congestion and loss; and the drops of queueing disciplines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/counter_files.hpp"
#include "host/kernel_calls.hpp"

namespace weir::host {

/// Whether a driver's counter is recorded: the catalogue has it (record/counter_meaning.hpp), or its name
/// sounds like pauses, discards, drops, marks, congestion notifications, buffers or stalls. Of single queues
/// only what the catalogue has is: drivers add up the others.
bool driver_counter_wanted(std::string_view name);

/// `calls` must outlive the sources. `root`: what the paths begin with, empty on a real host.
Sources driver_counters(const std::string& root, KernelCalls& calls,
                        const std::vector<std::string>& interfaces);
Sources queue_counters(KernelCalls& calls, const std::vector<std::string>& interfaces);

Sources protocol_tables(const std::string& root);

}  // namespace weir::host
