#include "config/quantities.hpp"

#include <algorithm>
#include <cmath>

#include "config/words.hpp"

namespace weir::config {

namespace {

// Wide enough for 18 digits times the largest unit; GNU C++, as in core/units.hpp.
__extension__ using Wide = __int128;

using files::Unit;
constexpr std::int64_t kilo = 1000;
constexpr Unit long_duration_units[] = {{"h", 3600 * kilo* kilo* kilo}, {"min", 60 * kilo* kilo* kilo}};

/// Units as others write them, in either case, and weir's: for hints.
struct Spelling {
    std::string_view other;
    std::string_view ours;
};
constexpr Spelling byte_spellings[] = {
    {"k", "KiB"}, {"m", "MiB"}, {"g", "GiB"},   {"t", "TiB"},   {"kb", "kB"},   {"mb", "MB"},  {"gb", "GB"},
    {"tb", "TB"}, {"b", "B"},   {"kib", "KiB"}, {"mib", "MiB"}, {"gib", "GiB"}, {"byte", "B"}, {"bytes", "B"},
};
constexpr Spelling rate_spellings[] = {
    {"k", "kb/s"},    {"m", "Mb/s"},    {"g", "Gb/s"},    {"t", "Tb/s"},  {"b", "b/s"},
    {"kb", "kb/s"},   {"mb", "Mb/s"},   {"gb", "Gb/s"},   {"bit", "b/s"}, {"kbit", "kb/s"},
    {"mbit", "Mb/s"}, {"gbit", "Gb/s"}, {"tbit", "Tb/s"},
};
constexpr Spelling time_spellings[] = {
    {"nsec", "ns"},     {"nsecs", "ns"},     {"nanoseconds", "ns"},  {"usec", "us"},
    {"usecs", "us"},    {"\xc2\xb5s", "us"}, {"\xce\xbcs", "us"},    {"microseconds", "us"},
    {"msec", "ms"},     {"msecs", "ms"},     {"milliseconds", "ms"}, {"sec", "s"},
    {"secs", "s"},      {"second", "s"},     {"seconds", "s"},       {"s", "s"},
    {"ms", "ms"},       {"m", "min"},        {"mins", "min"},        {"minute", "min"},
    {"minutes", "min"}, {"hr", "h"},         {"hrs", "h"},           {"hour", "h"},
    {"hours", "h"},     {"h", "h"},
};

/// What a kind of quantity is called in messages.
struct QuantityKind {
    std::string_view what;
    std::string_view example;
    std::string_view unit;   ///< for a number without one
    std::string_view small;  ///< for one of so many digits that it can hardly have been meant
    std::string_view smallest;
    std::string_view known;
    std::span<const Spelling> spellings;
};
constexpr QuantityKind bytes_kind{
    "a number of bytes", "16MiB", "MiB", "B", "1B", "B kB MB GB TB KiB MiB GiB TiB", byte_spellings};
constexpr QuantityKind rate_kind{"a rate",      "2Gb/s", "Gb/s", "b/s", "1b/s", "b/s kb/s Mb/s Gb/s Tb/s",
                                 rate_spellings};
constexpr QuantityKind time_kind{"a time", "10s", "s", "ms", "1ns", "ns us ms s min h", time_spellings};

constexpr std::int64_t largest_quantity = std::int64_t{1} << 62;

/// mantissa / 10^decimals, and the text behind the number.
struct Decimal {
    std::int64_t mantissa = 0;
    int decimals = 0;
    std::string_view number;
    std::string_view rest;
};

/// What to say when `text` does not even begin like a quantity.
[[noreturn]] void refuse(std::string_view text, std::string_view why, std::string_view example) {
    throw NoQuantity(fmt::format("'{}' {}", text, why), std::string(example));
}

/// Refuses what people write into numbers and weir does not read, where it is easily told. `begin`: how many
/// characters of `text` are the number so far.
void check_spelling(std::string_view text, std::size_t begin, std::string_view example) {
    const std::string_view rest = text.substr(begin);
    const auto digit_at = [&](std::size_t i) { return i < rest.size() && is_digit(rest[i]); };
    if (begin > 0 && rest.starts_with(',') && digit_at(1)) {
        // "2,5" can only mean 2.5; "1,000" can mean two things.
        const std::string_view after = rest.substr(1, rest.find_first_not_of("0123456789", 1) - 1);
        const bool has_unit = !is_digit(example.back());
        const bool thousands = after.size() == 3;
        const std::string meant = fmt::format("{}.{}", text.substr(0, begin), after);
        throw NoQuantity(
            fmt::format("'{}' has a comma in its number; the decimal separator is a point", text),
            std::string(thousands ? example : ""),
            thousands ? std::string(example) : meant + (has_unit ? " with its unit" : ""));
    }
    if (begin > 0 && rest.starts_with('.')) {
        refuse(text, "has more than one point", example);
    }
    const bool exponent = rest.starts_with('e') || rest.starts_with('E');
    if (begin > 0 && exponent && (digit_at(1) || digit_at(2))) {
        refuse(text, "has an exponent, which is not supported", example);
    }
}

Decimal parse_decimal(std::string_view text, std::string_view what, std::string_view example) {
    if (text.empty()) {
        throw NoQuantity("nothing is given", std::string(example));
    }
    if (text.front() == '-') {
        refuse(text, "is negative", example);
    }
    Decimal decimal;
    std::size_t i = 0;
    std::size_t digits = 0;
    bool point = false;
    for (; i < text.size() && (is_digit(text[i]) || (text[i] == '.' && !point)); ++i) {
        if (text[i] == '.') {
            point = true;
            continue;
        }
        if (digits > 0 || text[i] != '0') {
            ++digits;
        }
        if (digits > 18) {
            refuse(text, "has more than 18 digits", example);
        }
        decimal.mantissa = decimal.mantissa * 10 + (text[i] - '0');
        decimal.decimals += point ? 1 : 0;
    }
    if (i == 0 || decimal.decimals > 18 || (point && i == 1)) {
        refuse(text, fmt::format("is not {}", what), example);
    }
    check_spelling(text, i, example);
    decimal.number = text.substr(0, i);
    decimal.rest = text.substr(i);
    if (!decimal.rest.empty() && decimal.rest.front() == ' ') {
        decimal.rest.remove_prefix(1);
    }
    return decimal;
}

/// A number with the unit of a kind; 0 is hardly ever right, and then the usual example is given.
std::string example_like(const Decimal& decimal, std::string_view unit, const QuantityKind& kind) {
    return decimal.mantissa == 0 ? std::string(kind.example) : fmt::format("{}{}", decimal.number, unit);
}

/// Reads number and unit; refuses what has none.
Decimal parse_with_unit(std::string_view text, const QuantityKind& kind) {
    const Decimal decimal = parse_decimal(text, kind.what, kind.example);
    if (decimal.rest.empty()) {
        const std::size_t whole_digits = std::min(decimal.number.find('.'), decimal.number.size());
        constexpr std::size_t most_digits = 3;
        refuse(text, "has no unit",
               example_like(decimal, whole_digits > most_digits ? kind.small : kind.unit, kind));
    }
    return decimal;
}

/// Of a unit that is not weir's; the example has what was meant, where that is known.
[[noreturn]] void refuse_unit(std::string_view text, const Decimal& decimal, const QuantityKind& kind) {
    std::string unit(decimal.rest);
    std::transform(unit.begin(), unit.end(), unit.begin(), lower);
    std::string example(kind.example);
    for (const Spelling& spelling : kind.spellings) {
        if (unit == spelling.other) {
            example = example_like(decimal, spelling.ours, kind);
        }
    }
    refuse(text, fmt::format("has the unknown unit '{}' (known: {})", decimal.rest, kind.known), example);
}

/// mantissa x factor / 10^decimals, rounded to the nearest whole number.
std::int64_t scale(const Decimal& decimal, std::int64_t factor, std::string_view text,
                   std::string_view smallest) {
    Wide divisor = 1;
    for (int i = 0; i < decimal.decimals; ++i) {
        divisor *= 10;
    }
    const Wide value = (static_cast<Wide>(decimal.mantissa) * factor + divisor / 2) / divisor;
    if (value > largest_quantity) {
        throw UsageError("'{}' is too large; write less", text);
    }
    if (value == 0 && decimal.mantissa != 0) {
        throw UsageError("'{0}' is less than {1}; write at least {1}", text, smallest);
    }
    return static_cast<std::int64_t>(value);
}

/// The power of 1000 behind a prefix letter, either case ('m' can only mean mega here); 0: no such prefix.
std::int64_t decimal_prefix(char letter) {
    std::int64_t factor = kilo;
    for (const char prefix : {'k', 'm', 'g', 't'}) {
        if (lower(letter) == prefix) {
            return factor;
        }
        factor *= kilo;
    }
    return 0;
}

/// The factor of a unit that is an optional prefix before one of `names`; 0: it is none.
std::int64_t prefixed_factor(std::string_view unit, std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
        if (unit == name) {
            return 1;
        }
        if (unit.size() == name.size() + 1 && unit.substr(1) == name) {
            return decimal_prefix(unit.front());
        }
    }
    return 0;
}

double number_of(const Decimal& decimal) {
    return static_cast<double>(decimal.mantissa) / std::pow(10.0, decimal.decimals);
}

/// Of a share in percent, that share as a number.
std::string example_of_number(const Decimal& decimal, std::string_view example) {
    return decimal.rest != "%" || decimal.mantissa == 0 ? std::string(example)
                                                        : fmt::format("{:.6g}", number_of(decimal) / 100);
}

}  // namespace

