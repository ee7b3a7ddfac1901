#include "judge/fairness.hpp"

#include <algorithm>

#include "record/parallel_links.hpp"

namespace weir::judge {

std::optional<Fairness> fairness_of(std::span<const double> shares) {
    double smallest = shares.empty() ? 0 : shares.front();
    double largest = 0;
    for (const double share : shares) {
        smallest = std::min(smallest, share);
        largest = std::max(largest, share);
    }
    if (largest <= 0) {
        return std::nullopt;
    }
    return Fairness{.smallest_over_largest = smallest / largest, .jain_index = record::jain_index(shares)};
}

}  // namespace weir::judge
