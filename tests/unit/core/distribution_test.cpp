#include "core/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "catch.hpp"

using namespace weir::core;

namespace {

constexpr int draws = 20000;

Distribution of_kind(DistributionKind kind, double mean) {
    Distribution distribution;
    distribution.kind = kind;
    distribution.mean = mean;
    return distribution;
}
Distribution fixed(double mean) {
    return of_kind(DistributionKind::fixed, mean);
}
Distribution poisson(double mean, double quantum) {
    auto distribution = of_kind(DistributionKind::poisson, mean);
    distribution.quantum = quantum;
    return distribution;
}
Distribution exponential(double mean) {
    return of_kind(DistributionKind::exponential, mean);
}
Distribution normal(double mean, double deviation) {
    auto distribution = of_kind(DistributionKind::normal, mean);
    distribution.deviation = deviation;
    return distribution;
}
Distribution lognormal(double mean, double deviation) {
    auto distribution = of_kind(DistributionKind::lognormal, mean);
    distribution.deviation = deviation;
    return distribution;
}
Distribution pareto(double mean, double shape) {
    auto distribution = of_kind(DistributionKind::pareto, mean);
    distribution.shape = shape;
    return distribution;
}
Distribution trace(std::vector<std::int64_t> values) {
    auto distribution = of_kind(DistributionKind::trace, 0);
    distribution.trace = std::move(values);
    return distribution;
}
Distribution cut(Distribution distribution, double maximum) {
    distribution.maximum = maximum;
    return distribution;
}

std::vector<double> sorted_values(const Distribution& distribution, std::uint64_t seed,
                                  std::size_t n = draws) {
    Sampler sampler(distribution, Random(seed, 0));
    std::vector<double> values(n);
    std::generate(values.begin(), values.end(), [&] { return static_cast<double>(sampler.next()); });
    std::sort(values.begin(), values.end());
    return values;
}

double mean_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) {
        sum += value;
    }
    return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
    const double mean = mean_of(values);
    double sum = 0;
    for (const double value : values) {
        sum += (value - mean) * (value - mean);
    }
    return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// Kolmogorov and Smirnov's statistic x sqrt(n): above 1.95 with probability 0.001 if the values have the
/// cumulative distribution `probability` (less often if it has steps). Values are integers, so that both
/// distributions are compared at the upper edge of each value's bin.
double kolmogorov_smirnov(const std::vector<double>& sorted,
                          const std::function<double(double)>& probability) {
    const auto n = static_cast<double>(sorted.size());
    double largest = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (i + 1 < sorted.size() && sorted[i + 1] == sorted[i]) {
            continue;
        }
        largest = std::max(largest, std::abs(static_cast<double>(i + 1) / n - probability(sorted[i] + 0.5)));
    }
    return largest * std::sqrt(n);
}
constexpr double acceptable = 1.95;

std::function<double(double)> exponential_probability(double mean) {
    return [=](double x) { return 1 - std::exp(-x / mean); };
}
std::function<double(double)> normal_probability(double mean, double deviation) {
    return [=](double x) { return 0.5 * std::erfc((mean - x) / deviation / std::sqrt(2.0)); };
}
std::function<double(double)> lognormal_probability(double mean, double deviation) {
    const double variance = std::log(1 + deviation * deviation / (mean * mean));
    const double location = std::log(mean) - variance / 2;
    return
        [=](double x) { return x <= 0 ? 0 : normal_probability(location, std::sqrt(variance))(std::log(x)); };
}
std::function<double(double)> pareto_probability(double mean, double shape) {
    const double minimum = mean * (shape - 1) / shape;
    return [=](double x) { return x < minimum ? 0 : 1 - std::pow(minimum / x, shape); };
}
/// Summed from the library's log-gamma, count by count.
std::function<double(double)> poisson_probability(double mean) {
    const int last = static_cast<int>(mean + 10 * std::sqrt(mean) + 20);
    std::vector<double> sums;
    double sum = 0;
    for (int k = 0; k <= last; ++k) {
        sum += std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
        sums.push_back(sum);
    }
    return
        [sums](double x) { return sums[std::min(static_cast<std::size_t>(std::floor(x)), sums.size() - 1)]; };
}

