// Rows of bursts as lines of csv_log.hpp. A run has a hundred times as many of them as rows of seconds, so
// lines are short: times have no more digits than they need.
#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstdlib>
#include <limits>

#include "record/csv_log.hpp"
#include "record/second_clock.hpp"

namespace weir::record {

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

void add(std::string& line, std::unsigned_integral auto value) {
    line += ',';
    if (value != std::numeric_limits<decltype(value)>::max()) {  // else unknown
        const fmt::format_int digits(value);
        line.append(digits.data(), digits.size());
    }
}

void add(std::string& line, core::Bytes bytes) {
    add(line, static_cast<std::uint64_t>(bytes.count));
}

void add(std::string& line, double value) {
    line += ',';
    if (std::isfinite(value)) {
        line += fmt::format("{:.6f}", value);
    }
}

/// To the microsecond.
void add(std::string& line, core::Duration time) {
    line += ',';
    if (time.ns > 0) {
        add_seconds(line, (time.ns + 500) / 1000 * 1000);
    } else {
        line += '0';
    }
}

// The columns of a role, between the time and the end of a line.
void for_columns(const ProducerBurst& burst, const auto& take) {
    take("generated_bytes", burst.generated);
    take("sent_bytes", burst.sent);
    take("occupancy_mean", burst.occupancy_mean);
    take("occupancy_peak", burst.occupancy_peak);
}

void for_columns(const ConsumerBurst& burst, const auto& take) {
    take("received_bytes", burst.received);
    take("blocked_s", burst.blocked);
    take("free_slots_min", burst.free_slots_min);
}

void for_columns(const SchedulerBurst& burst, const auto& take) {
    take("grants", burst.grants);
    take("waiting_events_max", burst.waiting_events_max);
    take("free_slots_min", burst.free_slots_min);
    take("waiting_for_slot_s", burst.waiting_for_slot);
}

}  // namespace

std::string burst_csv_header(core::Role role) {
    std::string header = "begin_s,covered_s";
    const auto add_name = [&](const char* name, auto) { header.append(",").append(name); };
    switch (role) {
        case core::Role::producer:
            for_columns(ProducerBurst{}, add_name);
            break;
        case core::Role::consumer:
            for_columns(ConsumerBurst{}, add_name);
            break;
        case core::Role::scheduler:
            for_columns(SchedulerBurst{}, add_name);
            break;
    }
    return header + '\n';
}

template <typename Row>
std::string burst_csv_lines(const Row& row) {
    std::string lines;
    for (const auto& burst : row.bursts) {
        add_seconds(lines, burst.start.begin.ns);
        lines += ',';
        add_seconds(lines, burst.start.covered.ns);
        for_columns(burst, [&](const char*, auto value) { add(lines, value); });
        lines += '\n';
    }
    return lines;
}
template std::string burst_csv_lines(const ProducerRow& row);
template std::string burst_csv_lines(const ConsumerRow& row);
template std::string burst_csv_lines(const SchedulerRow& row);

}  // namespace weir::record
