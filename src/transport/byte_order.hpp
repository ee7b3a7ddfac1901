// Integers in memory, little endian whatever the host is. As a copy, which is one instruction: compilers do
// not see through loops over bytes where several of them follow one another (g++ 12: 380 instructions for a
// header). (std::byteswap is C++23.)
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace weir::transport {

namespace detail {

/// From the host's order to little endian, or back.
template <std::unsigned_integral T>
constexpr T little_endian(T value) {
    if constexpr (std::endian::native == std::endian::little) {
        return value;
    } else {
        auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
        std::reverse(bytes.begin(), bytes.end());
        return std::bit_cast<T>(bytes);
    }
}

}  // namespace detail

template <std::unsigned_integral T>
void store_little_endian(std::byte* out, T value) {
    value = detail::little_endian(value);
    std::memcpy(out, &value, sizeof value);
}

template <std::unsigned_integral T>
T load_little_endian(const std::byte* in) {
    T value = 0;
    std::memcpy(&value, in, sizeof value);
    return detail::little_endian(value);
}

}  // namespace weir::transport
