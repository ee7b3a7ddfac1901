// What a call refuses, for tests.
#pragma once

#include <string>

#include "config/usage_error.hpp"

/// The text of the UsageError that `call` throws; "accepted" if it throws none.
template <typename Call>
std::string refusal_of(const Call& call) {
    try {
        call();
    } catch (const weir::config::UsageError& error) {
        return error.what();
    }
    return "accepted";
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}
