// Values of run.json that may be missing, and lists.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "record/rows.hpp"

namespace weir::record {

/// json_of(item) of each.
template <typename Items, typename JsonOf>
nlohmann::ordered_json list_of(const Items& items, JsonOf&& json_of) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& item : items) {
        list.push_back(json_of(item));
    }
    return list;
}

inline nlohmann::ordered_json second_or_null(std::int64_t second) {
    return second == no_second ? nlohmann::ordered_json() : nlohmann::ordered_json(second);
}
inline nlohmann::ordered_json finite_or_null(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}
inline nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
    return value ? finite_or_null(*value) : nlohmann::ordered_json();
}
inline nlohmann::ordered_json or_null(const std::optional<core::Duration>& time) {
    return time ? nlohmann::ordered_json(time->in_seconds()) : nlohmann::ordered_json();
}
template <typename Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}
inline nlohmann::ordered_json text_or_null(const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace weir::record
