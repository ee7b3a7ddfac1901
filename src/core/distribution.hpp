// Draws durations and sizes from the distributions of a plan. All draws are made here from uniform integers,
// by methods whose every operation is reproducible (exact_math.hpp); the standard library's distributions are
// not: each implementation may choose its own method.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/plan.hpp"
#include "core/random.hpp"

namespace weir::core {

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
