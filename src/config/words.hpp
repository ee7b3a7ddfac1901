// Characters in any locale, and "did you mean": the known names most like one that was mistyped.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Without blanks at its ends; also without the \r of a line that was written on Windows.
constexpr std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t\r";
    const std::size_t begin = text.find_first_not_of(blank);
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

/// Number of insertions, deletions, replacements and exchanges of neighbours that make `b` from `a`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Up to `most` names that are near `text`, the nearest first: within a third of its length, or beginning
/// like it.
std::vector<std::string> near_names(std::string_view text, std::span<const std::string_view> names,
                                    std::size_t most);

}  // namespace weir::config
