// What the devices of a PacketNetwork count: each direction of a cable by priority, with the queue before it,
// and each NIC. Counts run from the beginning; a reader takes differences.
#pragma once

#include <cstdint>

#include "packet/picoseconds.hpp"

namespace weir::packet {

/// Packets, and their bytes on the wire.
struct Carried {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
};

/// One direction of a cable, of one priority.
struct LinkCounts {
    // What changes with every packet comes first.
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;  ///< on the wire
    std::int64_t peak_queue_bytes = 0;
    /// Bytes in the queue, integrated over time in units of 2^queue_time_shift ps, less what the packets that
    /// are in it now have at the present time (PacketNetwork::queue_integral). Wraps around.
    std::uint64_t queue_integral = 0;
    std::uint64_t marked = 0;   ///< by the switch that sends on it
    std::uint64_t dropped = 0;  ///< for which there was no room in its queue
    std::uint64_t dropped_bytes = 0;
    /// PAUSE frames that came back on it and stopped the sender of the other direction.
    std::uint64_t pauses = 0;
    std::uint64_t pauses_sent = 0;  ///< PAUSE frames that went out on it
    Picoseconds paused{};           ///< for so long nothing might be sent, without a pause that lasts
};
/// Units of 1024 ps instead of nanoseconds: a shift for every packet, and not a division.
inline constexpr int queue_time_shift = 10;

/// A NIC, beside the counts of its two links.
struct HostCounts {
    // As a receiver of data.
    std::uint64_t marked = 0;           ///< data packets that came with a mark
    std::uint64_t out_of_sequence = 0;  ///< that came ahead of a missing one
    std::uint64_t duplicates = 0;       ///< that had come before
    std::uint64_t cnp_sent = 0;
    // As a sender of data.
    std::uint64_t cnp_received = 0;
    std::uint64_t nak_received = 0;
    std::uint64_t timeouts = 0;
};

}  // namespace weir::packet