core::Bytes parse_bytes(std::string_view text) {
    const Decimal decimal = parse_with_unit(text, bytes_kind);
    for (const Unit& unit : files::byte_units) {
        if (decimal.rest == unit.name || (decimal.rest == "KB" && unit.name == "kB") ||
            (decimal.rest == "kiB" && unit.name == "KiB")) {
            return {scale(decimal, unit.factor, text, bytes_kind.smallest)};
        }
    }
    refuse_unit(text, decimal, bytes_kind);
}

core::BitRate parse_rate(std::string_view text) {
    const Decimal decimal = parse_with_unit(text, rate_kind);
    constexpr std::string_view bit_names[] = {"b/s", "bit/s", "bps"};
    constexpr std::string_view byte_names[] = {"B/s", "iB/s", "Bps"};
    if (const auto factor = prefixed_factor(decimal.rest, bit_names); factor != 0) {
        return {scale(decimal, factor, text, rate_kind.smallest)};
    }
    if (const auto factor = prefixed_factor(decimal.rest, byte_names); factor != 0) {
        const core::BitRate meant{scale(decimal, factor, text, "1B/s")};
        if (meant.bits_per_second < largest_quantity / 8) {
            refuse(text, "is in bytes, and rates are in bits per second",
                   to_text(core::BitRate{meant.bits_per_second * 8}));
        }
    }
    refuse_unit(text, decimal, rate_kind);
}

