// The latencies of a run and what is reported of them. One Latencies block (94 kB) collects those of a rank,
// or of all ranks where they live in one process (simulation); blocks of different ranks are merged at the
// end.
//
// Chosen: recorders write into a block that they are handed. Rejected: histograms inside every recorder and
// rank summary, which for 4500 ranks would be hundreds of megabytes of nearly empty buckets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "record/log_histogram.hpp"

namespace weir::record {

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
