#include "core/random.hpp"

#include <cmath>
#include <set>
#include <vector>

#include "catch.hpp"

using weir::core::Random;
using weir::core::random_stream;
using weir::core::RandomPurpose;
using weir::core::SplitMix64;

// Outputs of the authors' C programs (prng.di.unimi.it), as also published with the Rust crate rand_xoshiro.
TEST_CASE("SplitMix64 gives the published sequence") {
    SplitMix64 generator(1477776061723855037ULL);
    for (const std::uint64_t expected :
         {1985237415132408290ULL, 2979275885539914483ULL, 13511426838097143398ULL, 8488337342461049707ULL,
          15141737807933549159ULL}) {
        CHECK(generator.next() == expected);
    }
}

TEST_CASE("The xoshiro256 generator gives the published sequence") {
    Random random(Random::State{1, 2, 3, 4});
    for (const std::uint64_t expected :
         {11520ULL, 0ULL, 1509978240ULL, 1215971899390074240ULL, 1216172134540287360ULL,
          607988272756665600ULL, 16172922978634559625ULL, 8476171486693032832ULL, 10595114339597558777ULL,
          2904607092377533576ULL}) {
        CHECK(random.next() == expected);
    }
}

TEST_CASE("A random stream is fixed by its seed and number") {
    Random a(7, 3);
    Random b(7, 3);
    for (int i = 0; i < 100; ++i) {
        CHECK(a.next() == b.next());
    }
}

TEST_CASE("Random streams of neighbouring seeds and numbers differ") {
    std::set<std::uint64_t> first_words;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        for (std::uint64_t stream = 0; stream < 100; ++stream) {
            first_words.insert(Random(seed, stream).next());
        }
    }
    CHECK(first_words.size() == 100 * 100);
}

TEST_CASE("Every purpose of every node has a random stream of its own") {
    std::set<std::uint64_t> streams;
    for (const auto purpose : {RandomPurpose::event_size, RandomPurpose::processing, RandomPurpose::policy,
                               RandomPurpose::payload}) {
        for (const std::uint32_t node : {0U, 1U, 4000U, 0xffffffffU}) {
            streams.insert(random_stream(purpose, node));
        }
    }
    CHECK(streams.size() == 16);
}

TEST_CASE("Bounded random integers stay in bounds and are equally likely") {
    for (const std::uint64_t bound : {1U, 2U, 3U, 7U, 64U, 100U}) {
        Random random(1, bound);
        std::vector<double> counts(bound);
        const double expected = 1000;
        for (std::uint64_t i = 0; i < bound * 1000; ++i) {
            const std::uint64_t value = random.below(bound);
            REQUIRE(value < bound);
            ++counts[value];
        }
        double chi_square = 0;
        for (const double count : counts) {
            chi_square += (count - expected) * (count - expected) / expected;
        }
        const auto freedom = static_cast<double>(bound - 1);
        CHECK(chi_square <= freedom + 4 * std::sqrt(2 * freedom));
    }
}

TEST_CASE("A bound near 2 to the 64 brings no modulo bias") {
    // With a modulus, the lower third of this range would come twice as often as the rest.
    const std::uint64_t third = std::uint64_t{1} << 62U;
    Random random(5, 0);
    int lower = 0;
    for (int i = 0; i < 30000; ++i) {
        lower += random.below(3 * third) < third ? 1 : 0;
    }
    CHECK(lower == Approx(10000).margin(350));
    CHECK(Random(5, 0).below(~0ULL) < ~0ULL);
}

TEST_CASE("Uniform random numbers keep their half-open intervals") {
    Random random(11, 0);
    double sum = 0;
    double sum_of_squares = 0;
    for (int i = 0; i < 100000; ++i) {
        const double u = random.uniform();
        REQUIRE((u >= 0 && u < 1));
        sum += u;
        sum_of_squares += u * u;
        const double v = random.uniform_positive();
        REQUIRE((v > 0 && v <= 1));
    }
    CHECK(sum / 100000 == Approx(0.5).margin(0.004));
    CHECK(sum_of_squares / 100000 == Approx(1.0 / 3).margin(0.004));
    // The lowest ends. The first output depends on the second word only: 0 gives 0.
    CHECK(Random(Random::State{1, 0, 0, 0}).uniform() == 0);
    CHECK(Random(Random::State{1, 0, 0, 0}).uniform_positive() == 0x1p-53);
}
