// Quantiles by nearest rank: values that occurred, and none between two of them.
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

}  // namespace weir::record
