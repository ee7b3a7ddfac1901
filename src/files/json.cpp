#include "files/json.hpp"

#include <fstream>
#include <iterator>

namespace weir::files {

using nlohmann::ordered_json;

ordered_json parse_json(std::string_view text) {
    return ordered_json::parse(text);
}

ordered_json parse_json_or_discard(std::string_view text) {
    return ordered_json::parse(text, nullptr, false);
}

ordered_json json_of_file(const std::string& path) {
    std::ifstream file(path);
    return parse_json_or_discard(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string json_text(const ordered_json& json, int indent) {
    return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace weir::files
