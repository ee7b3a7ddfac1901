#include "config/usage_error.hpp"

#include <algorithm>

namespace weir::config {

namespace {

constexpr std::size_t longest_word = 200;
constexpr std::size_t longest_line = 2000;

/// Whether a character of several bytes goes on here.
bool goes_on(char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

/// Beginning and end, where it is longer than `most`.
std::string shortened(std::string_view text, std::size_t most) {
    if (text.size() <= most) {
        return std::string(text);
    }
    std::size_t begin = most / 2;
    std::size_t end = text.size() - most / 4;
    while (begin > 0 && goes_on(text[begin])) {
        --begin;
    }
    while (end < text.size() && goes_on(text[end])) {
        ++end;
    }
    return fmt::format("{}...[{} bytes left out]...{}", text.substr(0, begin), end - begin, text.substr(end));
}

}  // namespace

std::string UsageError::presentable(const std::string& line) {
    std::string visible;
    for (const char c : line) {
        const auto code = static_cast<unsigned char>(c);
        if (code < ' ' || c == '\x7f') {
            visible += fmt::format("\\x{:02x}", code);
        } else {
            visible += c;
        }
    }
    std::string words;
    for (std::string_view rest = visible; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        words += shortened(rest.substr(0, end), longest_word);
        const std::size_t blanks = std::min(rest.find_first_not_of(' ', end), rest.size());
        words += rest.substr(end, blanks - end);
        rest.remove_prefix(blanks);
    }
    return shortened(words, longest_line);
}

}  // namespace weir::config
