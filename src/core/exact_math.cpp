#include "core/exact_math.hpp"

#include <bit>
#include <cfloat>
#include <limits>

#include "core/assertion.hpp"

namespace weir::core {

// Intermediate results in a wider format (as on the x87) would round differently.
static_assert(FLT_EVAL_METHOD == 0 && std::numeric_limits<double>::is_iec559);

namespace {

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