/// Mean and deviation within four standard errors of the true ones, whose fourth moment is `kurtosis` x
/// deviation^4.
void check_moments(const std::vector<double>& values, double mean, double deviation, double kurtosis) {
    const auto n = static_cast<double>(values.size());
    CHECK(mean_of(values) == Approx(mean).margin(4 * deviation / std::sqrt(n)));
    CHECK(deviation_of(values) == Approx(deviation).margin(2 * deviation * std::sqrt((kurtosis - 1) / n)));
}

}  // namespace

TEST_CASE("No distribution gives 0 and a fixed one its value") {
    Sampler none(Distribution{}, Random(1, 0));
    CHECK(none.next() == 0);
    CHECK(expected_mean(Distribution{}) == 0);
    Sampler value(fixed(1234), Random(1, 0));
    CHECK(value.next() == 1234);
    CHECK(value.next() == 1234);
    CHECK(expected_mean(fixed(1234)) == 1234);
    CHECK(Sampler(fixed(2.5), Random(1, 0)).next() == 3);
}

TEST_CASE("A trace is given in order and again from its start") {
    Sampler sampler(trace({5, 0, 7}), Random(1, 0));
    for (const std::int64_t expected : {5, 0, 7, 5, 0, 7, 5}) {
        CHECK(sampler.next() == expected);
    }
    CHECK(expected_mean(trace({5, 0, 7})) == 4);
    CHECK(expected_mean(cut(trace({5, 0, 7}), 6)) == Approx(11.0 / 3));
}

TEST_CASE("Poisson counts have their distribution from tiny to huge means") {
    for (const double mean : {0.01, 0.7, 3.0, 9.99, 10.0, 10.5, 30.0, 1e3, 1e6}) {
        CAPTURE(mean);
        const auto values = sorted_values(poisson(mean, 1), 21);
        check_moments(values, mean, std::sqrt(mean), 3 + 1 / mean);
        CHECK(kolmogorov_smirnov(values, poisson_probability(mean)) < acceptable);
    }
}

TEST_CASE("Poisson counts of the rejection method have their probabilities one by one") {
    // So many draws that a wrong digit in one of the method's constants shows.
    constexpr std::size_t n = 500000;
    for (const double mean : {10.0, 40.0}) {
        CAPTURE(mean);
        const auto values = sorted_values(poisson(mean, 1), 22, n);
        double chi_square = 0;
        double freedom = -1;
        for (int k = 0; k < 100; ++k) {
            const double expected = n * std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
            if (expected > 10) {
                const auto range = std::equal_range(values.begin(), values.end(), static_cast<double>(k));
                const auto found = static_cast<double>(range.second - range.first);
                chi_square += (found - expected) * (found - expected) / expected;
                ++freedom;
            }
        }
        CHECK(chi_square < freedom + 3.5 * std::sqrt(2 * freedom));
    }
}

TEST_CASE("Poisson values are multiples of the quantum") {
    Sampler sampler(poisson(1.2e9, 1e8), Random(3, 0));
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(sampler.next() % 100000000 == 0);
    }
    check_moments(sorted_values(poisson(1.2e9, 1e8), 3), 1.2e9, 1e8 * std::sqrt(12.0), 3.1);
}

TEST_CASE("Poisson counts of the largest mean allowed keep their moments") {
    check_moments(sorted_values(poisson(maximum_poisson_mean, 1), 4), 1e9, std::sqrt(1e9), 3);
}

TEST_CASE("Exponential values have their distribution") {
    const auto values = sorted_values(exponential(1e6), 5);
    check_moments(values, 1e6, 1e6, 9);
    CHECK(kolmogorov_smirnov(values, exponential_probability(1e6)) < acceptable);
}

