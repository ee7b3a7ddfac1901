// The largest (or smallest) value of one quantity with which a run is still sustained, by doubling or halving
// until the limit lies between two values and bisection from there. A value can hold, not hold, or be refused
// (no such run is possible); the search never goes beyond a refused one, so that it ends at what is possible
// and says so. (Rejected: to count refused values as such that do not hold. A search from 3 slots then ran
// through a dozen values beyond the most that there can be.)
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
    std::string text;        ///< the value as an option takes it
    std::string event_size;  ///< with it; empty: the same for all values
    std::uint32_t sustained = 0;
    std::uint32_t seeds = 0;
    double worst_occupancy = 0;
    std::string refused;  ///< why no such run is possible; empty: it is
    [[nodiscard]] bool holds() const { return refused.empty() && seeds > 0 && sustained == seeds; }
};

struct FindResult {
    std::vector<FindPoint> curve;       ///< in the order of the values
    std::optional<std::size_t> best;    ///< in the curve
    std::optional<std::size_t> beyond;  ///< the nearest value that does not hold, or is refused
};

/// What is looked for, and between which values.
struct SearchSpace {
    double start = 1;
    bool larger_is_harder = true;  ///< the largest value is looked for
    bool whole = false;            ///< whole numbers, to the last one
    double precision = 0.005;      ///< relative, where not whole
    double least = 0;
    double most = 1e300;
};

FindResult find_limit(const SearchSpace& space, const std::function<FindPoint(double)>& measure);

}  // namespace weir::cli