core::Duration parse_duration(std::string_view text) {
    const Decimal decimal = parse_with_unit(text, time_kind);
    for (const std::span<const Unit> units :
         {std::span<const Unit>(files::time_units), {long_duration_units}}) {
        for (const Unit& unit : units) {
            if (decimal.rest == unit.name) {
                return {scale(decimal, unit.factor, text, time_kind.smallest)};
            }
        }
    }
    refuse_unit(text, decimal, time_kind);
}

std::uint64_t parse_count(std::string_view text, std::uint64_t minimum, std::uint64_t maximum) {
    std::uint64_t value = 0;
    bool whole = !text.empty();
    bool fits = true;
    for (const char c : text) {
        if (!is_digit(c)) {
            whole = false;
            break;
        }
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) {
            fits = false;
            break;
        }
        value = value * 10 + digit;
    }
    if (!whole) {
        throw UsageError("'{}' is not a whole number; write one from {} to {}", text, minimum, maximum);
    }
    if (!fits || value < minimum || value > maximum) {
        throw UsageError("{} is out of range; write a number from {} to {}", text, minimum, maximum);
    }
    return value;
}

Ratio parse_ratio(std::string_view text) {
    constexpr std::string_view what = "a factor";
    constexpr std::string_view example = "0.01 or 1/200";
    const auto part = [&](std::string_view piece, bool whole) {
        const Decimal decimal = parse_decimal(piece, what, example);
        if (!decimal.rest.empty() || (whole && decimal.decimals != 0) || decimal.decimals > 9) {
            refuse(text, "is not a factor",
                   whole ? std::string(example) : example_of_number(decimal, example));
        }
        if (decimal.mantissa == 0) {
            refuse(text, "is not above zero", example);
        }
        return decimal;
    };
    Ratio ratio;
    if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
        ratio.numerator = part(text.substr(0, slash), true).mantissa;
        ratio.denominator = part(text.substr(slash + 1), true).mantissa;
    } else {
        const Decimal decimal = part(text, false);
        ratio.numerator = decimal.mantissa;
        for (int i = 0; i < decimal.decimals; ++i) {
            ratio.denominator *= 10;
        }
        while (ratio.denominator > 1 && ratio.numerator % 10 == 0) {
            ratio.numerator /= 10;
            ratio.denominator /= 10;
        }
    }
    constexpr std::int64_t most = 1000000000;
    if (ratio.numerator > most || ratio.denominator > most) {
        refuse(text, "has too many digits", example);
    }
    return ratio;
}