TEST_CASE("Normal values have their distribution") {
    const auto values = sorted_values(normal(1e6, 1e5), 6);
    check_moments(values, 1e6, 1e5, 3);
    CHECK(kolmogorov_smirnov(values, normal_probability(1e6, 1e5)) < acceptable);
}

TEST_CASE("Normal values are cut at 0") {
    const auto values = sorted_values(normal(1e6, 1e6), 7);
    CHECK(values.front() == 0);
    CHECK(kolmogorov_smirnov(values, normal_probability(1e6, 1e6)) < acceptable);
}

TEST_CASE("Lognormal values have the mean and deviation asked for") {
    const auto values = sorted_values(lognormal(1e6, 5e5), 8);
    check_moments(values, 1e6, 5e5, 10);
    CHECK(kolmogorov_smirnov(values, lognormal_probability(1e6, 5e5)) < acceptable);
}

TEST_CASE("Pareto values have their distribution") {
    const auto values = sorted_values(pareto(1e6, 6), 9);
    check_moments(values, 1e6, 1e6 * std::sqrt(1.0 / 24), 30);
    CHECK(kolmogorov_smirnov(values, pareto_probability(1e6, 6)) < acceptable);
    // So heavy a tail has no variance, and its mean converges too slowly to be tested.
    CHECK(kolmogorov_smirnov(sorted_values(pareto(1e6, 1.5), 9), pareto_probability(1e6, 1.5)) < acceptable);
}

TEST_CASE("Values of one distribution do not pass for those of another") {
    // Each pair has equal means, and where that is possible equal deviations.
    const auto far_off = [](const Distribution& distribution, const std::function<double(double)>& other) {
        return kolmogorov_smirnov(sorted_values(distribution, 10), other) > 2 * acceptable;
    };
    CHECK(far_off(exponential(1e6), lognormal_probability(1e6, 1e6)));
    CHECK(far_off(lognormal(1e6, 2e5), normal_probability(1e6, 2e5)));
    CHECK(far_off(normal(1e6, 1e5), normal_probability(1e6, 1.1e5)));
    CHECK(far_off(normal(1e6, 1e5), normal_probability(1.01e6, 1e5)));
    CHECK(far_off(pareto(1e6, 3), exponential_probability(1e6)));
    CHECK(far_off(poisson(5, 1), normal_probability(5, std::sqrt(5.0))));
    CHECK(far_off(poisson(50, 1), poisson_probability(51)));
}

TEST_CASE("Values are cut to the maximum") {
    for (const auto& distribution : {fixed(1e6), poisson(1e6, 1e4), exponential(1e6), normal(1e6, 1e5),
                                     lognormal(1e6, 3e5), pareto(1e6, 2), trace({1, 2000000})}) {
        CAPTURE(static_cast<int>(distribution.kind));
        CHECK(sorted_values(cut(distribution, 990000.9), 11).back() == 990000);
    }
}

TEST_CASE("Values that are too large for an integer are cut and not undefined") {
    Sampler sampler(lognormal(1e18, 1e30), Random(12, 0));
    for (int i = 0; i < 10000; ++i) {
        REQUIRE(sampler.next() >= 0);
    }
    CHECK(Sampler(fixed(1e300), Random(1, 0)).next() == std::int64_t{1} << 62);
}

TEST_CASE("The expected mean is what a sampler gives on average") {
    for (const auto& distribution : {poisson(1e6, 1e4), poisson(1e6, 1e6), exponential(1e6), normal(1e6, 1e6),
                                     normal(1e6, 1e5), lognormal(1e6, 1e6), pareto(1e6, 6)}) {
        for (const double maximum : {0.0, 5e5, 8.5e5, 1e6, 1.35e6, 2.2e6, 1e8}) {
            CAPTURE(static_cast<int>(distribution.kind), distribution.deviation, distribution.quantum,
                    maximum);
            const auto values = sorted_values(cut(distribution, maximum), 13);
            const double error = 4 * deviation_of(values) / std::sqrt(draws) + 1;
            CHECK(expected_mean(cut(distribution, maximum)) == Approx(mean_of(values)).margin(error));
        }
    }
    CHECK(expected_mean(poisson(1e9, 1)) == Approx(1e9));
    CHECK(expected_mean(cut(poisson(1e9, 1), 9e8)) == Approx(9e8));
    CHECK(expected_mean(pareto(1e6, 1.5)) == Approx(1e6));
    CHECK(expected_mean(normal(1e6, 1e6)) == Approx(1e6 * (0.8413447460685429 + 0.24197072451914337)));
    CHECK(expected_mean(cut(fixed(10), 7)) == 7);
}

