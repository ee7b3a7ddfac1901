// Rows of bursts as lines of csv_log.hpp. A run has a hundred times as many of them as rows of seconds, so
// lines are short: times have no more digits than they need.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "telemetry/csv_log.hpp"
#include "telemetry/second_clock.hpp"

namespace weir::telemetry {

namespace {

/// Exact, with two decimal places or as many more as it takes.
void add_seconds(std::string& line, std::int64_t ns) {
    constexpr int places = 9;
    const std::int64_t positive = std::abs(ns);
    const fmt::format_int whole(positive / ns_per_second);
    // With a 1 in front, so that zeros behind the point are kept.
    const fmt::format_int fraction(ns_per_second + positive % ns_per_second);
    int used = places;
    for (; used > 2 && fraction.data()[used] == '0'; --used) {
    }
    line += ns < 0 ? "-" : "";
    line.append(whole.data(), whole.size());
    line += '.';
    line.append(fraction.data() + 1, static_cast<std::size_t>(used));
}

void begin_line(std::string& line, const BurstStart& start) {
    add_seconds(line, start.begin.ns);
    line += ',';
    add_seconds(line, start.covered.ns);
}

template <typename Integer>
void add_integer(std::string& line, Integer value) {
    const fmt::format_int digits(value);
    line += ',';
    line.append(digits.data(), digits.size());
}

template <typename Integer>
void add_known(std::string& line, Integer value, Integer unknown) {
    if (value == unknown) {
        line += ',';
    } else {
        add_integer(line, value);
    }
}

void add_fraction(std::string& line, double value) {
    line += ',';
    if (std::isfinite(value)) {
        line += fmt::format("{:.6f}", value);
    }
}

/// To the microsecond.
void add_time(std::string& line, core::Duration time) {
    line += ',';
    if (time.ns > 0) {
        add_seconds(line, (time.ns + 500) / 1000 * 1000);
    } else {
        line += '0';
    }
}

}  // namespace

std::string_view burst_csv_header(core::Role role) {
    switch (role) {
        case core::Role::producer:
            return "begin_s,covered_s,generated_bytes,sent_bytes,occupancy_mean,occupancy_peak\n";
        case core::Role::consumer:
            return "begin_s,covered_s,received_bytes,blocked_s,free_slots_min\n";
        case core::Role::scheduler:
            break;
    }
    return "begin_s,covered_s,grants,waiting_events_max,free_slots_min,waiting_for_slot_s\n";
}

std::string burst_csv_lines(const ProducerRow& row) {
    std::string lines;
    for (const ProducerBurst& burst : row.bursts) {
        begin_line(lines, burst.start);
        add_integer(lines, burst.generated.count);
        add_integer(lines, burst.sent.count);
        add_fraction(lines, burst.occupancy_mean);
        add_fraction(lines, burst.occupancy_peak);
        lines += '\n';
    }
    return lines;
}

std::string burst_csv_lines(const ConsumerRow& row) {
    std::string lines;
    for (const ConsumerBurst& burst : row.bursts) {
        begin_line(lines, burst.start);
        add_integer(lines, burst.received.count);
        add_time(lines, burst.blocked);
        add_known(lines, burst.free_slots_min, ConsumerBurst::unknown);
        lines += '\n';
    }
    return lines;
}

std::string burst_csv_lines(const SchedulerRow& row) {
    std::string lines;
    for (const SchedulerBurst& burst : row.bursts) {
        begin_line(lines, burst.start);
        add_integer(lines, burst.grants);
        add_integer(lines, burst.waiting_events_max);
        add_known(lines, burst.free_slots_min, SchedulerBurst::unknown);
        add_time(lines, burst.waiting_for_slot);
        lines += '\n';
    }
    return lines;
}

}  // namespace weir::telemetry
