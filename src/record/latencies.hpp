// The latencies of a run and what is reported of them. One Latencies block (94 kB) collects those of a rank,
// or of all ranks where they live in one process (simulation); blocks of different ranks are merged at the
// end.
//
// Chosen: recorders write into a block that they are handed. Rejected: histograms inside every recorder and
// rank summary, which for 4500 ranks would be hundreds of megabytes of nearly empty buckets.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/units.hpp"

namespace weir::record {

/// A histogram of durations with logarithmic buckets: 32 buckets for every factor of two, so a bucket is at
/// most 1/32 (3.1 %) of its value wide and a quantile is off by half of that. The bucket index is the
/// floating-point representation of the number in disguise (exponent, then five bits of mantissa), found
/// without a search.
///
/// Chosen: own code, because Debian packages no C or C++ HdrHistogram library. Rejected: keeping samples
/// (memory per event) and t-digests (adding is not O(1), and merging does not commute, so results would
/// depend on the order of the ranks). The storage is one flat trivially copyable block: histograms travel
/// through MPI as bytes.
class LogHistogram {
  public:
    static constexpr int mantissa_bits = 5;
    static constexpr std::uint64_t buckets_per_octave = std::uint64_t{1} << mantissa_bits;
    /// Durations from 2^45 ns (9.8 hours) on share the last bucket; the maximum stays exact.
    static constexpr int range_bits = 45;
    static constexpr std::size_t buckets = (static_cast<std::size_t>(range_bits - mantissa_bits) + 1)
                                           << mantissa_bits;

    /// Counts one duration. Negative ones (possible across ranks, within the clock error) go to the lowest
    /// bucket; the minimum keeps them exact.
    void add(core::Duration duration) {
        ++counts_[bucket_of(duration.ns)];
        ++count_;
        min_ns_ = std::min(min_ns_, duration.ns);
        max_ns_ = std::max(max_ns_, duration.ns);
    }

    void merge(const LogHistogram& other) {
        if (other.count_ == 0) {
            return;
        }
        for (std::size_t i = 0; i < buckets; ++i) {
            counts_[i] += other.counts_[i];
        }
        count_ += other.count_;
        min_ns_ = std::min(min_ns_, other.min_ns_);
        max_ns_ = std::max(max_ns_, other.max_ns_);
    }

    [[nodiscard]] std::uint64_t count() const { return count_; }
    /// Whether its parts belong together: it may have come from elsewhere, as bytes.
    [[nodiscard]] bool adds_up() const {
        return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}) == count_ &&
               (count_ == 0 || min_ns_ <= max_ns_);
    }
    /// Smallest and largest duration, exact. Both need count() > 0.
    [[nodiscard]] core::Duration min() const { return {min_ns_}; }
    [[nodiscard]] core::Duration max() const { return {max_ns_}; }

    /// The duration that a fraction `p` (0..1) of the counted ones does not exceed, within half a bucket;
    /// exact at p = 0 and p = 1. Needs count() > 0.
    [[nodiscard]] core::Duration quantile(double p) const {
        const double wanted = std::ceil(p * static_cast<double>(count_));
        if (wanted <= 0) {
            return min();
        }
        if (wanted >= static_cast<double>(count_)) {
            return max();
        }
        const auto rank = static_cast<std::uint64_t>(wanted);
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < buckets; ++i) {
            seen += counts_[i];
            if (seen >= rank) {
                return {std::clamp(middle_of(i), min_ns_, max_ns_)};
            }
        }
        return max();
    }

    [[nodiscard]] static constexpr std::size_t bucket_of(std::int64_t ns) {
        const auto value =
            static_cast<std::uint64_t>(std::clamp(ns, std::int64_t{0}, (std::int64_t{1} << range_bits) - 1));
        const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - 1 - mantissa_bits);
        return (static_cast<std::size_t>(shift) << mantissa_bits) + static_cast<std::size_t>(value >> shift);
    }
    /// Smallest value of a bucket, in ns.
    [[nodiscard]] static constexpr std::int64_t lower_bound_of(std::size_t bucket) {
        const std::size_t shift = bucket < 2 * buckets_per_octave ? 0 : (bucket >> mantissa_bits) - 1;
        return static_cast<std::int64_t>((bucket - (shift << mantissa_bits)) << shift);
    }
    [[nodiscard]] std::uint64_t count_in(std::size_t bucket) const { return counts_.at(bucket); }

  private:
    [[nodiscard]] static constexpr std::int64_t middle_of(std::size_t bucket) {
        return (lower_bound_of(bucket) + lower_bound_of(bucket + 1) - 1) / 2;
    }

    std::array<std::uint64_t, buckets> counts_{};
    std::uint64_t count_ = 0;
    std::int64_t min_ns_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t max_ns_ = std::numeric_limits<std::int64_t>::min();
};
static_assert(std::is_trivially_copyable_v<LogHistogram>);

