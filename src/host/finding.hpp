// What a check found, the worst first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::host {

enum class Severity : std::uint8_t {
    serious,  ///< a run would fail, or would measure something else than intended
    warning,  ///< costs performance, or hides a problem
    note,     ///< for information
};
/// "serious", ...
const char* severity_name(Severity severity);

struct Finding {
    Severity severity = Severity::note;
    std::string topic;               ///< stable, for programs: "mtu", "gid", "locked_memory", ...
    std::vector<std::string> hosts;  ///< where; empty: everywhere, or between hosts
    std::string what;                ///< one sentence without the hosts
    std::string advice;              ///< what to do; empty: nothing

    bool operator==(const Finding&) const = default;
};

/// Worst first; findings that differ only in their hosts become one.
std::vector<Finding> in_order(std::vector<Finding> findings);

bool any_serious(const std::vector<Finding>& findings);

}  // namespace weir::host
