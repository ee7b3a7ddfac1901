// Numbers, names of ranks and times as text for people. The rules for numbers are those of
// src/report/weir_runs/basics/units.py; tests/unit/files/number_cases.inc is tested with both.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "core/units.hpp"

namespace weir::files {

/// A unit of sizes, of rates or of times, in bytes, bits per second or nanoseconds.
struct Unit {
    std::string_view name;
    std::int64_t factor = 1;
};
// Largest first.
inline constexpr std::array<Unit, 9> byte_units{{{"TiB", 1LL << 40},
                                                 {"TB", 1'000'000'000'000},
                                                 {"GiB", 1LL << 30},
                                                 {"GB", 1'000'000'000},
                                                 {"MiB", 1LL << 20},
                                                 {"MB", 1'000'000},
                                                 {"KiB", 1LL << 10},
                                                 {"kB", 1000},
                                                 {"B", 1}}};
inline constexpr std::array<Unit, 5> rate_units{
    {{"Tb/s", 1'000'000'000'000}, {"Gb/s", 1'000'000'000}, {"Mb/s", 1'000'000}, {"kb/s", 1000}, {"b/s", 1}}};
inline constexpr std::array<Unit, 4> time_units{
    {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1000}, {"ns", 1}}};

/// The number that the text is, and nothing else; nothing: it is none, or does not fit.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
    Number number{};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && rest == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// "2.4", "0.85", "1234", "6.1e-5": so many significant digits, all of those before the decimal point, and no
/// zeros at the end. NaN: "-".
std::string number(double value, int digits = 3);
/// The same for a narrow column, with three decimals at most.
std::string cell(double value);

/// "85.8 Gb/s", "16 MiB", "90 ms", in the unit that suits it; bytes in a binary one where that is exact and
/// shorter.
std::string readable(core::BitRate rate);
std::string readable(core::Bytes bytes);
std::string readable(core::Duration duration);
/// Of a number that may be a fraction, or larger than the types hold.
std::string rate_text(double bits_per_second);
std::string bytes_text(double bytes);
std::string seconds_text(double seconds);

/// What somebody chose, with all its digits in the unit that needs the fewest: "85.83 Gb/s", "1.023 kB".
std::string exact(core::BitRate rate);
std::string exact(core::Bytes bytes);
std::string exact(core::Duration duration);

/// The unit in which a rate reads well, for a column.
Unit unit_for(core::BitRate rate);
std::string in_unit(core::BitRate rate, Unit unit);

/// A time in a run, "12.345 s": so many decimals and no more.
std::string instant(double seconds, int decimals = 3);

/// How long something takes, roughly: "1 h 12 min", "4.5 min", "40 s".
std::string rough_time(double seconds);

/// "-0.250000000": seconds with all nanoseconds, for CSV.
std::string exact_seconds(std::int64_t ns);

/// The length of a run: "30 seconds", "1 second", or, not of whole seconds, as above.
std::string length_text(core::Duration length);

/// A share with one decimal at most: "41 %", "4.2 %", "below 0.1 %", "above 99.9 %".
std::string percent(double fraction);
/// The same of a part; of no whole: 0 %.
template <typename Number>
std::string percent(Number part, Number whole) {
    return percent(whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0);
}

/// How much of `whole` was lost, with two digits: "41 %", "0.42 %", and from a thousandth downwards "6.1e-5".
std::string loss_share(std::uint64_t part, std::uint64_t whole);

/// How much a value is above another, of which it is so many times as much: "+3.1 %", "x 12".
std::string change(double times);

/// The word for a value of an enumeration that counts from 0: one for each. A value from elsewhere may be
/// none.
template <typename Enum, std::size_t values>
constexpr const char* word_of(Enum value, const char* const (&words)[values]) {
    const auto place = static_cast<std::size_t>(value);
    return place < values ? words[place] : "unknown";
}

/// "1 event", "2 events"
std::string counted(std::uint64_t number, std::string_view singular);

/// With a capital at the beginning, if a letter stands there.
std::string capitalised(std::string text);

/// "a", "a and b", "a, b and c"; of many the first: "a, b, c and 3 more". One more than `most` is named as
/// well.
std::string listed(std::span<const std::string> names, std::size_t most = 3);
/// "no producer", "producer 3", "producers 3 and 7", "producers 3, 7, 2 and 2 more".
std::string name_some(std::string_view singular, std::span<const std::uint32_t> indices,
                      std::size_t most = 3);

/// "producer 3"
std::string node_text(core::NodeId node);
/// Nothing: there is no role of this name.
std::optional<core::Role> role_named(std::string_view name);
/// "producer 3 on eb07"; without the host where that is empty.
std::string node_text(core::NodeId node, std::string_view host);

/// Columns of a line of text that is printed: 110, unless a program knows its terminal.
void set_line_width(std::size_t columns);
/// Breaks text at blanks; the lines after the first begin under the first one's text, at `column`. Without
/// the last line end.
std::string indented(std::string_view text, std::size_t column);
/// The same from the first column on, with the last line end.
std::string wrapped(std::string_view text);

// Escape sequences, for terminals only.
inline constexpr std::string_view colour_red = "\x1b[31;1m";
inline constexpr std::string_view colour_green = "\x1b[32;1m";
inline constexpr std::string_view colour_none = "\x1b[0m";

/// ISO 8601 in UTC with milliseconds, "2026-01-31T12:34:56.789Z", of nanoseconds since 1970.
std::string utc_text(std::int64_t unix_ns);

}  // namespace weir::files
