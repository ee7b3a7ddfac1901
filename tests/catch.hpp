// Catch2, in version 2 (Debian 12) or 3 (later): the same macros from different headers.
#pragma once

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
// Version 2 has Approx in the global namespace.
using Catch::Approx;
/// For CHECK_THROWS_WITH: a message with this text in it.
inline auto containing(const std::string& text) {
    return Catch::Matchers::ContainsSubstring(text);
}
#else
#ifndef CATCH_CONFIG_FAST_COMPILE
#define CATCH_CONFIG_FAST_COMPILE
#endif
#include <catch2/catch.hpp>
inline auto containing(const std::string& text) {
    return Catch::Contains(text);
}
#endif
