#include "files/json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

namespace {

class FileText {
  public:
    std::string of(const ordered_json& json) && {
        add(json, "\n");
        text_ += '\n';
        return std::move(text_);
    }

  private:
    /// `line`: the end of a line with the blanks of the next one.
    void add(const ordered_json& json, const std::string& line) {
        if (json.is_object() && !json.empty()) {
            add_all('{', json.get_ref<const ordered_json::object_t&>(), '}', line, [&](const auto& field) {
                add_string(field.first);
                text_ += ": ";
                return &field.second;
            });
        } else if (json.is_array() && !json.empty()) {
            const auto& items = json.get_ref<const ordered_json::array_t&>();
            if (std::all_of(items.begin(), items.end(), is_written_as_number)) {
                add_numbers(items);
            } else {
                add_all('[', items, ']', line, [](const ordered_json& item) { return &item; });
            }
        } else if (json.is_string()) {
            add_string(json.get_ref<const std::string&>());
        } else if (is_written_as_number(json)) {
            add_number(json);
        } else if (json.is_boolean()) {
            text_ += json.get<bool>() ? "true" : "false";
        } else {
            text_ += json.is_null() ? "null" : json.dump();
        }
    }
    template <typename Items>
    void add_all(char begin, const Items& items, char end, const std::string& line, auto&& value_of) {
        text_ += begin;
        const std::string inner = line + "  ";
        const char* between = "";
        for (const auto& item : items) {
            text_ += std::exchange(between, ",");
            text_ += inner;
            add(*value_of(item), inner);
        }
        text_ += line;
        text_ += end;
    }
    void add_numbers(const ordered_json::array_t& numbers) {
        const char* between = "[";
        for (const ordered_json& number : numbers) {
            text_ += std::exchange(between, ", ");
            add_number(number);
        }
        text_ += ']';
    }
    void add_string(const std::string& string) {
        const bool as_it_is = std::all_of(string.begin(), string.end(), [](char letter) {
            return letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\';
        });
        if (as_it_is) {
            text_ += '"';
            text_ += string;
            text_ += '"';
        } else {
            text_ += json_text(string);
        }
    }
    static bool is_written_as_number(const ordered_json& json) {
        return json.is_number_float() ? std::isfinite(json.get<double>()) : json.is_number();
    }
    void add_number(const ordered_json& number) {
        std::array<char, 64> digits{};
        char* const begin = digits.data();
        char* const end = begin + digits.size();
        text_.append(
            begin, number.is_number_float() ? nlohmann::detail::to_chars(begin, end, number.get<double>())
                   : number.is_number_unsigned() ? std::to_chars(begin, end, number.get<std::uint64_t>()).ptr
                                                 : std::to_chars(begin, end, number.get<std::int64_t>()).ptr);
    }

    std::string text_;
};

}  // namespace

std::string json_file_text(const ordered_json& json) {
    return FileText().of(json);
}

}  // namespace weir::files
