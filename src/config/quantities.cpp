#include "config/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "config/characters.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

// Wide enough for 18 digits times the largest unit; GNU C++, as in core/units.hpp.
__extension__ using Wide = __int128;

struct Unit {
    std::string_view name;
    std::int64_t factor;
};

// Largest first; the printer uses the whole list, the parser also the other spellings.
constexpr std::int64_t kilo = 1000;
constexpr std::int64_t kibi = 1024;
constexpr std::array byte_units{
    Unit{"TiB", kibi* kibi* kibi* kibi},
    Unit{"TB", kilo* kilo* kilo* kilo},
    Unit{"GiB", kibi* kibi* kibi},
    Unit{"GB", kilo* kilo* kilo},
    Unit{"MiB", kibi* kibi},
    Unit{"MB", kilo* kilo},
    Unit{"KiB", kibi},
    Unit{"kB", kilo},
    Unit{"B", 1},
};
constexpr std::array rate_units{
    Unit{"Tb/s", kilo* kilo* kilo* kilo},
    Unit{"Gb/s", kilo* kilo* kilo},
    Unit{"Mb/s", kilo* kilo},
    Unit{"kb/s", kilo},
    Unit{"b/s", 1},
};
constexpr std::array duration_units{
    Unit{"s", kilo* kilo* kilo},
    Unit{"ms", kilo* kilo},
    Unit{"us", kilo},
    Unit{"ns", 1},
};
constexpr std::array long_duration_units{
    Unit{"h", 3600 * kilo* kilo* kilo},
    Unit{"min", 60 * kilo* kilo* kilo},
};

/// Units as others write them, and weir's: for hints.
struct Spelling {
    std::string_view other;
    std::string_view ours;
};
constexpr Spelling byte_spellings[] = {
    {"k", "KiB"},   {"K", "KiB"},   {"m", "MiB"},   {"M", "MiB"},   {"g", "GiB"},   {"G", "GiB"},
    {"t", "TiB"},   {"T", "TiB"},   {"kb", "kB"},   {"Kb", "kB"},   {"mb", "MB"},   {"Mb", "MB"},
    {"gb", "GB"},   {"Gb", "GB"},   {"tb", "TB"},   {"Tb", "TB"},   {"kib", "KiB"}, {"Kib", "KiB"},
    {"mib", "MiB"}, {"Mib", "MiB"}, {"gib", "GiB"}, {"Gib", "GiB"}, {"b", "B"},     {"byte", "B"},
    {"bytes", "B"}, {"Bytes", "B"},
};
constexpr Spelling rate_spellings[] = {
    {"k", "kb/s"},    {"K", "kb/s"},    {"m", "Mb/s"},    {"M", "Mb/s"},    {"g", "Gb/s"},
    {"G", "Gb/s"},    {"t", "Tb/s"},    {"T", "Tb/s"},    {"kb", "kb/s"},   {"Kb", "kb/s"},
    {"mb", "Mb/s"},   {"Mb", "Mb/s"},   {"gb", "Gb/s"},   {"Gb", "Gb/s"},   {"kbit", "kb/s"},
    {"Kbit", "kb/s"}, {"mbit", "Mb/s"}, {"Mbit", "Mb/s"}, {"gbit", "Gb/s"}, {"Gbit", "Gb/s"},
    {"Tbit", "Tb/s"}, {"b", "b/s"},     {"bit", "b/s"},
};
constexpr Spelling time_spellings[] = {
    {"nsec", "ns"},     {"nsecs", "ns"},     {"nanoseconds", "ns"},  {"usec", "us"},
    {"usecs", "us"},    {"\xc2\xb5s", "us"}, {"\xce\xbcs", "us"},    {"microseconds", "us"},
    {"msec", "ms"},     {"msecs", "ms"},     {"milliseconds", "ms"}, {"MS", "ms"},
    {"sec", "s"},       {"secs", "s"},       {"second", "s"},        {"seconds", "s"},
    {"S", "s"},         {"m", "min"},        {"mins", "min"},        {"minute", "min"},
    {"minutes", "min"}, {"hr", "h"},         {"hrs", "h"},           {"hour", "h"},
    {"hours", "h"},     {"H", "h"},
};

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

