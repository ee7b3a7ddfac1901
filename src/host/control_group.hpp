// What the control groups of this process leave it (version 1 or 2): a job of SLURM, a service or a container
// has limits that the host's own numbers do not show. A limit of any group above holds, too, so the least
// counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/units.hpp"

namespace weir::host {

struct GroupLimits {
    double cores = 0;                               ///< worth of time; 0: no limit
    std::optional<std::int64_t> memory_bytes = {};  ///< that may be used besides what is; nothing: no limit
};

/// Of the groups that can be seen from here. `root`: what the paths begin with, empty on a real host.
GroupLimits group_limits(const std::string& root = {});

/// The least of what the host has (MemAvailable) and what the control groups leave.
struct AvailableMemory {
    core::Bytes bytes;      ///< 0: not known
    bool by_group = false;  ///< the control groups leave less than the host has
};
AvailableMemory available_memory(const std::string& root = {});

/// What is said behind the number, so that it is not looked for in the host; empty if it is the host's.
inline const char* limit_hint(bool by_group) {
    return by_group ? ", which is what a limit on its control group (job, service or container) leaves" : "";
}

}  // namespace weir::host
