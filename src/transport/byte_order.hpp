// Integers in memory, little endian whatever the host is. Compilers turn each into one instruction.
// (std::byteswap is C++23.)
#pragma once

#include <concepts>
#include <cstddef>

namespace weir::transport {

template <std::unsigned_integral T>
constexpr void store_little_endian(std::byte* out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        out[i] = static_cast<std::byte>(value >> (8 * i));
    }
}

template <std::unsigned_integral T>
constexpr T load_little_endian(const std::byte* in) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value = static_cast<T>(value | static_cast<T>(static_cast<T>(in[i]) << (8 * i)));
    }
    return value;
}

}  // namespace weir::transport
