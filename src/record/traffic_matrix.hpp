// The traffic matrix of a run: who received how much from whom, whole events, warm-up and drain included.
// Only pairs that had traffic are kept, consumer by consumer as they come in; traffic.csv lists them producer
// by producer. For how long the transfers of a pair were under way the producer knows, and hands in.
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
#include "files/whole_file.hpp"

namespace weir::record {

/// One producer's part of what a consumer received. Trivially copyable and without gaps: it travels as bytes.
struct ProducerTraffic {
    std::uint32_t producer = 0;
    std::uint32_t reserved = 0;
    core::Traffic traffic;
    bool operator==(const ProducerTraffic&) const = default;
};
static_assert(std::is_trivially_copyable_v<ProducerTraffic> && sizeof(ProducerTraffic) == 24);

/// A producer's transfers to one consumer that came to their end: how many, and their times from the first
/// chunk to the last one, added up. Trivially copyable and without gaps.
struct PairTime {
    std::uint32_t consumer = 0;
    std::uint32_t transfers = 0;
    core::Duration under_way;
};
static_assert(std::is_trivially_copyable_v<PairTime> && sizeof(PairTime) == 16);

/// Adds a transfer to `times`, which are in the order of consumers.
void add_transfer(std::vector<PairTime>& times, std::uint32_t consumer, core::Duration under_way);

/// Whether these can be a producer's times: each consumer once, in ascending order.
[[nodiscard]] bool is_pair_times(std::span<const PairTime> times);

/// The entries of a consumer that received `by_producer`, in their order; those without events are left out.
std::vector<ProducerTraffic> traffic_entries(std::span<const core::Traffic> by_producer);

/// Whether these can be a consumer's entries: each producer once, in ascending order, with events and bytes.
[[nodiscard]] bool is_traffic(std::span<const ProducerTraffic> entries);

class TrafficMatrix {
  public:
    /// All that `consumer` received. The entries are is_traffic.
    void set(core::ConsumerId consumer, std::vector<ProducerTraffic> entries);
    /// Of all transfers of `producer`. The times are is_pair_times.
    void set_times(core::ProducerId producer, std::vector<PairTime> times);

    /// Empty for a consumer that was not set.
    [[nodiscard]] std::span<const ProducerTraffic> of(core::ConsumerId consumer) const;
    /// 0: not known, or nothing came to its end.
    [[nodiscard]] core::Duration under_way(core::ProducerId producer, core::ConsumerId consumer) const;
    /// One more than the highest consumer that was set.
    [[nodiscard]] std::uint32_t consumers() const { return static_cast<std::uint32_t>(entries_.size()); }

  private:
    std::vector<std::vector<ProducerTraffic>> entries_;  ///< by consumer
    std::vector<std::vector<PairTime>> times_;           ///< by producer
};

/// A line with header for every pair that had traffic, sorted by producer, then consumer; as a whole or not
/// at all.
files::MaybeIoError write_traffic_csv(const std::string& path, const TrafficMatrix& matrix);

}  // namespace weir::record
