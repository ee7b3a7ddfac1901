// How long heartbeats were on their way between a rank and the leader, from when they left to when they were
// read. They wait where the data do: before a full link there is a queue. So a producer whose link is full is
// late, and to a consumer whose link is full all come late, while the other direction is as fast as ever.
//
// Counts by powers of two of a microsecond, so that sums of rows are exact, and a rank that stood still once
// does not hide what it was like otherwise. Rejected: means, which depend on one long stall.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/units.hpp"

namespace weir::record {

class DelayCounts {
  public:
    constexpr void add(core::Duration delay) {
        const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(0, delay.ns / 1000));
        ++counts_[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(us)), buckets - 1)];
        longest_ = std::max(longest_, delay);
    }
    constexpr DelayCounts& operator+=(const DelayCounts& other) {
        for (std::size_t i = 0; i < buckets; ++i) {
            counts_[i] += other.counts_[i];
        }
        longest_ = std::max(longest_, other.longest_);
        return *this;
    }
    [[nodiscard]] constexpr bool any() const {
        return std::any_of(counts_.begin(), counts_.end(), [](std::uint32_t count) { return count > 0; });
    }
    /// What half of them took at most, and three of four, to a part of a factor of two; 0 of none.
    [[nodiscard]] constexpr core::Duration median() const { return quantile(0.5); }
    [[nodiscard]] constexpr core::Duration upper_quartile() const { return quantile(0.75); }
    [[nodiscard]] constexpr core::Duration longest() const { return longest_; }
    constexpr bool operator==(const DelayCounts&) const = default;

  private:
    [[nodiscard]] constexpr core::Duration quantile(double share) const {
        double all = 0;
        for (const std::uint32_t count : counts_) {
            all += count;
        }
        double left = share * all;
        for (std::size_t i = 0; i < buckets && all > 0; ++i) {
            if (left <= counts_[i]) {
                const double low = i == 0 ? 0 : static_cast<double>(std::uint64_t{1} << (i - 1));
                const auto high = static_cast<double>(std::uint64_t{1} << i);
                const double part = counts_[i] > 0 ? left / counts_[i] : 0;
                return {static_cast<std::int64_t>((low + (high - low) * part) * 1000)};
            }
            left -= counts_[i];
        }
        return {};
    }
    static constexpr std::size_t buckets = 24;  ///< the last one: 4 s and more
    std::array<std::uint32_t, buckets> counts_{};
    core::Duration longest_;
};

struct HeartbeatDelays {
    DelayCounts to_leader;
    DelayCounts from_leader;

    constexpr HeartbeatDelays& operator+=(const HeartbeatDelays& other) {
        to_leader += other.to_leader;
        from_leader += other.from_leader;
        return *this;
    }
    constexpr bool operator==(const HeartbeatDelays&) const = default;
};

}  // namespace weir::record