TEST_CASE("Distributions without spread give their mean") {
    for (const auto& distribution : {normal(1000, 0), lognormal(1000, 0)}) {
        CHECK(Sampler(distribution, Random(1, 0)).next() == 1000);
        CHECK(expected_mean(distribution) == 1000);
    }
    for (const auto& distribution :
         {poisson(0, 10), exponential(0), normal(0, 0), pareto(0, 2), lognormal(0, 5)}) {
        CHECK(Sampler(distribution, Random(1, 0)).next() == 0);
        CHECK(expected_mean(distribution) == 0);
    }
}

TEST_CASE("Draws depend on the seed only") {
    for (const auto& distribution : {poisson(4, 1), poisson(1e6, 1), exponential(1e6), normal(1e6, 1e5),
                                     lognormal(1e6, 3e5), pareto(1e6, 2)}) {
        CHECK(sorted_values(distribution, 1) == sorted_values(distribution, 1));
        CHECK(sorted_values(distribution, 1) != sorted_values(distribution, 2));
    }
}

TEST_CASE("Draws are the same everywhere") {
    // Taken once from a run on x86-64; any machine and compiler must repeat them.
    std::uint64_t hash = 0;
    for (const auto& distribution : {poisson(4, 1), poisson(1e6, 1), exponential(1e15), normal(1e15, 1e14),
                                     lognormal(1e15, 3e14), pareto(1e15, 2)}) {
        Sampler sampler(distribution, Random(1, 0));
        for (int i = 0; i < 1000; ++i) {
            hash = SplitMix64(hash ^ static_cast<std::uint64_t>(sampler.next())).next();
        }
    }
    CHECK(hash == 0xd2f1943805eabec6ULL);
}

TEST_CASE("Distributions that cannot be drawn from are not valid") {
    CHECK(is_valid(Distribution{}));
    CHECK(is_valid(poisson(1e9, 1)));
    CHECK_FALSE(is_valid(poisson(2e9, 1)));
    CHECK_FALSE(is_valid(poisson(5, 0)));
    CHECK_FALSE(is_valid(fixed(-1)));
    CHECK_FALSE(is_valid(fixed(std::numeric_limits<double>::quiet_NaN())));
    CHECK_FALSE(is_valid(exponential(std::numeric_limits<double>::infinity())));
    CHECK_FALSE(is_valid(normal(1, -1)));
    CHECK_FALSE(is_valid(pareto(1, 1)));
    CHECK_FALSE(is_valid(trace({})));
    CHECK_FALSE(is_valid(trace({1, -1})));
    CHECK_FALSE(is_valid(cut(fixed(1), -1)));
}

TEST_CASE("A mixture gives the rare value at its given rate") {
    const Distribution results{.kind = DistributionKind::mixture, .mean = 28, .large = 65536, .every = 200};
    CHECK(is_valid(results));
    CHECK(std::abs(expected_mean(results) - (28 * 0.995 + 65536 * 0.005)) < 1e-9);
    Sampler sampler(results, Random(1, 0));
    int large = 0;
    constexpr int draws = 200000;
    for (int i = 0; i < draws; ++i) {
        const std::int64_t value = sampler.next();
        if (value != 28) {
            REQUIRE(value == 65536);
            ++large;
        }
    }
    CHECK(large > 850);  // 1000 expected, deviation 32
    CHECK(large < 1150);
    CHECK_FALSE(
        is_valid(Distribution{.kind = DistributionKind::mixture, .mean = 1, .large = 2, .every = 0.5}));
}