/// One item for each latency.
template <typename Item>
struct OfEachLatency {
    Item offer_to_grant{};       ///< producer: an event was offered -> it was granted; 0 if the grant was
                                 ///< there before the event (policy `none`)
    Item grant_to_first_byte{};  ///< producer: both were there -> first chunk handed to the transport
    Item transfer{};             ///< producer: first chunk handed over -> last one left
    Item delivery{};             ///< consumer: generated -> whole at the consumer (across the common clock)
    Item processing{};           ///< consumer: processing time of one event
    Item building{};             ///< consumer, pattern build: oldest fragment generated -> event finished
    // Shaping; in_step only, but for pacing_error.
    Item send_gap{};      ///< producer: from one chunk handed over to the next
    Item pacing_error{};  ///< producer: a chunk could have gone -> it was handed over
    Item receive_gap{};   ///< consumer: from one chunk found to the next, of any producer

    struct Latency {
        const char* name;  ///< as in run.json
        Item OfEachLatency::* item;
        bool of_shaping = false;
    };
    static constexpr std::size_t number = 9;
    static constexpr std::array<Latency, number> all() {
        return {{{"offer_to_grant", &OfEachLatency::offer_to_grant},
                 {"grant_to_first_byte", &OfEachLatency::grant_to_first_byte},
                 {"transfer", &OfEachLatency::transfer},
                 {"delivery", &OfEachLatency::delivery},
                 {"processing", &OfEachLatency::processing},
                 {"building", &OfEachLatency::building},
                 {"send_gap", &OfEachLatency::send_gap, true},
                 {"pacing_error", &OfEachLatency::pacing_error, true},
                 {"receive_gap", &OfEachLatency::receive_gap, true}}};
    }
};

/// From second 0 on, the drain included (a late event counts however late it is); the warm-up is left out.
struct Latencies : OfEachLatency<LogHistogram> {
    void merge(const Latencies& other) {
        for (const Latency& latency : all()) {
            (this->*latency.item).merge(other.*latency.item);
        }
    }
    /// See LogHistogram::adds_up.
    [[nodiscard]] bool adds_up() const {
        constexpr auto latencies = all();
        return std::all_of(latencies.begin(), latencies.end(),
                           [this](const Latency& latency) { return (this->*latency.item).adds_up(); });
    }
};
static_assert(std::is_trivially_copyable_v<Latencies> &&
              sizeof(Latencies) == Latencies::number * sizeof(LogHistogram));

/// The buckets of a histogram that are not empty, in ascending order. Parallel lists, as run.json has them.
struct LatencyBuckets {
    std::vector<double> upper_us;  ///< what is in the bucket is shorter than this
    std::vector<std::uint64_t> events;
};

inline LatencyBuckets filled_buckets(const LogHistogram& histogram) {
    LatencyBuckets filled;
    for (std::size_t bucket = 0; bucket < LogHistogram::buckets; ++bucket) {
        if (const std::uint64_t events = histogram.count_in(bucket); events > 0) {
            // Divided, not multiplied by 1e-3 as elsewhere: 65.536 is to be written as that.
            filled.upper_us.push_back(static_cast<double>(LogHistogram::lower_bound_of(bucket + 1)) / 1000);
            filled.events.push_back(events);
        }
    }
    return filled;
}

/// One histogram as run.json and the summary show it. With count 0 there are no buckets, and the times mean
/// nothing.
struct LatencyDigest {
    std::uint64_t count = 0;
    double p50_us = 0;
    double p90_us = 0;
    double p99_us = 0;
    double p99_9_us = 0;
    double max_us = 0;
    LatencyBuckets buckets{};  ///< run.json only
};

inline LatencyDigest digest(const LogHistogram& histogram) {
    if (histogram.count() == 0) {
        return {};
    }
    return {histogram.count(),
            histogram.quantile(0.5).in_microseconds(),
            histogram.quantile(0.9).in_microseconds(),
            histogram.quantile(0.99).in_microseconds(),
            histogram.quantile(0.999).in_microseconds(),
            histogram.max().in_microseconds(),
            filled_buckets(histogram)};
}

using LatencyDigests = OfEachLatency<LatencyDigest>;

inline LatencyDigests digest(const Latencies& latencies) {
    LatencyDigests digests;
    for (std::size_t i = 0; i < Latencies::number; ++i) {
        digests.*LatencyDigests::all()[i].item = digest(latencies.*Latencies::all()[i].item);
    }
    return digests;
}

}  // namespace weir::record
