// Structs of sums, combined field by field without a list of their fields: a field that is added is never
// left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace weir::core {

/// All fields are 64-bit integers, or strong types of one as in units.hpp: no padding, no other numbers.
template <typename Sums>
concept SumsOfIntegers =
    std::is_trivially_copyable_v<Sums> && std::has_unique_object_representations_v<Sums> &&
    sizeof(Sums) % sizeof(std::uint64_t) == 0 && alignof(Sums) == alignof(std::uint64_t);

/// Makes combine(field, other) of each field, modulo 2^64.
template <SumsOfIntegers Sums, typename Combine>
Sums& combine_fields(Sums& sums, const Sums& others, Combine combine) {
    for (std::size_t place = 0; place < sizeof(Sums); place += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::uint64_t other = 0;
        std::memcpy(&word, reinterpret_cast<const std::byte*>(&sums) + place, sizeof word);
        std::memcpy(&other, reinterpret_cast<const std::byte*>(&others) + place, sizeof other);
        word = combine(word, other);
        std::memcpy(reinterpret_cast<std::byte*>(&sums) + place, &word, sizeof word);
    }
    return sums;
}

}  // namespace weir::core
