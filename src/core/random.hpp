// Random numbers that a seed fixes, on every machine and with every compiler: xoshiro256** (Blackman and
// Vigna, "Scrambled linear pseudorandom number generators", 2021), seeded by SplitMix64 (Steele, Lea, Flood,
// 2014). Rejected: the standard library's distributions, whose results differ between implementations, and
// its Mersenne twister, 2.5 kB of state for each of thousands of nodes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/assertion.hpp"

namespace weir::core {

/// 64-bit generator with one word of state: turns any seed, also 0 or 1, into well mixed words.
class SplitMix64 {
  public:
    explicit constexpr SplitMix64(std::uint64_t seed) : state_(seed) {}

    constexpr std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31U);
    }

  private:
    std::uint64_t state_;
};

/// What a stream of random numbers is for. Each purpose of each node draws from a stream of its own, so that
/// one more draw in one place changes nothing in another.
enum class RandomPurpose : std::uint32_t {
    event_size,
    processing,
    policy,
    payload,
    delay,
    exploration,
    result_size,
    set_phase,
    link_clock,  ///< this and all below: of the packet model
    host_delay,
    mark,
    background,
    path,
    place,
    placement,
    link_errors
};

/// Number of the stream for one purpose of one node, to be given to Random's constructor.
constexpr std::uint64_t random_stream(RandomPurpose purpose, std::uint32_t node) {
    return (static_cast<std::uint64_t>(purpose) << 32U) | node;
}

/// For what belongs to two nodes, in this order: a link, a flow, the messages from one to the other.
/// `number` distinguishes several of them.
constexpr std::uint64_t random_stream(RandomPurpose purpose, std::uint32_t from, std::uint32_t to,
                                      std::uint32_t number = 0) {
    const std::uint64_t mixed = SplitMix64(random_stream(purpose, from)).next();
    return SplitMix64(mixed + (std::uint64_t{to} << 32U | number)).next();
}

class Random {
  public:
    using State = std::array<std::uint64_t, 4>;

    /// The generator number `stream` of the run with this seed. Generators of different streams or seeds are
    /// independent for every practical purpose.
    constexpr Random(std::uint64_t seed, std::uint64_t stream) {
        // The seed is mixed before the stream is added, so that (1, 2) and (2, 1) are different generators.
        SplitMix64 words(SplitMix64(SplitMix64(seed).next() + stream).next());
        for (auto& word : state_) {
            word = words.next();
        }
    }

    /// A generator that starts in this state, which must not be all zero.
    explicit constexpr Random(const State& state) : state_(state) {
        WEIR_ASSERT((state[0] | state[1] | state[2] | state[3]) != 0);
    }

    /// 64 random bits.
    constexpr std::uint64_t next() {
        const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17U;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    /// An integer in 0 .. bound-1, all equally likely; bound >= 1. Takes as many bits as bound-1 has and
    /// draws again when they exceed it: fewer than two draws on average, and no bias as a modulus would
    /// bring.
    constexpr std::uint64_t below(std::uint64_t bound) {
        WEIR_ASSERT(bound > 0);
        if (bound == 1) {
            return 0;
        }
        const int unused_bits = std::countl_zero(bound - 1);
        std::uint64_t value = 0;
        do {
            value = next() >> unused_bits;
        } while (value >= bound);
        return value;
    }

    /// A multiple of 2^-53 in [0, 1), all equally likely.
    constexpr double uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

    /// A multiple of 2^-53 in (0, 1], all equally likely: never 0, so it has a logarithm.
    constexpr double uniform_positive() { return static_cast<double>((next() >> 11U) + 1) * 0x1p-53; }

  private:
    State state_{};
};

}  // namespace weir::core
