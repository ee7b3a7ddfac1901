// The largest value of one quantity with which a simulated run holds, by doubling or halving until the limit
// lies between two values and bisection from there. A simulation has one outcome, so this is another thing
// than the search of `weir-sweep`, whose runs are noisy: weir explain asks it for the rate that a twin bears.
// A value can hold, not hold, or be refused (no such run is possible); the search never goes beyond a refused
// one, so that it ends at what is possible. (Rejected: to count refused values as such that do not hold. A
// search then ran through a dozen values beyond the most that there can be.)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weir::cli {

/// One point of the curve: how the runs came out with this value.
struct FindPoint {
    double value = 0;
    std::string text;         ///< the value as an option takes it
    std::uint32_t held = 0;   ///< seeds that did
    std::uint32_t seeds = 0;  ///< that were tried
    std::string refused;      ///< why no such run is possible; empty: it is
    [[nodiscard]] bool holds() const { return refused.empty() && seeds > 0 && held == seeds; }
};

struct FindResult {
    std::vector<FindPoint> curve;       ///< in the order of the values
    std::optional<std::size_t> best;    ///< in the curve
    std::optional<std::size_t> beyond;  ///< the nearest value that does not hold, or is refused
};

/// What is looked for, and between which values.
struct SearchSpace {
    double start = 1;
    bool whole = false;        ///< whole numbers, to the last one
    double precision = 0.005;  ///< relative, where not whole
    double least = 0;
    double most = 1e300;
};

FindResult find_limit(const SearchSpace& space, const std::function<FindPoint(double)>& measure);

}  // namespace weir::cli
