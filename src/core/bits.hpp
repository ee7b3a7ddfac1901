// Sets of small numbers as words of 64 bits, for finding the next member, or the next one of two sets, in a
// 64th of the steps.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace weir::core {

inline constexpr std::uint32_t bits_in_word = 64;

[[nodiscard]] constexpr std::size_t words_for(std::uint32_t bits) {
    return (bits + bits_in_word - 1) / bits_in_word;
}
constexpr void set_bit(std::span<std::uint64_t> words, std::uint32_t bit) {
    words[bit / bits_in_word] |= std::uint64_t{1} << (bit % bits_in_word);
}
constexpr void clear_bit(std::span<std::uint64_t> words, std::uint32_t bit) {
    words[bit / bits_in_word] &= ~(std::uint64_t{1} << (bit % bits_in_word));
}
[[nodiscard]] constexpr bool has_bit(std::span<const std::uint64_t> words, std::uint32_t bit) {
    return ((words[bit / bits_in_word] >> (bit % bits_in_word)) & 1U) != 0;
}

/// The first number that is in both sets, of equally many words, searched from `from` on and then from 0.
[[nodiscard]] constexpr std::optional<std::uint32_t> next_in_both(std::span<const std::uint64_t> a,
                                                                  std::span<const std::uint64_t> b,
                                                                  std::uint32_t from) {
    const std::size_t words = a.size();
    const std::size_t first = from / bits_in_word;
    // The word of `from` is looked at twice: from there on, and at the end what lies before it.
    for (std::size_t step = 0; step <= words; ++step) {
        const std::size_t word = (first + step) % words;
        std::uint64_t bits = a[word] & b[word];
        if (step == 0) {
            bits &= ~std::uint64_t{0} << (from % bits_in_word);
        }
        if (bits != 0) {
            return static_cast<std::uint32_t>(word * bits_in_word) +
                   static_cast<std::uint32_t>(std::countr_zero(bits));
        }
    }
    return std::nullopt;
}

/// Calls `handle` with each number that is in both sets.
template <typename Handle>
constexpr void for_each_in_both(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                                Handle handle) {
    for (std::size_t word = 0; word < a.size(); ++word) {
        for (std::uint64_t bits = a[word] & b[word]; bits != 0; bits &= bits - 1) {
            handle(static_cast<std::uint32_t>(word * bits_in_word) +
                   static_cast<std::uint32_t>(std::countr_zero(bits)));
        }
    }
}

}  // namespace weir::core
