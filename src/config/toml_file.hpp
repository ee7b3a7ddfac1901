// TOML as the files of a user hold it: parsed with errors that name file, line and column, and values as
// texts, which is what the parsers of options read.
#pragma once

#include <fmt/format.h>

#include <toml++/toml.h>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "config/usage_error.hpp"

namespace weir::config {

/// Longest file that is read; a larger one was not written by hand.
inline constexpr std::size_t most_toml_bytes = 1000000;

class TomlFile {
  public:
    /// `name` is for messages. Throws UsageError.
    TomlFile(std::string_view text, std::string name) : name_(std::move(name)), table_(parse(text)) {}

    [[nodiscard]] const toml::table& table() const { return table_; }

    /// "FILE:LINE:COLUMN"
    [[nodiscard]] std::string place(const toml::source_position& position) const {
        return fmt::format("{}:{}:{}", name_, position.line, position.column);
    }
    [[noreturn]] void refuse(const toml::source_position& position, std::string_view why) const {
        throw UsageError("{}: {}", place(position), why);
    }
    template <typename First, typename... Others>
    [[noreturn]] void refuse(const toml::source_position& position, fmt::format_string<First, Others...> why,
                             First&& first, Others&&... others) const {
        refuse(position, fmt::format(why, std::forward<First>(first), std::forward<Others>(others)...));
    }
    /// Does `action`; what it refuses is refused with the position and `what` before it.
    template <typename Action>
    auto within(const toml::source_position& position, std::string_view what, const Action& action) const {
        try {
            return action();
        } catch (const UsageError& error) {
            refuse(position, "{}: {}", what, error.what());
        }
    }

    /// The text of a string or a number.
    [[nodiscard]] std::string value(const std::string& key, const toml::node& node) const {
        if (const auto* text = node.as_string()) {
            return text->get();
        }
        if (const auto* integer = node.as_integer()) {
            return fmt::format("{}", integer->get());
        }
        if (const auto* number = node.as_floating_point()) {
            return fmt::format("{}", number->get());
        }
        refuse(node.source().begin, "the value of '{}' is neither text nor a number; write it in quotes",
               key);
    }
    /// The value of a key that is for people.
    [[nodiscard]] std::string text(const std::string& key, const toml::node& node) const {
        if (const auto* text = node.as_string()) {
            return text->get();
        }
        refuse(node.source().begin, "'{}' is text; write it in quotes", key);
    }

  private:
    [[nodiscard]] toml::table parse(std::string_view text) const {
        try {
            return toml::parse(text, name_);
        } catch (const toml::parse_error& error) {
            refuse(error.source().begin, "this is not TOML: {}", error.description());
        }
    }

    std::string name_;
    toml::table table_;
};

/// Whether an option that takes the name of a built-in file or a file means a file.
inline bool is_file_name(std::string_view text) {
    return text.find('/') != std::string_view::npos || text.ends_with(".toml");
}

}  // namespace weir::config
