// How fairly ranks share a throughput.
#pragma once

#include <optional>
#include <span>

namespace weir::judge {

struct Fairness {
    double smallest_over_largest = 0;  ///< 1: all equal; 0: one got nothing
    /// (sum of x)^2 / (n * sum of x^2): 1 if all are equal, k/n if k of n share everything equally and the
    /// others have nothing. R. Jain, D. Chiu, W. Hawe, DEC research report TR-301 (1984).
    double jain_index = 0;
};

/// Nothing without shares, or if all are 0. Shares are 0 or more.
std::optional<Fairness> fairness_of(std::span<const double> shares);

}  // namespace weir::judge