double parse_number(std::string_view text, std::string_view example) {
    const Decimal decimal = parse_decimal(text, "a number", example);
    if (!decimal.rest.empty()) {
        refuse(text, "is not a number", example_of_number(decimal, example));
    }
    return number_of(decimal);
}

double parse_positive_number(std::string_view text, std::string_view example) {
    if (text.ends_with('%')) {
        refuse(text, "is not a number", example);  // nor a share
    }
    if (const double number = parse_number(text, example); number != 0) {
        return number;
    }
    refuse(text, "is not above zero", example);
}

core::Bytes scale_up(core::Bytes bytes, const Ratio& factor) {
    const Wide product = static_cast<Wide>(bytes.count) * factor.numerator;
    const Wide scaled = (product + factor.denominator - 1) / factor.denominator;
    if (scaled > largest_quantity) {
        throw UsageError("{} times {} is too large", files::exact(bytes), to_text(factor));
    }
    return {static_cast<std::int64_t>(scaled)};
}

core::BitRate scale_down(core::BitRate rate, const Ratio& factor) {
    const Wide scaled = static_cast<Wide>(rate.bits_per_second) * factor.numerator / factor.denominator;
    if (scaled > largest_quantity || scaled == 0) {
        throw UsageError("{} times {} is {}", files::exact(rate), to_text(factor),
                         scaled == 0 ? "less than 1 b/s" : "too large");
    }
    return {static_cast<std::int64_t>(scaled)};
}

std::string without_blank(std::string text) {
    text.erase(text.find(' '), 1);
    return text;
}

std::string to_text(const Ratio& ratio) {
    // A denominator that is a power of ten reads best as a decimal number.
    std::int64_t denominator = ratio.denominator;
    int decimals = 0;
    while (denominator % 10 == 0) {
        denominator /= 10;
        ++decimals;
    }
    if (denominator != 1) {
        return fmt::format("{}/{}", ratio.numerator, ratio.denominator);
    }
    std::string digits = fmt::format("{:0{}}", ratio.numerator, decimals + 1);
    if (decimals == 0) {
        return digits;
    }
    const std::size_t whole = digits.size() - static_cast<std::size_t>(decimals);
    return fmt::format("{}.{}", digits.substr(0, whole), digits.substr(whole));
}

std::string number_text(double value) {
    return fmt::format("{}", value);
}

}  // namespace weir::config