/// The number as it was written, with a unit; 0 is hardly ever right, and then `usual` is the example.
std::string example_like(const Decimal& decimal, std::string_view unit, std::string_view usual) {
    return decimal.mantissa == 0 ? std::string(usual) : fmt::format("{}{}", decimal.number, unit);
}

/// For a number without a unit: `unit`, or `small` for a number of so many digits that it can hardly have
/// been meant.
std::string example_without_unit(const Decimal& decimal, std::string_view unit, std::string_view small,
                                 std::string_view usual) {
    const std::size_t whole_digits = std::min(decimal.number.find('.'), decimal.number.size());
    constexpr std::size_t most_digits = 3;
    return example_like(decimal, whole_digits > most_digits ? small : unit, usual);
}

/// For a unit that is not weir's: the number with what was meant, or else `usual`.
std::string example_respelt(const Decimal& decimal, std::span<const Spelling> spellings,
                            std::string_view usual) {
    for (const Spelling& spelling : spellings) {
        if (decimal.rest == spelling.other) {
            return example_like(decimal, spelling.ours, usual);
        }
    }
    return std::string(usual);
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
        throw UsageError(fmt::format("'{}' is too large; write less", text));
    }
    if (value == 0 && decimal.mantissa != 0) {
        throw UsageError(fmt::format("'{0}' is less than {1}; write at least {1}", text, smallest));
    }
    return static_cast<std::int64_t>(value);
}

std::string print(std::int64_t value, std::span<const Unit> units) {
    if (value == 0) {
        // "0s" and not "0ns": the unit that people write.
        return fmt::format("0{}",
                           units.size() == duration_units.size() ? units.front().name : units.back().name);
    }
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
        for (int i = 0; left != 0 && i < most_decimals; ++i) {
            const Wide shifted = static_cast<Wide>(left) * 10;
            text += static_cast<char>('0' + static_cast<int>(shifted / unit.factor));
            ++digits;
            left = static_cast<std::int64_t>(shifted % unit.factor);
        }
        if (left == 0 && (best.empty() || digits < fewest_digits)) {
            best = text.append(unit.name);
            fewest_digits = digits;
        }
    }
    return best;
}

std::string print_rounded(std::int64_t value, std::span<const Unit> units) {
    for (const Unit& unit : units) {
        if (unit.name.find('i') == std::string_view::npos && value >= unit.factor) {
            const double in_unit = static_cast<double>(value) / static_cast<double>(unit.factor);
            return in_unit >= 1000 ? fmt::format("{:.0f} {}", in_unit, unit.name)
                                   : fmt::format("{:.4g} {}", in_unit, unit.name);
        }
    }
    return fmt::format("0 {}",
                       units.size() == duration_units.size() ? units.front().name : units.back().name);
}

/// The power of 1000 behind a prefix letter, either case ('m' can only mean mega here); 0: no such prefix.
std::int64_t decimal_prefix(char letter) {
    switch (letter) {
        case 'k':
        case 'K':
            return kilo;
        case 'm':
        case 'M':
            return kilo * kilo;
        case 'g':
        case 'G':
            return kilo * kilo * kilo;
        case 't':
        case 'T':
            return kilo * kilo * kilo * kilo;
        default:
            return 0;
    }
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

}  // namespace

core::Bytes parse_bytes(std::string_view text) {
    const Decimal decimal = parse_decimal(text, "a number of bytes", "16MiB");
    if (decimal.rest.empty()) {
        refuse(text, "has no unit", example_without_unit(decimal, "MiB", "B", "16MiB"));
    }
    std::int64_t factor = 0;
    for (const Unit& unit : byte_units) {
        if (decimal.rest == unit.name || (decimal.rest == "KB" && unit.name == "kB") ||
            (decimal.rest == "kiB" && unit.name == "KiB")) {
            factor = unit.factor;
        }
    }
    if (factor == 0) {
        refuse(text,
               fmt::format("has the unknown unit '{}' (known: B kB MB GB TB KiB MiB GiB TiB)", decimal.rest),
               example_respelt(decimal, byte_spellings, "16MiB"));
    }
    return {scale(decimal, factor, text, "1B")};
}

