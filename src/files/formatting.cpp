#include "files/formatting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace weir::files {

namespace {

std::size_t line_width = 110;

// GNU C++, as in core/units.hpp.
__extension__ using Wide = __int128;

std::string without_zeros(std::string text) {
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        text.erase(text.find_last_not_of('.') + 1);
    }
    return text == "-0" ? "0" : text;
}

double rounded(double value, int digits = 3) {
    return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
}

bool is_binary(const Unit& unit) {
    return unit.name.find('i') != std::string_view::npos;
}

/// The largest decimal unit in which the value is at least 1; of 0 the plain one, with a name of its own.
const Unit& unit_of(double value, std::span<const Unit> units, const Unit& plain) {
    for (const Unit& unit : units) {
        if (!is_binary(unit) && std::abs(value) >= static_cast<double>(unit.factor)) {
            return unit;
        }
    }
    return value == 0 ? plain : units.back();
}

/// What three digits round up to the next unit is written in that unit.
std::string scaled(double value, std::span<const Unit> units, const Unit& plain) {
    if (std::isnan(value)) {
        return "-";
    }
    const Unit& unit = unit_of(rounded(value), units, plain);
    return fmt::format("{} {}", number(value / static_cast<double>(unit.factor)), unit.name);
}

std::string exact_text(std::int64_t value, std::span<const Unit> units, const Unit& plain) {
    std::string best;
    std::size_t fewest_digits = 0;
    for (const Unit& unit : units) {
        if (value < unit.factor) {
            continue;
        }
        std::string text = fmt::format("{}", value / unit.factor);
        std::size_t digits = text.size();
        std::int64_t left = value % unit.factor;
        if (left != 0) {
            text += '.';
        }
        constexpr int most_decimals = 12;
        for (int i = 0; left != 0 && i < most_decimals; ++i, ++digits) {
            const Wide shifted = static_cast<Wide>(left) * 10;
            text += static_cast<char>('0' + static_cast<int>(shifted / unit.factor));
            left = static_cast<std::int64_t>(shifted % unit.factor);
        }
        if (left == 0 && (best.empty() || digits < fewest_digits)) {
            best = fmt::format("{} {}", text, unit.name);
            fewest_digits = digits;
        }
    }
    return best.empty() ? fmt::format("{} {}", value, plain.name) : best;
}

}  // namespace

std::string number(double value, int digits) {
    if (!std::isfinite(value)) {
        return std::isnan(value) ? "-" : value < 0 ? "-∞" : "∞";
    }
    const std::string text = fmt::format("{:.{}e}", value, digits - 1);
    const std::size_t end = text.find('e');
    const int exponent = std::stoi(text.substr(end + 1));
    return value != 0 && exponent < -4
               ? fmt::format("{}e{}", without_zeros(text.substr(0, end)), exponent)
               : without_zeros(fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent)));
}

std::string cell(double value) {
    return std::abs(value) < 0.1 ? without_zeros(fmt::format("{:.3f}", value)) : number(value);
}

std::string rate_text(double bits_per_second) {
    return scaled(bits_per_second, rate_units, rate_units.back());
}

std::string bytes_text(double bytes) {
    const auto in = [&](const Unit& unit) { return bytes / static_cast<double>(unit.factor); };
    const auto is_exact = [](double value) { return rounded(value) == value; };
    const double decimal = in(unit_of(bytes, byte_units, byte_units.back()));
    for (const Unit& unit : byte_units) {
        if (is_binary(unit) && in(unit) >= 1 && is_exact(in(unit))) {
            std::string text = number(in(unit));
            if (text.size() < number(decimal).size() || !is_exact(decimal)) {
                return fmt::format("{} {}", text, unit.name);
            }
            break;
        }
    }
    return scaled(bytes, byte_units, byte_units.back());
}

std::string seconds_text(double seconds) {
    return scaled(seconds * 1e9, time_units, time_units.front());
}

std::string readable(core::BitRate rate) {
    return rate_text(static_cast<double>(rate.bits_per_second));
}
std::string readable(core::Bytes bytes) {
    return bytes_text(static_cast<double>(bytes.count));
}
std::string readable(core::Duration duration) {
    return scaled(static_cast<double>(duration.ns), time_units, time_units.front());
}

