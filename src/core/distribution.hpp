// Draws durations and sizes from the distributions of a plan. All draws are made here from uniform integers,
// by methods whose every operation is reproducible (exact_log, exact_exp); the standard library's
// distributions are not: each implementation may choose its own method.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/plan.hpp"
#include "core/random.hpp"

namespace weir::core {

// Logarithm, exponential and what is built on them, from operations that IEEE 754 fixes to the last bit
// (+ - * / and the square root): the same argument gives the same bits on every machine, so a seed gives the
// same run. "Exact" means reproducible; the error against the true value is a few 1e-16, stated at each.
// Rejected: std::log and std::exp, whose last bit depends on the C library and, in glibc, on whether the
// processor has fused multiply-add. Needs -ffp-contract=off, which the build sets.

/// Natural logarithm of a normal, finite x > 0; relative error below 1e-15.
double exact_log(double x);

/// e to the power x; relative error below 1e-15 where the result is a normal number. 0 below -745.2, infinity
/// above 709.7.
double exact_exp(double x);

/// x to the power y, for a normal, finite x > 0; relative error below 1e-15 x (1 + |y log x|).
double exact_power(double x, double y);

/// log(n!); absolute error below 1e-15 x n log n + 1e-14.
double exact_log_factorial(double n);

/// Density of the standard normal distribution at x.
double exact_normal_density(double x);

/// Probability that a standard normal variable is at most x; absolute error below 1e-14.
double exact_normal_probability(double x);

/// Largest mean / quantum of a poisson distribution: up to here double precision distinguishes neighbouring
/// counts with an error far below what any run could notice.
inline constexpr double maximum_poisson_mean = 1e9;

/// Whether values can be drawn: numbers finite and not negative; poisson: quantum > 0 and mean / quantum at
/// most maximum_poisson_mean; pareto: shape > 1; mixture: every >= 1; trace: not empty and no value negative.
bool is_valid(const Distribution& distribution);

/// Mean of the values that a Sampler gives, in the distribution's unit: the effect of both cuts (at 0, for
/// normal, and at `maximum`, or 2^62 without one) is included, the rounding to integers is not. Needs
/// is_valid().
double expected_mean(const Distribution& distribution);

/// All values become `factor` times as large, cuts and all.
void scale(Distribution& distribution, double factor);

/// The largest value that the distribution of a size gives, rounded up; of normal and lognormal without a
/// `maximum` 4 deviations above the mean, where config cuts them. Not for kinds of durations only.
std::int64_t largest_size(const Distribution& sizes);

class Sampler {
  public:
    /// Copies the distribution, which must be valid.
    Sampler(const Distribution& distribution, Random random);

    /// The next value, in the distribution's unit (ns or bytes): not negative, at most `maximum` (2^62
    /// where that is 0), rounded to the nearest integer. Takes bounded time on average: a rejection method
    /// takes 1 to 2 rounds, a poisson count with mean below 10 one draw per count.
    std::int64_t next();

  private:
    double draw();
    double standard_normal();
    double poisson_count();
    double small_poisson_count();
    double large_poisson_count();

    Distribution distribution_;
    Random random_;
    std::size_t trace_position_ = 0;

    double limit_ = 0;  ///< cut of results, an integer
    // Derived once from the distribution; what each is depends on the kind (see the constructor).
    double location_ = 0;
    double scale_ = 0;
    double log_mean_ = 0;
};

}  // namespace weir::core
