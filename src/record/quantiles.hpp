// Quantiles and the median: values that occurred, and none between two of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace weir::record {

/// The smallest of the values that `share` of all do not exceed. Not of none.
template <typename Value>
Value nearest_rank(const std::vector<Value>& ascending, double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(ascending.size())));
    return ascending[std::max<std::size_t>(rank, 1) - 1];
}

/// The value in the middle; of an even number the upper one of two; Value{} of none.
template <typename Value>
Value median_of(std::vector<Value> values) {
    if (values.empty()) {
        return {};
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace weir::record
