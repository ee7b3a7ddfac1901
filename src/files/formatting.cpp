#include "files/formatting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace weir::files {

namespace {

constexpr std::array<RateUnit, 4> rate_units{{{1e3, "kb/s"}, {1e6, "Mb/s"}, {1e9, "Gb/s"}, {1e12, "Tb/s"}}};

/// Enough decimals for the wanted number of significant digits, at most `digits - 1`.
std::string significant(double value, int digits) {
    int decimals = digits - 1;
    // Half a unit of the last digit decides where rounding carries into another digit.
    for (double limit = 10; decimals > 0 && std::abs(value) + 0.5 * std::pow(10, -decimals) >= limit;
         limit *= 10) {
        --decimals;
    }
    return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

RateUnit unit_for(core::BitRate rate) {
    RateUnit best = rate_units.front();
    for (const RateUnit& unit : rate_units) {
        if (static_cast<double>(rate.bits_per_second) >= unit.bits_per_second) {
            best = unit;
        }
    }
    return best;
}

std::string in_unit(core::BitRate rate, RateUnit unit) {
    return significant(static_cast<double>(rate.bits_per_second) / unit.bits_per_second, 4);
}

std::string exact_seconds(std::int64_t ns) {
    constexpr std::int64_t second = 1'000'000'000;
    return fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", std::abs(ns) / second, std::abs(ns) % second);
}

std::string readable(core::BitRate rate) {
    const RateUnit unit = unit_for(rate);
    return in_unit(rate, unit) + " " + unit.name;
}

std::string readable(core::Bytes bytes) {
    constexpr std::array<const char*, 7> names{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    auto value = static_cast<double>(bytes.count);
    std::size_t unit = 0;
    while (std::abs(value) >= 1000 && unit + 1 < names.size()) {
        value /= 1000;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes.count) : significant(value, 4) + " " + names[unit];
}

std::string readable(core::Duration duration) {
    const auto ns = static_cast<double>(duration.ns);
    if (std::abs(ns) < 1e3) {
        return fmt::format("{} ns", duration.ns);
    }
    // What three digits round up to the next unit is written in that unit.
    if (std::abs(ns) < 999.5e3) {
        return significant(ns * 1e-3, 3) + " us";
    }
    if (std::abs(ns) < 999.5e6) {
        return significant(ns * 1e-6, 3) + " ms";
    }
    return significant(ns * 1e-9, 3) + " s";
}

std::string length_text(core::Duration length) {
    const core::Duration second = core::Duration::seconds(1);
    return length.ns % second.ns == 0 ? counted(static_cast<std::uint64_t>(length.ns / second.ns), "second")
                                      : readable(length);
}

std::string percent(double fraction) {
    const double value = fraction * 100;
    if (!std::isfinite(value)) {
        return "? %";
    }
    // Not quite all is not all.
    if (value >= 99.5 && value < 100) {
        return value >= 99.95 ? "above 99.9 %" : fmt::format("{:.1f} %", value);
    }
    if (value == 0 || std::abs(value) >= 9.95) {
        return fmt::format("{:.0f} %", value);
    }
    return std::abs(value) < 0.05 ? "below 0.1 %" : fmt::format("{:.1f} %", value);
}

std::string loss_share(std::uint64_t part, std::uint64_t whole) {
    if (part == 0 || whole == 0) {
        return part == 0 ? "0 %" : "? %";
    }
    const double share = static_cast<double>(part) / static_cast<double>(whole);
    if (share >= 0.1) {
        return percent(share);
    }
    if (share >= 0.001) {
        return fmt::format("{:.2g} %", 100 * share);
    }
    std::string text = fmt::format("{:.1e}", share);
    // As people write it: 6.1e-5.
    if (const auto zero = text.find("e-0"); zero != std::string::npos) {
        text.erase(zero + 2, 1);
    }
    return text;
}

std::string counted(std::uint64_t number, std::string_view singular) {
    return fmt::format("{} {}{}", number, singular, number == 1 ? "" : "s");
}

std::string capitalised(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    }
    return text;
}

std::string name_some(std::string_view singular, std::span<const std::uint32_t> indices, std::size_t named) {
    if (indices.empty()) {
        return fmt::format("no {}", singular);
    }
    std::string text = fmt::format("{}{} {}", singular, indices.size() == 1 ? "" : "s", indices[0]);
    // One index more is named rather than called "1 other".
    const std::size_t shown = indices.size() <= named + 1 ? indices.size() : named;
    for (std::size_t i = 1; i < shown; ++i) {
        text += fmt::format("{}{}", i + 1 == indices.size() ? " and " : ", ", indices[i]);
    }
    if (shown < indices.size()) {
        text += fmt::format(" and {} more", indices.size() - shown);
    }
    return text;
}

std::string node_text(core::NodeId node) {
    return node.role == core::Role::scheduler ? core::role_name(node.role)
                                              : fmt::format("{} {}", core::role_name(node.role), node.index);
}

std::string node_text(core::NodeId node, std::string_view host) {
    return host.empty() ? node_text(node) : fmt::format("{} on {}", node_text(node), host);
}

std::string utc_text(std::int64_t unix_ns) {
    namespace chrono = std::chrono;
    const chrono::sys_time<chrono::milliseconds> time{
        chrono::floor<chrono::milliseconds>(chrono::nanoseconds{unix_ns})};
    const auto day = chrono::floor<chrono::days>(time);
    const chrono::year_month_day date{day};
    const chrono::hh_mm_ss clock{time - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                       clock.subseconds().count());
}

std::string indented(std::string_view text, std::size_t column) {
    std::string lines;
    while (column + text.size() > line_width) {
        std::size_t end = text.rfind(' ', line_width - column);
        if (end == std::string_view::npos || end == 0) {
            end = std::min(text.find(' '), text.size());
        }
        lines.append(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (text.empty()) {
            return lines;
        }
        lines.append("\n").append(column, ' ');
    }
    return lines.append(text);
}

std::string wrapped(std::string_view text) {
    return indented(text, 0) + '\n';
}

}  // namespace weir::files
