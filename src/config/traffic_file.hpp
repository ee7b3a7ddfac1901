// Files of who sends how much to whom: a matrix, a sequence of matrices, a trace, or collectives.
// docs/traffic.md describes the formats. Read completely, checked, and refused with file and line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/quantities.hpp"
#include "core/traffic_plan.hpp"
#include "core/units.hpp"

namespace weir::config {

struct TrafficDescription {
    enum class Form : std::uint8_t { none, matrix, sequence, trace, collectives };
    Form form = Form::none;
    std::string file;
    std::vector<core::TrafficPhase> phases;  ///< a matrix and a trace are one, without a period
    std::vector<core::TrafficPlan::Entry> entries;
    std::vector<core::Dependency> dependencies;
    std::vector<core::Collective> collectives;  ///< by phase; of others: none
    core::Duration length;  ///< a sequence: of all its phases; a trace: until its last transfer; collectives:
                            ///< their interval; else 0
    std::uint32_t producers = 0;  ///< the highest index of one, and 1
    std::uint32_t consumers = 0;

    bool operator==(const TrafficDescription&) const = default;
};

/// For messages and for the option's help.
inline constexpr std::string_view traffic_forms = "matrix:FILE, sequence:FILE, trace:FILE, collectives:FILE";

/// Whether a value of --pattern names a file.
[[nodiscard]] bool names_traffic(std::string_view pattern);
/// Reads the file. Throws UsageError.
TrafficDescription read_traffic(std::string_view pattern);
/// The value of --pattern that read_traffic() would read again; empty if there is none.
std::string traffic_text(const TrafficDescription& traffic);

/// Bytes times a factor, rounded up; times times a factor, rounded down. Throws UsageError that begins with
/// the option's name.
void scale_traffic(TrafficDescription& traffic, const Ratio& bytes_factor, const Ratio& time_factor);

// Their lines: matrices and traces in CSV (traffic_lines.cpp).

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
