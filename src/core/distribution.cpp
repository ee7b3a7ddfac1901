#include "core/distribution.hpp"

#include <cfloat>
#include <cmath>

namespace weir::core {

// From <cmath> only functions whose result IEEE 754 fixes to the last bit are used: sqrt, floor, abs,
// isfinite.

namespace {

/// Where a distribution has no maximum: far above any duration or size, and safe to add to.
constexpr double no_maximum = 0x1p62;

double limit_of(const Distribution& distribution) {
    return distribution.maximum > 0 ? std::min(distribution.maximum, no_maximum) : no_maximum;
}

/// Parameters of the normal distribution of which a lognormal value is the exponential.
struct LogNormal {
    double mean = 0;
    double deviation = 0;
};

// From mean m = exp(mu + s^2 / 2) and variance d^2 = (exp(s^2) - 1) m^2.
LogNormal log_parameters(const Distribution& distribution) {
    const double ratio = distribution.deviation / distribution.mean;
    const double variance = exact_log(1 + ratio * ratio);
    return {exact_log(distribution.mean) - variance / 2, std::sqrt(variance)};
}

/// Smallest value of a pareto distribution: mean = minimum x shape / (shape - 1).
double pareto_minimum(const Distribution& distribution) {
    return distribution.mean * (distribution.shape - 1) / distribution.shape;
}

/// Probability that a poisson count is at most n, summed from the largest term that matters downwards.
double poisson_probability(double mean, double n) {
    if (n < 0) {
        return 0;
    }
    const double far = 10 * std::sqrt(mean) + 50;  // beyond: less than 1e-16
    if (n > mean + far) {
        return 1;
    }
    double term = exact_exp(n * exact_log(mean) - mean - exact_log_factorial(n));
    double sum = term;
    for (double k = n; k > 0 && k > mean - far; --k) {
        term *= k / mean;
        sum += term;
    }
    return std::min(sum, 1.0);
}

// Each function below: mean of X cut to 0 .. limit, from E = integral of x f(x) up to the limit + limit x P(X
// > limit).

double cut_poisson_mean(double mean, double limit) {
    // sum of k p(k) for k <= n is mean x P(N <= n - 1)
    const double n = std::floor(limit);
    return mean * poisson_probability(mean, n - 1) + limit * (1 - poisson_probability(mean, n));
}

double cut_exponential_mean(double mean, double limit) {
    return mean * (1 - exact_exp(-limit / mean));
}

double cut_normal_mean(double mean, double deviation, double limit) {
    const double lower = -mean / deviation;
    const double upper = (limit - mean) / deviation;
    const double at_lower = exact_normal_probability(lower);
    const double at_upper = exact_normal_probability(upper);
    return mean * (at_upper - at_lower) +
           deviation * (exact_normal_density(lower) - exact_normal_density(upper)) + limit * (1 - at_upper);
}

double cut_lognormal_mean(const Distribution& distribution, double limit) {
    const LogNormal log = log_parameters(distribution);
    const double upper = (exact_log(limit) - log.mean) / log.deviation;
    return distribution.mean * exact_normal_probability(upper - log.deviation) +
           limit * (1 - exact_normal_probability(upper));
}

double cut_pareto_mean(const Distribution& distribution, double limit) {
    const double minimum = pareto_minimum(distribution);
    if (limit <= minimum) {
        return limit;
    }
    const double tail = exact_power(minimum / limit, distribution.shape - 1);
    return minimum + minimum / (distribution.shape - 1) * (1 - tail);
}

double cut_trace_mean(const Distribution& distribution, double limit) {
    double sum = 0;
    for (const std::int64_t value : distribution.trace) {
        sum += std::min(static_cast<double>(value), limit);
    }
    return sum / static_cast<double>(distribution.trace.size());
}

/// Whether there is nothing random about it: every value is the mean.
bool is_constant(const Distribution& distribution) {
    switch (distribution.kind) {
        case DistributionKind::fixed:
            return true;
        case DistributionKind::poisson:
        case DistributionKind::exponential:
        case DistributionKind::pareto:
            return distribution.mean == 0;
        case DistributionKind::normal:
            return distribution.deviation == 0;
        case DistributionKind::lognormal:
            return distribution.deviation == 0 || distribution.mean == 0;
        case DistributionKind::none:
        case DistributionKind::mixture:
        case DistributionKind::trace:
            return false;
    }
    return false;
}

// log 2 in two parts; the upper one has 21 zero bits at its end, so that its product with an exponent is
// exact.
constexpr double log_2_upper = 0x1.62e42feep-1;
constexpr double log_2_lower = 0x1.a39ef35793c76p-33;
constexpr double inverse_log_2 = 0x1.71547652b82fep+0;
constexpr double half_log_2_pi = 0x1.d67f1c864beb5p-1;
constexpr double inverse_sqrt_2_pi = 0x1.9884533d43651p-2;

constexpr int mantissa_bits = 52;
constexpr int exponent_bias = 1023;

/// 2 to the power n, for -1022 <= n <= 1023.
double power_of_2(int n) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(n + exponent_bias) << mantissa_bits);
}

}  // namespace

