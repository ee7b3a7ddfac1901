// Values of run.json that may be missing.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "record/rows.hpp"

namespace weir::record {

inline nlohmann::ordered_json second_or_null(std::int64_t second) {
    return second == no_second ? nlohmann::ordered_json() : nlohmann::ordered_json(second);
}
inline nlohmann::ordered_json finite_or_null(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}
inline nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
    return value ? finite_or_null(*value) : nlohmann::ordered_json();
}
template <typename Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}
inline nlohmann::ordered_json text_or_null(const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace weir::record
