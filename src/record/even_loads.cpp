#include "record/even_loads.hpp"

#include <algorithm>
#include <numeric>

#include "record/parallel_links.hpp"

namespace weir::record {

std::optional<double> EvenLoads::index_of(std::span<const double> loads_bytes) const {
    const double total = std::accumulate(loads_bytes.begin(), loads_bytes.end(), 0.0);
    const std::optional<LoadBalance> balance = balance_of(loads_bytes);
    if (!balance || total < least_load_bytes_ * static_cast<double>(loads_bytes.size())) {
        return std::nullopt;
    }
    return balance->jain_index;
}

void EvenLoads::begin(std::uint32_t failure, core::Instant at, const std::vector<std::size_t>& groups) {
    UnevenLinks& begun = failures_[failure];
    begun = {.begin = at, .uneven_until = at};
    for (const std::size_t index : groups) {
        if (const std::deque<double>& rows = before_[index]; !rows.empty()) {
            begun.groups.push_back({index, *std::min_element(rows.begin(), rows.end()) - tolerance});
        }
    }
}

void EvenLoads::end(std::uint32_t failure, core::Instant at) {
    failures_[failure].end = at;
}

void EvenLoads::add_row(core::Instant begin, core::Instant end,
                        std::span<const std::optional<double>> jain_indices) {
    for (auto& [number, failure] : failures_) {
        if (begin >= failure.end) {
            continue;
        }
        for (Group& group : failure.groups) {
            const std::optional<double>& jain = jain_indices[group.index];
            if (!jain) {
                continue;
            }
            ++failure.rows;
            group.even = *jain >= group.least;
            if (!group.even) {
                failure.uneven_until = end;
            }
        }
    }
    for (std::size_t group = 0; group < before_.size(); ++group) {
        if (jain_indices[group]) {
            before_[group].push_back(*jain_indices[group]);
            if (before_[group].size() > rows_before) {
                before_[group].pop_front();
            }
        }
    }
}

void EvenLoads::follow_routes(std::uint32_t failure, std::size_t group, core::Instant begin,
                              core::Instant end) {
    UnevenLinks& left = failures_.at(failure);
    const bool judged = std::any_of(left.groups.begin(), left.groups.end(),
                                    [&](const Group& one) { return one.index == group; });
    if (judged && begin < left.end) {
        left.uneven_until = std::max(left.uneven_until, end);
    }
}

std::optional<core::Duration> EvenLoads::even_after(std::uint32_t failure) const {
    const auto found = failures_.find(failure);
    if (found == failures_.end() || found->second.rows == 0) {
        return std::nullopt;
    }
    const UnevenLinks& known = found->second;
    const bool even =
        std::all_of(known.groups.begin(), known.groups.end(), [](const Group& group) { return group.even; });
    return even ? std::optional(known.uneven_until - known.begin) : std::nullopt;
}

}  // namespace weir::record
