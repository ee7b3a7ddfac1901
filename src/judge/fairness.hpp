// How fairly ranks share a throughput.
#pragma once

#include <optional>
#include <span>

namespace weir::judge {

struct Fairness {
    double smallest_over_largest = 0;  ///< 1: all equal; 0: one got nothing
    double jain_index = 0;             ///< record::jain_index
};

/// Nothing without shares, or if all are 0. Shares are 0 or more.
std::optional<Fairness> fairness_of(std::span<const double> shares);

}  // namespace weir::judge
