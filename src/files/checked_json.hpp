// Values of JSON that another process or a file has given. Every number goes through here: the library casts
// what does not fit, which wraps (4294967297 becomes 1) or is undefined (1e300 as an integer).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::files {

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

// Reads a value, whatever it is made of. They throw nlohmann::json::exception.

template <typename Json>
void read_checked(const Json& json, bool& value) {
    json.get_to(value);
}
template <typename Json>
void read_checked(const Json& json, std::string& value) {
    json.get_to(value);
}
template <typename Json>
void read_checked(const Json& json, double& value) {
    if (!json.is_number()) {  // the library takes true for 1
        throw JsonNumberError("something else than a number");
    }
    json.get_to(value);
}
template <typename Json, std::integral T>
void read_checked(const Json& json, T& value) {
    value = whole_number<T>(json);
}
template <typename Json, typename T>
void read_checked(const Json& json, std::optional<T>& value) {
    value.reset();
    if (!json.is_null()) {
        read_checked(json, value.emplace());
    }
}
template <typename Json, typename T>
void read_checked(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) {
        throw JsonNumberError("something else than a list");
    }
    values.clear();
    for (const Json& one : json) {
        read_checked(one, values.emplace_back());
    }
}
template <typename Json, typename T>
void read_checked(const Json& json, std::map<std::string, T>& values) {
    if (!json.is_object()) {
        throw JsonNumberError("something else than an object");
    }
    values.clear();
    for (const auto& [name, one] : json.items()) {
        read_checked(one, values[name]);
    }
}
template <typename T, typename Json>
T checked(const Json& json) {
    T value{};
    read_checked(json, value);
    return value;
}

}  // namespace weir::files
