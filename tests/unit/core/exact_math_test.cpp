#include "core/distribution.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "core/random.hpp"

using namespace weir::core;

namespace {

double relative_error(double value, double truth) {
    return truth == 0 ? std::abs(value) : std::abs(value / truth - 1);
}

/// A positive double with a random exponent between -1000 and 1000.
double random_magnitude(Random& random) {
    return std::ldexp(1 + random.uniform(), static_cast<int>(random.below(2001)) - 1000);
}

}  // namespace

TEST_CASE("exact_log agrees with the library's logarithm") {
    Random random(1, 0);
    double worst = 0;
    for (int i = 0; i < 100000; ++i) {
        const double anywhere = random_magnitude(random);
        worst = std::max(worst, relative_error(exact_log(anywhere), std::log(anywhere)));
        // Near 1 the logarithm is small, and its relative error must still be.
        const double near_1 =
            1 + (random.uniform() - 0.5) * std::ldexp(1, -static_cast<int>(random.below(50)));
        worst = std::max(worst, relative_error(exact_log(near_1), std::log(near_1)));
    }
    CHECK(worst < 1e-15);
    CHECK(exact_log(1) == 0);
    CHECK(relative_error(exact_log(0x1p-53), std::log(0x1p-53)) < 1e-15);
    CHECK(relative_error(exact_log(std::numeric_limits<double>::max()), 709.782712893384) < 1e-15);
    CHECK(relative_error(exact_log(std::numeric_limits<double>::min()), -708.3964185322641) < 1e-15);
}

TEST_CASE("exact_exp agrees with the library's exponential") {
    Random random(2, 0);
    double worst = 0;
    for (int i = 0; i < 100000; ++i) {
        const double anywhere = 1400 * random.uniform() - 700;
        worst = std::max(worst, relative_error(exact_exp(anywhere), std::exp(anywhere)));
        const double near_0 = 2 * random.uniform() - 1;
        worst = std::max(worst, relative_error(exact_exp(near_0), std::exp(near_0)));
    }
    CHECK(worst < 1e-15);
    CHECK(exact_exp(0) == 1);
    CHECK(exact_exp(710) == std::numeric_limits<double>::infinity());
    CHECK(exact_exp(709.7827) == Approx(std::exp(709.7827)).epsilon(1e-14));
    CHECK(exact_exp(-740) == Approx(std::exp(-740.0)).epsilon(1e-2));
    CHECK(exact_exp(-746) == 0);
    CHECK(exact_exp(-std::numeric_limits<double>::infinity()) == 0);
}

TEST_CASE("exact_power agrees with the library's power") {
    Random random(3, 0);
    for (int i = 0; i < 10000; ++i) {
        const double x = random.uniform_positive();
        const double y = 4 * random.uniform() - 2;
        const double tolerance = 1e-15 * (1 + std::abs(y * std::log(x)));
        REQUIRE(relative_error(exact_power(x, y), std::pow(x, y)) < tolerance);
    }
}

TEST_CASE("exact_log_factorial agrees with the library's log-gamma") {
    for (int n = 0; n <= 1000; ++n) {
        REQUIRE(exact_log_factorial(n) == Approx(std::lgamma(n + 1.0)).epsilon(2e-15).margin(1e-14));
    }
    for (const double n : {1e4, 1e6, 1e9}) {
        CHECK(exact_log_factorial(n) == Approx(std::lgamma(n + 1)).epsilon(2e-15));
    }
}

TEST_CASE("exact_normal functions agree with the library's error function") {
    const double sqrt_half = std::sqrt(0.5);
    for (double x = -10; x <= 10; x += 0.01) {
        REQUIRE(std::abs(exact_normal_probability(x) - 0.5 * std::erfc(-x * sqrt_half)) < 1e-14);
        REQUIRE(exact_normal_density(x) == Approx(std::exp(-x * x / 2) * 0.3989422804014327).epsilon(1e-14));
    }
}

TEST_CASE("exact_math gives the same bits everywhere") {
    // Taken once from a run on x86-64; any machine and compiler must repeat them.
    std::uint64_t hash = 0;
    Random random(4, 0);
    for (int i = 0; i < 10000; ++i) {
        const double x = random_magnitude(random);
        const double y = exact_log(x);
        for (const double value : {y, exact_exp(y / 2), exact_normal_probability(y / 100)}) {
            hash = SplitMix64(hash ^ std::bit_cast<std::uint64_t>(value)).next();
        }
    }
    CHECK(hash == 0xc86c801ce79e02bcULL);
}