bool is_valid(const Distribution& distribution) {
    const auto& d = distribution;
    for (const double number : {d.mean, d.quantum, d.deviation, d.shape, d.maximum, d.large, d.every}) {
        if (!std::isfinite(number) || number < 0) {
            return false;
        }
    }
    switch (d.kind) {
        case DistributionKind::poisson:
            return d.quantum > 0 && d.mean / d.quantum <= maximum_poisson_mean;
        case DistributionKind::pareto:
            return d.shape > 1;
        case DistributionKind::mixture:
            return d.every >= 1;
        case DistributionKind::trace:
            return !d.trace.empty() && *std::min_element(d.trace.begin(), d.trace.end()) >= 0;
        default:
            return true;
    }
}

void scale(Distribution& distribution, double factor) {
    distribution.mean *= factor;
    distribution.quantum *= factor;
    distribution.deviation *= factor;
    distribution.maximum *= factor;
    distribution.large *= factor;
    for (std::int64_t& value : distribution.trace) {
        value = std::llround(static_cast<double>(value) * factor);
    }
}

std::int64_t largest_size(const Distribution& sizes) {
    const auto whole = [](double size) { return static_cast<std::int64_t>(std::ceil(size)); };
    switch (sizes.kind) {
        case DistributionKind::trace:
            return *std::max_element(sizes.trace.begin(), sizes.trace.end());
        case DistributionKind::normal:
        case DistributionKind::lognormal:
            return whole(sizes.maximum > 0 ? sizes.maximum : sizes.mean + 4 * sizes.deviation);
        case DistributionKind::mixture:
            return whole(std::max(sizes.mean, sizes.large));
        default:
            return whole(sizes.mean);
    }
}

double expected_mean(const Distribution& distribution) {
    WEIR_ASSERT(is_valid(distribution));
    const double limit = limit_of(distribution);
    if (is_constant(distribution)) {
        return std::min(distribution.mean, limit);
    }
    switch (distribution.kind) {
        case DistributionKind::none:
            return 0;
        case DistributionKind::fixed:
            break;  // constant
        case DistributionKind::poisson:
            return distribution.quantum *
                   cut_poisson_mean(distribution.mean / distribution.quantum, limit / distribution.quantum);
        case DistributionKind::exponential:
            return cut_exponential_mean(distribution.mean, limit);
        case DistributionKind::normal:
            return cut_normal_mean(distribution.mean, distribution.deviation, limit);
        case DistributionKind::lognormal:
            return cut_lognormal_mean(distribution, limit);
        case DistributionKind::pareto:
            return cut_pareto_mean(distribution, limit);
        case DistributionKind::mixture:
            return std::min(distribution.mean, limit) * (1 - 1 / distribution.every) +
                   std::min(distribution.large, limit) / distribution.every;
        case DistributionKind::trace:
            return cut_trace_mean(distribution, limit);
    }
    WEIR_ASSERT(false);
    return 0;
}

