// The lines of traffic files: matrices and traces in CSV (docs/traffic.md). Read completely, checked, and
// refused with file and line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/traffic_plan.hpp"
#include "core/units.hpp"

namespace weir::config {

/// What a message repeats of a line that may be anything.
std::string shown(std::string_view text);

/// Each pair once. Throws UsageError.
std::vector<core::TrafficPlan::Entry> read_matrix(const std::string& file);

struct TraceLines {
    std::vector<core::TrafficPlan::Entry> entries;  ///< by time; each pair once at a time
    std::vector<core::Dependency> dependencies;
    core::Duration last_at;
};

/// Lines of the same time and pair are joined, unless lines have numbers by which others wait for them: then
/// they are refused. Throws UsageError.
TraceLines read_trace_lines(const std::string& file);

}  // namespace weir::config
