// Bounds of what a run may ask for. They keep every allocation and every tag within what MPI and the core can
// hold; a value beyond one is refused with the bound in the message.
#pragma once

#include <cstdint>

#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::config {

inline constexpr std::uint64_t nodes_limit =
    (std::uint64_t{1} << 20) - 1;  ///< EventId gives producers 20 bits
inline constexpr std::uint64_t groups_limit = 1000;
inline constexpr std::uint64_t slots_limit = 1024;
inline constexpr std::uint64_t streams_limit = 1024;
inline constexpr std::uint64_t requests_limit = 1U << 20U;
inline constexpr std::uint64_t outstanding_limit = 1U << 20U;
inline constexpr std::uint64_t reasks_limit = 1000;
inline constexpr std::uint64_t window_limit = 64;  ///< core::Producer::window_limit; a bit mask there
/// Without --chunk-size a slot is cut into about so many chunks, of 1 MiB or more.
inline constexpr std::int64_t chunks_per_slot_default = 128;
inline constexpr std::int64_t chunks_per_slot_limit = 65536;
/// Receives that a consumer has posted: slots x chunks per slot.
inline constexpr std::int64_t receives_limit = std::int64_t{1} << 20;
/// Results that a consumer has under way: slots x largest result. Some 280 control packets, of which a rank
/// can have 1024.
inline constexpr core::Bytes results_limit{std::int64_t{1} << 20};
/// A datagram has 24 bits for the sequence of a chunk and 16 for the producer.
inline constexpr std::int64_t datagrams_per_slot_limit = std::int64_t{1} << 24;
inline constexpr std::uint32_t datagram_producers_limit = 65536;
inline constexpr core::Bytes chunk_limit{core::chunk_size_limit_bytes};  ///< just below 2GiB
inline constexpr core::BitRate fastest_rate{1000000000000000};           ///< 1000 Tb/s
inline constexpr core::Duration longest_interval{std::int64_t{3600} * 1000000000};
inline constexpr core::Duration longest_duration{std::int64_t{366} * 24 * 3600 * 1000000000};
/// Rows of bursts of all ranks and the whole run: config/passes.hpp.
inline constexpr core::Bytes burst_bytes_limit{std::int64_t{2} << 30};
inline constexpr std::size_t trace_limit = 1000000;                   ///< entries of a trace file
inline constexpr std::size_t transfers_limit = std::size_t{1} << 22;  ///< of addressed events, in an interval
/// Producers x consumers, if events have addresses: of which all may exchange data, or those of a file.
inline constexpr std::uint64_t pairs_limit = std::uint64_t{1} << 24;
inline constexpr std::uint64_t sparse_pairs_limit = std::uint64_t{1} << 26;
inline constexpr std::size_t phases_limit = 4096;
inline constexpr std::size_t trace_bytes_limit = std::size_t{64} << 20;

}  // namespace weir::config
