// Logarithm, exponential and what is built on them, from operations that IEEE 754 fixes to the last bit
// (+ - * / and the square root): the same argument gives the same bits on every machine, so a seed gives the
// same run. "Exact" means reproducible; the error against the true value is a few 1e-16, stated at each.
// Rejected: std::log and std::exp, whose last bit depends on the C library and, in glibc, on whether the
// processor has fused multiply-add. Needs -ffp-contract=off, which the build sets.
#pragma once

#include <cstdint>

namespace weir::core {

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

}  // namespace weir::core
