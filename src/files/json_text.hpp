// Reading and writing JSON in one place: the parser and the writer of the library are templates, which every
// library of weir would compile again.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace weir::files {

/// Throws nlohmann::json::exception.
nlohmann::ordered_json parse_json(std::string_view text);

/// Discarded (is_discarded()) if the text is no JSON.
nlohmann::ordered_json parse_json_or_discard(std::string_view text);

/// What the file holds; discarded if that is no JSON.
nlohmann::ordered_json json_of_file(const std::string& path);

/// On one line, or with so many blanks per level. What is not UTF-8 is replaced: names come from outside.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace weir::files
