// Numbers, names of ranks and times as text for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/ids.hpp"
#include "core/units.hpp"

namespace weir::files {

/// A decimal unit of bit rates.
struct RateUnit {
    double bits_per_second = 1;
    const char* name = "b/s";  ///< a literal
};

/// The largest unit from kb/s to Tb/s in which the rate is at least 1 (kb/s for less).
RateUnit unit_for(core::BitRate rate);

/// Four significant digits, at most six characters up to 999999 of the unit: "0.850", "85.80", "858.0",
/// "8580".
std::string in_unit(core::BitRate rate, RateUnit unit);

/// "85.80 Gb/s", in the unit that suits it.
std::string readable(core::BitRate rate);
/// "64 B", "16.78 MB", "1.234 TB": decimal units, four significant digits.
std::string readable(core::Bytes bytes);
/// "12.3 us", "4.56 ms", "1.20 s": three significant digits.
std::string readable(core::Duration duration);

/// "-0.250000000": seconds with all nanoseconds, for CSV.
std::string exact_seconds(std::int64_t ns);

/// The length of a run: "30 seconds", "1 second", or, not of whole seconds, as above.
std::string length_text(core::Duration length);

/// `part` of `whole` as "41 %", "0.3 %", "0 %".
std::string percent(double fraction);

/// How much of `whole` was lost: "8.1 %", "0.12 %", and from a thousandth downwards "6.1e-5".
std::string loss_share(std::uint64_t part, std::uint64_t whole);

/// "1 event", "2 events"
std::string counted(std::uint64_t number, std::string_view singular);

/// With a capital at the beginning, if a letter stands there.
std::string capitalised(std::string text);

/// Names the first few of a list: "producer 3", "producers 3 and 7", "producers 3, 7 and 2 more".
std::string name_some(std::string_view singular, std::span<const std::uint32_t> indices,
                      std::size_t named = 3);

/// "producer 3"
std::string node_text(core::NodeId node);
/// "producer 3 on eb07"; without the host where that is empty.
std::string node_text(core::NodeId node, std::string_view host);

/// Columns of a line of text that is printed.
inline constexpr std::size_t line_width = 110;
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