Sampler::Sampler(const Distribution& distribution, Random random)
    : distribution_(distribution), random_(random), limit_(std::floor(limit_of(distribution))) {
    WEIR_ASSERT(is_valid(distribution));
    if (is_constant(distribution_)) {
        distribution_.kind = DistributionKind::fixed;
        return;
    }
    switch (distribution_.kind) {
        case DistributionKind::poisson: {
            const double mean = distribution_.mean / distribution_.quantum;
            location_ = mean;
            scale_ = std::sqrt(mean);
            log_mean_ = exact_log(mean);
            break;
        }
        case DistributionKind::lognormal: {
            const LogNormal log = log_parameters(distribution_);
            location_ = log.mean;
            scale_ = log.deviation;
            break;
        }
        case DistributionKind::pareto:
            location_ = pareto_minimum(distribution_);
            break;
        default:
            break;
    }
}

std::int64_t Sampler::next() {
    const double value = std::max(draw(), 0.0);
    return static_cast<std::int64_t>(std::min(std::floor(value + 0.5), limit_));
}

double Sampler::draw() {
    switch (distribution_.kind) {
        case DistributionKind::none:
            return 0;
        case DistributionKind::fixed:
            return distribution_.mean;
        case DistributionKind::poisson:
            return distribution_.quantum * poisson_count();
        case DistributionKind::exponential:
            return -distribution_.mean * exact_log(random_.uniform_positive());
        case DistributionKind::normal:
            return distribution_.mean + distribution_.deviation * standard_normal();
        case DistributionKind::lognormal:
            return exact_exp(location_ + scale_ * standard_normal());
        case DistributionKind::pareto:
            return location_ * exact_power(random_.uniform_positive(), -1 / distribution_.shape);
        case DistributionKind::mixture:
            return random_.uniform() * distribution_.every < 1 ? distribution_.large : distribution_.mean;
        case DistributionKind::trace: {
            const std::int64_t value = distribution_.trace[trace_position_];
            trace_position_ = trace_position_ + 1 == distribution_.trace.size() ? 0 : trace_position_ + 1;
            return static_cast<double>(value);
        }
    }
    WEIR_ASSERT(false);
    return 0;
}

// Polar method: Marsaglia and Bray, "A convenient method for generating normal variables", 1964. Its second
// value is not kept: a draw then depends on nothing but the generator's state.
double Sampler::standard_normal() {
    for (;;) {
        const double x = 2 * random_.uniform() - 1;
        const double y = 2 * random_.uniform() - 1;
        const double square = x * x + y * y;
        if (square > 0 && square < 1) {
            return x * std::sqrt(-2 * exact_log(square) / square);
        }
    }
}

double Sampler::poisson_count() {
    return location_ < 10 ? small_poisson_count() : large_poisson_count();
}

// Counts exponential intervals that fit into the mean, as a product of uniforms (Knuth, The Art of Computer
// Programming, volume 2, 3.4.1).
double Sampler::small_poisson_count() {
    const double end = exact_exp(-location_);
    double count = 0;
    for (double product = random_.uniform(); product > end; product *= random_.uniform()) {
        ++count;
    }
    return count;
}

// PTRS: Hoermann, "The transformed rejection method for generating Poisson random variables", 1993. Exact for
// means from 10 on; 1.1 to 1.3 rounds on average. The constants are the paper's.
double Sampler::large_poisson_count() {
    const double b = 0.931 + 2.53 * scale_;
    const double a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    const double accepted_at_once = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = random_.uniform() - 0.5;
        const double v = random_.uniform_positive();
        const double distance = 0.5 - std::abs(u);
        const double count = std::floor((2 * a / distance + b) * u + location_ + 0.43);
        if (distance >= 0.07 && v <= accepted_at_once) {
            return count;
        }
        if (count < 0 || (distance < 0.013 && v > distance)) {
            continue;
        }
        const double log_ratio = exact_log(v * inverse_alpha / (a / (distance * distance) + b));
        if (log_ratio <= count * log_mean_ - location_ - exact_log_factorial(count)) {
            return count;
        }
    }
}