core::BitRate parse_rate(std::string_view text) {
    const Decimal decimal = parse_decimal(text, "a rate", "2Gb/s");
    if (decimal.rest.empty()) {
        refuse(text, "has no unit", example_without_unit(decimal, "Gb/s", "b/s", "2Gb/s"));
    }
    constexpr std::array<std::string_view, 3> bit_names{"b/s", "bit/s", "bps"};
    constexpr std::array<std::string_view, 3> byte_names{"B/s", "iB/s", "Bps"};
    if (const auto factor = prefixed_factor(decimal.rest, bit_names); factor != 0) {
        return {scale(decimal, factor, text, "1b/s")};
    }
    if (const auto factor = prefixed_factor(decimal.rest, byte_names); factor != 0) {
        const core::BitRate meant{scale(decimal, factor, text, "1B/s")};
        if (meant.bits_per_second < largest_quantity / 8) {
            refuse(text, "is in bytes, and rates are in bits per second",
                   to_text(core::BitRate{meant.bits_per_second * 8}));
        }
    }
    refuse(text, fmt::format("has the unknown unit '{}' (known: b/s kb/s Mb/s Gb/s Tb/s)", decimal.rest),
           example_respelt(decimal, rate_spellings, "2Gb/s"));
}

core::Duration parse_duration(std::string_view text) {
    const Decimal decimal = parse_decimal(text, "a time", "10s");
    if (decimal.rest.empty()) {
        refuse(text, "has no unit", example_without_unit(decimal, "s", "ms", "10s"));
    }
    for (const std::span<const Unit> units :
         {std::span<const Unit>(duration_units), std::span<const Unit>(long_duration_units)}) {
        for (const Unit& unit : units) {
            if (decimal.rest == unit.name) {
                return {scale(decimal, unit.factor, text, "1ns")};
            }
        }
    }
    refuse(text, fmt::format("has the unknown unit '{}' (known: ns us ms s min h)", decimal.rest),
           example_respelt(decimal, time_spellings, "10s"));
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
        throw UsageError(
            fmt::format("'{}' is not a whole number; write one from {} to {}", text, minimum, maximum));
    }
    if (!fits || value < minimum || value > maximum) {
        throw UsageError(
            fmt::format("{} is out of range; write a number from {} to {}", text, minimum, maximum));
    }
    return value;
}

namespace {

double number_of(const Decimal& decimal) {
    return static_cast<double>(decimal.mantissa) / std::pow(10.0, decimal.decimals);
}

/// Of a share in percent, that share as a number.
std::string example_of_number(const Decimal& decimal, std::string_view example) {
    return decimal.rest != "%" || decimal.mantissa == 0 ? std::string(example)
                                                        : fmt::format("{:.6g}", number_of(decimal) / 100);
}

}  // namespace

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
        throw UsageError(fmt::format("{} times {} is too large", to_text(bytes), to_text(factor)));
    }
    return {static_cast<std::int64_t>(scaled)};
}

core::BitRate scale_down(core::BitRate rate, const Ratio& factor) {
    const Wide scaled = static_cast<Wide>(rate.bits_per_second) * factor.numerator / factor.denominator;
    if (scaled > largest_quantity || scaled == 0) {
        throw UsageError(fmt::format("{} times {} is {}", to_text(rate), to_text(factor),
                                     scaled == 0 ? "less than 1b/s" : "too large"));
    }
    return {static_cast<std::int64_t>(scaled)};
}

std::string to_text(core::Bytes bytes) {
    return print(bytes.count, byte_units);
}
std::string to_text(core::BitRate rate) {
    return print(rate.bits_per_second, rate_units);
}
std::string to_text(core::Duration duration) {
    return print(duration.ns, duration_units);
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

std::string rounded_text(core::Bytes bytes) {
    return print_rounded(bytes.count, byte_units);
}
std::string rounded_text(core::BitRate rate) {
    return print_rounded(rate.bits_per_second, rate_units);
}
std::string rounded_text(core::Duration duration) {
    return print_rounded(duration.ns, duration_units);
}

}  // namespace weir::config
