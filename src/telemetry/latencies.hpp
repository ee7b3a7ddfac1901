// The latencies of a run and what is reported of them. One Latencies block (94 kB) collects those of a rank,
// or of all ranks where they live in one process (simulation); blocks of different ranks are merged at the
// end.
//
// Chosen: recorders write into a block that they are handed. Rejected: histograms inside every recorder and
// rank summary, which for 4500 ranks would be hundreds of megabytes of nearly empty buckets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "telemetry/log_histogram.hpp"

namespace weir::telemetry {

/// From second 0 on, the drain included (a late event counts however late it is); the warm-up is left out.
struct Latencies {
    LogHistogram offer_to_grant;  ///< producer: an event was offered -> it was granted; 0 if the grant was
                                  ///< there before the event (policy `none`)
    LogHistogram grant_to_first_byte;  ///< producer: both were there -> first chunk handed to the transport
    LogHistogram transfer;             ///< producer: first chunk handed over -> last one left
    LogHistogram delivery;    ///< consumer: generated -> whole at the consumer (across the common clock)
    LogHistogram processing;  ///< consumer: processing time of one event
    LogHistogram building;    ///< consumer, pattern build: oldest fragment generated -> event finished
    // Shaping; in_step only, but for pacing_error.
    LogHistogram send_gap;      ///< producer: from one chunk handed over to the next
    LogHistogram pacing_error;  ///< producer: a chunk could have gone -> it was handed over
    LogHistogram receive_gap;   ///< consumer: from one chunk found to the next, of any producer

    void merge(const Latencies& other) {
        offer_to_grant.merge(other.offer_to_grant);
        grant_to_first_byte.merge(other.grant_to_first_byte);
        transfer.merge(other.transfer);
        delivery.merge(other.delivery);
        processing.merge(other.processing);
        building.merge(other.building);
        send_gap.merge(other.send_gap);
        pacing_error.merge(other.pacing_error);
        receive_gap.merge(other.receive_gap);
    }

    /// See LogHistogram::adds_up.
    [[nodiscard]] bool adds_up() const {
        return offer_to_grant.adds_up() && grant_to_first_byte.adds_up() && transfer.adds_up() &&
               delivery.adds_up() && processing.adds_up() && building.adds_up() && send_gap.adds_up() &&
               pacing_error.adds_up() && receive_gap.adds_up();
    }
};
static_assert(std::is_trivially_copyable_v<Latencies>);

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

struct LatencyDigests {
    LatencyDigest offer_to_grant;
    LatencyDigest grant_to_first_byte;
    LatencyDigest transfer;
    LatencyDigest delivery;
    LatencyDigest processing;
    LatencyDigest building;
    LatencyDigest send_gap;
    LatencyDigest pacing_error;
    LatencyDigest receive_gap;

    struct Named {
        const char* name;  ///< as in run.json
        const LatencyDigest* digest;
    };
    [[nodiscard]] std::array<Named, 9> all() const {
        return {{{"offer_to_grant", &offer_to_grant},
                 {"grant_to_first_byte", &grant_to_first_byte},
                 {"transfer", &transfer},
                 {"delivery", &delivery},
                 {"processing", &processing},
                 {"building", &building},
                 {"send_gap", &send_gap},
                 {"pacing_error", &pacing_error},
                 {"receive_gap", &receive_gap}}};
    }
};

inline LatencyDigests digest(const Latencies& latencies) {
    return {digest(latencies.offer_to_grant), digest(latencies.grant_to_first_byte),
            digest(latencies.transfer),       digest(latencies.delivery),
            digest(latencies.processing),     digest(latencies.building),
            digest(latencies.send_gap),       digest(latencies.pacing_error),
            digest(latencies.receive_gap)};
}

}  // namespace weir::telemetry
