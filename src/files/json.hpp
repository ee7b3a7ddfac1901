// Values of JSON that another process or a file has given. Every number goes through here: the library casts
// what does not fit, which wraps (4294967297 becomes 1) or is undefined (1e300 as an integer).
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weir::files {

// Reading and writing JSON in one place: the parser and the writer of the library are templates, which every
// library of weir would compile again.

/// Throws nlohmann::json::exception.
nlohmann::ordered_json parse_json(std::string_view text);

/// Discarded (is_discarded()) if the text is no JSON.
nlohmann::ordered_json parse_json_or_discard(std::string_view text);

/// What the file holds; discarded if that is no JSON.
nlohmann::ordered_json json_of_file(const std::string& path);

/// On one line, or with so many blanks per level. What is not UTF-8 is replaced: names come from outside.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

/// For a file, which may have thousands of fields: two blanks per level, the numbers of an array on one line,
/// and a line end. Bytes as with json_text(), but for these numbers.
std::string json_file_text(const nlohmann::ordered_json& json);

class JsonNumberError : public nlohmann::json::exception {
  public:
    explicit JsonNumberError(const char* what) : exception(600, what) {}
};

/// The whole number; nothing: it is none, or does not fit.
template <std::integral T, typename Json>
std::optional<T> whole_number_if_any(const Json& json) {
    if (json.is_number_unsigned()) {
        const auto number = json.template get<std::uint64_t>();
        return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
    }
    if (json.is_number_integer()) {
        const auto number = json.template get<std::int64_t>();
        return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
    }
    return std::nullopt;
}

/// The same. Throws JsonNumberError (a nlohmann::json::exception) where there is nothing.
template <std::integral T, typename Json>
T whole_number(const Json& json) {
    if (const auto number = whole_number_if_any<T>(json)) {
        return *number;
    }
    throw JsonNumberError("a number that is not whole, or does not fit");
}

/// A struct with a list of its fields: each_field(value, visit) calls visit(name, member) of each. Who writes
/// it and who reads it use the same list. It stands in the namespace of the struct.
template <typename T>
concept HasFields = requires(T& value) { each_field(value, [](const char*, auto&&) {}); };

/// For each_field of `Struct`, to read or to write.
template <typename T, typename Struct>
concept MaybeConst = std::is_same_v<std::remove_const_t<T>, Struct>;

/// The value as JSON, whatever it is made of; nothing is null.
template <typename Json, typename T>
Json json_of(const T& value) {
    Json json;
    if constexpr (HasFields<const T>) {
        each_field(value, [&](const char* name, auto&& member) { json[name] = json_of<Json>(member); });
    } else if constexpr (requires { value.has_value(); }) {
        json = value ? json_of<Json>(*value) : Json();
    } else if constexpr (requires { typename T::mapped_type; }) {
        json = Json::object();
        for (const auto& [key, one] : value) {
            if constexpr (std::is_integral_v<typename T::key_type>) {
                json[std::to_string(key)] = json_of<Json>(one);
            } else {
                json[key] = json_of<Json>(one);
            }
        }
    } else if constexpr (requires(T& list) { list.emplace_back(); }) {
        json = Json::array();
        for (const auto& one : value) {
            json.push_back(json_of<Json>(one));
        }
    } else {
        json = value;
    }
    return json;
}

/// Reads what json_of() wrote. Throws nlohmann::json::exception.
template <typename Json, typename T>
void read_checked(const Json& json, T& value) {
    if constexpr (HasFields<T>) {
        each_field(value, [&](const char* name, auto&& member) { read_checked(json.at(name), member); });
    } else if constexpr (requires { value.has_value(); }) {
        value.reset();
        if (!json.is_null()) {
            read_checked(json, value.emplace());
        }
    } else if constexpr (requires { typename T::mapped_type; }) {
        value.clear();
        for (const auto& [name, one] : json.template get_ref<const typename Json::object_t&>()) {
            if constexpr (std::is_integral_v<typename T::key_type>) {
                typename T::key_type key = 0;
                std::from_chars(name.data(), name.data() + name.size(), key);
                read_checked(one, value[key]);
            } else {
                read_checked(one, value[name]);
            }
        }
    } else if constexpr (requires { value.emplace_back(); }) {
        value.clear();
        for (const Json& one : json.template get_ref<const typename Json::array_t&>()) {
            read_checked(one, value.emplace_back());
        }
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        value = whole_number<T>(json);
    } else {
        if (std::is_floating_point_v<T> && !json.is_number()) {  // the library takes true for 1
            throw JsonNumberError("something else than a number");
        }
        json.get_to(value);
    }
}
template <typename T, typename Json>
T checked(const Json& json) {
    T value{};
    read_checked(json, value);
    return value;
}

// Fields of an object: null or nothing where there is none, or it is of another type.

template <typename Json>
const Json& field(const Json& json, const char* name) {
    static const Json nothing;
    const auto found = json.find(name);
    return found == json.end() ? nothing : *found;
}
template <typename T, typename Json>
std::optional<T> value_in(const Json& json, const char* name) {
    try {
        return checked<T>(field(json, name));
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}
template <typename Json>
std::string text_in(const Json& json, const char* name) {
    return value_in<std::string>(json, name).value_or("");
}

}  // namespace weir::files
