// Quantities as people write them: 16MiB, 85.8Gb/s, 50ms, 1/200. Every quantity carries its unit; a bare
// number is refused, because a reader of a command line or a log cannot tell bits from bytes. Parsing and
// printing are exact (integers only, no floating point): parse(to_text(x)) == x for every x.
//
// Rates are bits per second and never bytes per second: `MB/s` is refused with the number of bits.
//
// All parse functions throw UsageError with what was found and what would be right ("'2' has no unit; write
// for example 2Gb/s"); the caller puts the option's name in front.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "config/usage_error.hpp"
#include "core/units.hpp"
#include "files/formatting.hpp"

namespace weir::config {

/// A text that is no quantity, with one that is for the message; empty: none that can be parsed.
class NoQuantity : public UsageError {
  public:
    NoQuantity(std::string why, std::string example, const std::string& hint)
        : UsageError(why + "; write for example " + hint),
          why_(std::move(why)),
          example_(std::move(example)) {}
    NoQuantity(const std::string& why, const std::string& example) : NoQuantity(why, example, example) {}
    [[nodiscard]] const std::string& why() const { return why_; }
    [[nodiscard]] const std::string& example() const { return example_; }

  private:
    std::string why_;
    std::string example_;
};

/// An exact positive factor.
struct Ratio {
    std::int64_t numerator = 1;
    std::int64_t denominator = 1;
    bool operator==(const Ratio&) const = default;
    [[nodiscard]] double value() const {
        return static_cast<double>(numerator) / static_cast<double>(denominator);
    }
};

/// B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024). Rounded to whole bytes. Zero is
/// allowed.
core::Bytes parse_bytes(std::string_view text);
/// b/s, kb/s, Mb/s, Gb/s, Tb/s; also bit/s and bps (Gbit/s, Gbps). Rounded to whole bits per second.
core::BitRate parse_rate(std::string_view text);
/// ns, us, ms, s, min, h. Rounded to whole nanoseconds.
core::Duration parse_duration(std::string_view text);
/// A whole number from `minimum` to `maximum`, without a unit.
std::uint64_t parse_count(std::string_view text, std::uint64_t minimum, std::uint64_t maximum);
/// A plain decimal number or a fraction: 0.01, 2, 1/200. Above zero.
Ratio parse_ratio(std::string_view text);
/// A plain decimal number, zero or more. `example`: one that would be right, for the message.
double parse_number(std::string_view text, std::string_view example);
/// A plain decimal number above zero, such as a shape parameter.
double parse_positive_number(std::string_view text, std::string_view example);

/// A size or rate times a factor, exactly: sizes are rounded up, so that a set still holds as many events;
/// rates down. Throws UsageError if it is out of range.
core::Bytes scale_up(core::Bytes bytes, const Ratio& factor);
core::BitRate scale_down(core::BitRate rate, const Ratio& factor);

std::string without_blank(std::string text);
/// As on a command line: files::exact without its blank.
template <typename Quantity>
std::string to_text(Quantity quantity) {
    return without_blank(files::exact(quantity));
}
std::string to_text(const Ratio& ratio);
std::string number_text(double value);

}  // namespace weir::config