std::string exact(core::BitRate rate) {
    return exact_text(rate.bits_per_second, rate_units, rate_units.back());
}
std::string exact(core::Bytes bytes) {
    return exact_text(bytes.count, byte_units, byte_units.back());
}
std::string exact(core::Duration duration) {
    return exact_text(duration.ns, time_units, time_units.front());
}

Unit unit_for(core::BitRate rate) {
    return unit_of(static_cast<double>(rate.bits_per_second), rate_units, rate_units.back());
}

std::string in_unit(core::BitRate rate, Unit unit) {
    return cell(static_cast<double>(rate.bits_per_second) / static_cast<double>(unit.factor));
}

std::string instant(double seconds, int decimals) {
    return without_zeros(fmt::format("{:.{}f}", seconds, decimals)) + " s";
}

std::string rough_time(double seconds) {
    if (seconds >= 3600) {
        const auto minutes = static_cast<std::int64_t>(seconds) / 60;
        return fmt::format("{} h {} min", minutes / 60, minutes % 60);
    }
    return seconds >= 100 ? number(seconds / 60) + " min" : fmt::format("{:.0f} s", seconds);
}

std::string exact_seconds(std::int64_t ns) {
    constexpr std::int64_t second = 1'000'000'000;
    return fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", std::abs(ns) / second, std::abs(ns) % second);
}

std::string length_text(core::Duration length) {
    const core::Duration second = core::Duration::seconds(1);
    return length.ns % second.ns == 0 ? counted(static_cast<std::uint64_t>(length.ns / second.ns), "second")
                                      : readable(length);
}

std::string percent(double fraction) {
    const double value = fraction * 100;
    if (!std::isfinite(value)) {
        return "-";
    }
    // Not quite all is not all, and hardly anything not nothing.
    if (value >= 99.95 && value < 100) {
        return "above 99.9 %";
    }
    if (value != 0 && std::abs(value) < 0.05) {
        return "below 0.1 %";
    }
    const bool whole = std::abs(value) >= 9.95 && (value < 99.5 || value >= 100);
    return without_zeros(fmt::format("{:.{}f}", value, whole ? 0 : 1)) + " %";
}

std::string loss_share(std::uint64_t part, std::uint64_t whole) {
    const double share = static_cast<double>(part) / static_cast<double>(whole);
    if (part == 0 || !(share < 0.1)) {
        return percent(part == 0 ? 0 : share);
    }
    return share >= 0.001 ? number(100 * share, 2) + " %" : number(share, 2);
}

std::string change(double times) {
    const double percents = 100 * (times - 1);
    if (std::abs(percents) >= 999.95) {
        return "x " + number(times);
    }
    std::string text = fmt::format("{:+.1f}", percents);
    if (text.ends_with(".0")) {
        text.resize(text.size() - 2);
    }
    return (text == "+0" || text == "-0" ? "0" : text) + " %";
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

std::string listed(std::span<const std::string> names, std::size_t most) {
    const std::size_t shown = names.size() <= most + 1 ? names.size() : most;
    const std::string_view last = shown < names.size() ? ", " : " and ";
    std::string text;
    for (std::size_t i = 0; i < shown; ++i) {
        text += i == 0 ? "" : i + 1 < shown ? ", " : last;
        text += names[i];
    }
    return shown < names.size() ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

std::string name_some(std::string_view singular, std::span<const std::uint32_t> indices, std::size_t most) {
    if (indices.empty()) {
        return fmt::format("no {}", singular);
    }
    std::vector<std::string> names;
    for (const std::uint32_t index : indices) {
        names.push_back(std::to_string(index));
    }
    return fmt::format("{}{} {}", singular, names.size() == 1 ? "" : "s", listed(names, most));
}

std::string node_text(core::NodeId node) {
    return node.role == core::Role::scheduler ? core::role_name(node.role)
                                              : fmt::format("{} {}", core::role_name(node.role), node.index);
}

std::string node_text(core::NodeId node, std::string_view host) {
    return host.empty() ? node_text(node) : fmt::format("{} on {}", node_text(node), host);
}

std::optional<core::Role> role_named(std::string_view name) {
    for (const core::Role role : {core::Role::producer, core::Role::consumer, core::Role::scheduler}) {
        if (name == core::role_name(role)) {
            return role;
        }
    }
    return std::nullopt;
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

void set_line_width(std::size_t columns) {
    line_width = columns;
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