// Intermediate results in a wider format (as on the x87) would round differently.
static_assert(FLT_EVAL_METHOD == 0 && std::numeric_limits<double>::is_iec559);

// x = m 2^k with m between sqrt(1/2) and sqrt(2); with s = (m - 1) / (m + 1), log m = 2 (s + s^3/3 + s^5/5 +
// ...) and |s| < 0.172: terms after s^23 are below 1e-19 of the sum.
double exact_log(double x) {
    WEIR_ASSERT(x >= DBL_MIN && x <= DBL_MAX);
    const auto bits = std::bit_cast<std::uint64_t>(x);
    int k = static_cast<int>(bits >> mantissa_bits) - exponent_bias;
    constexpr std::uint64_t mantissa_mask = (std::uint64_t{1} << mantissa_bits) - 1;
    auto m = std::bit_cast<double>((bits & mantissa_mask) | std::bit_cast<std::uint64_t>(1.0));
    if (m > 0x1.6a09e667f3bcdp+0) {  // sqrt(2)
        m *= 0.5;
        ++k;
    }
    const double s = (m - 1) / (m + 1);
    const double s_squared = s * s;
    double series = 0;
    for (int n = 23; n >= 3; n -= 2) {
        series = series * s_squared + 1.0 / n;
    }
    const double small = 2 * s * s_squared * series + k * log_2_lower;
    return k * log_2_upper + (2 * s + small);
}

// x = k log 2 + r with |r| <= (log 2) / 2, and the exponential series for r: terms after r^14 are below
// 1e-19.
double exact_exp(double x) {
    if (x > 709.782712893384) {
        return std::numeric_limits<double>::infinity();
    }
    if (!(x > -745.2)) {
        return 0;
    }
    const int k = static_cast<int>(x * inverse_log_2 + (x < 0 ? -0.5 : 0.5));
    const double r = (x - k * log_2_upper) - k * log_2_lower;
    double series = 0;
    for (int n = 14; n >= 2; --n) {
        series = (series + 1) * (r / n);
    }
    const double result = 1 + (r + r * series);
    // In two steps, because 2^k itself may be out of range.
    const int half = k / 2;
    return result * power_of_2(half) * power_of_2(k - half);
}

double exact_power(double x, double y) {
    return exact_exp(y * exact_log(x));
}

// Up to 20! as it is; above that Stirling's series (Abramowitz and Stegun 6.1.41), whose first term left out
// is below 1e-15.
double exact_log_factorial(double n) {
    WEIR_ASSERT(n >= 0);
    if (n <= 20) {
        double factorial = 1;
        for (double factor = 2; factor <= n; ++factor) {
            factorial *= factor;
        }
        return exact_log(factorial);
    }
    const double inverse = 1 / n;
    const double inverse_squared = inverse * inverse;
    double series = -1.0 / 1680;
    series = series * inverse_squared + 1.0 / 1260;
    series = series * inverse_squared - 1.0 / 360;
    series = series * inverse_squared + 1.0 / 12;
    return (n + 0.5) * exact_log(n) - n + half_log_2_pi + series * inverse;
}

double exact_normal_density(double x) {
    return inverse_sqrt_2_pi * exact_exp(-0.5 * x * x);
}

// 1/2 + density(x) (x + x^3/3 + x^5/(3 5) + x^7/(3 5 7) + ...): Marsaglia, "Evaluating the normal
// distribution", 2004.
double exact_normal_probability(double x) {
    if (x < -8.5) {
        return 0;
    }
    if (x > 8.5) {
        return 1;
    }
    double sum = x;
    double term = x;
    for (double n = 3; sum + term != sum; n += 2) {
        term *= x * x / n;
        sum += term;
    }
    return 0.5 + exact_normal_density(x) * sum;
}

}  // namespace weir::core
