// Structs of sums, combined field by field without a list of their fields: a field that is added is never
// forgotten.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weir::core {

/// All fields are 64-bit integers, or strong types of one as in units.hpp: no padding, no other numbers.
template <typename Sums>
concept SumsOfIntegers =
    std::is_trivially_copyable_v<Sums> && std::has_unique_object_representations_v<Sums> &&
    sizeof(Sums) % sizeof(std::uint64_t) == 0 && alignof(Sums) == alignof(std::uint64_t);

/// combine(a, b) of each field, modulo 2^64.
template <SumsOfIntegers Sums, typename Combine>
constexpr Sums combined_fields(const Sums& a, const Sums& b, Combine combine) {
    using Words = std::array<std::uint64_t, sizeof(Sums) / sizeof(std::uint64_t)>;
    auto words = std::bit_cast<Words>(a);
    const auto others = std::bit_cast<Words>(b);
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = combine(words[i], others[i]);
    }
    return std::bit_cast<Sums>(words);
}

}  // namespace weir::core
