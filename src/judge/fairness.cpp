#include "judge/fairness.hpp"

#include <algorithm>

namespace weir::judge {

std::optional<Fairness> fairness_of(std::span<const double> shares) {
    double sum = 0;
    double sum_of_squares = 0;
    double smallest = shares.empty() ? 0 : shares.front();
    double largest = 0;
    for (const double share : shares) {
        sum += share;
        sum_of_squares += share * share;
        smallest = std::min(smallest, share);
        largest = std::max(largest, share);
    }
    if (largest <= 0) {
        return std::nullopt;
    }
    return Fairness{.smallest_over_largest = smallest / largest,
                    .jain_index = sum * sum / (static_cast<double>(shares.size()) * sum_of_squares)};
}

}  // namespace weir::judge
