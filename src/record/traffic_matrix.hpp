// The traffic matrix of a run: who received how much from whom, whole events, warm-up and drain included.
// Only pairs that had traffic are kept, consumer by consumer as they come in; traffic.csv lists them producer
// by producer.
//
// Chosen: consumers count, and hand in their part with their account at the end. Rejected: counting on the
// scheduler, which gets no offers with policy `none`, and whose memory is to stay that of its ranks, not of
// their pairs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/ids.hpp"
#include "core/ledger.hpp"
#include "files/io_error.hpp"

namespace weir::record {

/// One producer's part of what a consumer received. Trivially copyable and without gaps: it travels as bytes.
struct ProducerTraffic {
    std::uint32_t producer = 0;
    std::uint32_t reserved = 0;
    core::Traffic traffic;
    bool operator==(const ProducerTraffic&) const = default;
};
static_assert(std::is_trivially_copyable_v<ProducerTraffic> && sizeof(ProducerTraffic) == 24);

/// The entries of a consumer that received `by_producer`, in their order; those without events are left out.
std::vector<ProducerTraffic> traffic_entries(std::span<const core::Traffic> by_producer);

/// Whether these can be a consumer's entries: each producer once, in ascending order, with events and bytes.
[[nodiscard]] bool is_traffic(std::span<const ProducerTraffic> entries);

class TrafficMatrix {
  public:
    /// All that `consumer` received. The entries are is_traffic.
    void set(core::ConsumerId consumer, std::vector<ProducerTraffic> entries);

    /// Empty for a consumer that was not set.
    [[nodiscard]] std::span<const ProducerTraffic> of(core::ConsumerId consumer) const;
    /// One more than the highest consumer that was set.
    [[nodiscard]] std::uint32_t consumers() const { return static_cast<std::uint32_t>(entries_.size()); }

  private:
    std::vector<std::vector<ProducerTraffic>> entries_;  ///< by consumer
};

/// A line with header for every pair that had traffic, sorted by producer, then consumer; as a whole or not
/// at all.
files::MaybeIoError write_traffic_csv(const std::string& path, const TrafficMatrix& matrix);

}  // namespace weir::record
