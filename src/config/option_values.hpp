// What rows of the option table use to read and print values: words of a list, quantities with bounds.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "config/limits.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

using Text = std::string_view;

/// A value that is one of a few words.
template <typename Value>
struct Choice {
    Text name;
    Value value;
};

inline constexpr Choice<bool> true_or_false[] = {{"true", true}, {"false", false}};

/// "a|b|c" of a list of choices with static storage.
template <const auto& choices>
inline constexpr auto joined_names = [] {
    constexpr std::size_t size = [] {
        std::size_t sum = std::size(choices) - 1;
        for (const auto& choice : choices) {
            sum += choice.name.size();
        }
        return sum;
    }();
    std::array<char, size> joined{};
    std::size_t end = 0;
    for (const auto& choice : choices) {
        if (end > 0) {
            joined[end++] = '|';
        }
        for (const char letter : choice.name) {
            joined[end++] = letter;
        }
    }
    return joined;
}();
template <const auto& choices>
inline constexpr Text syntax_of{joined_names<choices>.data(), joined_names<choices>.size()};

template <typename Choices>
auto choose(Text text, const Choices& choices) {
    std::string known;
    for (const auto& choice : choices) {
        if (choice.name == text) {
            return choice.value;
        }
        known += fmt::format("{}{}", known.empty() ? "" : ", ", choice.name);
    }
    throw UsageError("'{}' is not one of: {}", text, known);
}

template <typename Value, typename Choices>
std::string chosen(Value value, const Choices& choices) {
    for (const auto& choice : choices) {
        if (choice.value == value) {
            return std::string(choice.name);
        }
    }
    return {};
}

/// Reads a size, a time or a rate from `least` to `most`. What a message gives as an example is such a one,
/// too.
template <typename Quantity>
Quantity bounded(Text text, Quantity least, Quantity most) {
    const auto parse = [](Text written) {
        if constexpr (std::is_same_v<Quantity, core::Bytes>) {
            return parse_bytes(written);
        } else if constexpr (std::is_same_v<Quantity, core::Duration>) {
            return parse_duration(written);
        } else {
            return parse_rate(written);
        }
    };
    const auto is_right = [&](Quantity value) { return value >= least && value <= most; };
    const auto refuse = [&](const std::string& why) {
        return UsageError(fmt::format("{}; write a value from {} to {}", why, to_text(least), to_text(most)));
    };
    try {
        const Quantity value = parse(text);
        if (is_right(value)) {
            return value;
        }
        throw refuse(to_text(value) + " is out of range");
    } catch (const NoQuantity& error) {
        if (error.example().empty() || is_right(parse(error.example()))) {
            throw;
        }
        throw refuse(error.why());
    }
}

inline constexpr core::Bytes largest_bytes{std::int64_t{1} << 60};

inline std::uint32_t count(Text text, std::uint64_t least, std::uint64_t most) {
    return static_cast<std::uint32_t>(parse_count(text, least, most));
}

/// A number or a ratio. `least` to `most` has to include 1.
inline double bounded_number(Text text, double least, double most) {
    const double value = text.find('/') == Text::npos ? parse_number(text, "1") : parse_ratio(text).value();
    if (value < least || value > most) {
        throw UsageError("{} is out of range; write a number from {} to {}", text, number_text(least),
                         number_text(most));
    }
    return value;
}

inline std::string count_text(std::uint64_t value) {
    return value == 0 ? std::string{} : fmt::format("{}", value);
}

}  // namespace weir::config
