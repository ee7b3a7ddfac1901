// Characters, whatever the locale says.
#pragma once

namespace weir::config {

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace weir::config
