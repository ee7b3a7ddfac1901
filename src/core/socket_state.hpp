// What is known of the socket of a rank whose chunks are datagrams: a transport keeps it, recorders make
// seconds of it.
#pragma once

#include <cstdint>

namespace weir::core {

/// Counts since the warm-up, and sizes as they are now.
struct SocketState {
    std::uint64_t sent_datagrams = 0;    ///< that the kernel took
    std::uint64_t sent_bytes = 0;        ///< of them
    std::uint64_t sent_frames = 0;       ///< by core::wire_cost
    std::uint64_t wire_bytes = 0;        ///< by core::wire_cost
    std::uint64_t refused_by_queue = 0;  ///< times that a queue of this host was full, of send_retries
    std::uint64_t send_retries = 0;      ///< times that the kernel had no room for a datagram, which was kept
    std::uint64_t receive_drops = 0;     ///< datagrams that the kernel dropped because the socket was full
    std::uint64_t strays = 0;            ///< datagrams that came from no producer of this run
    std::int64_t occupancy_bytes = 0;    ///< of the receive buffer, as the kernel charges it, when looked at
    std::int64_t send_buffer_bytes = 0;  ///< what the kernel gave
    std::int64_t receive_buffer_bytes = 0;  ///< what the kernel gave
    std::int64_t mtu_bytes = 0;  ///< producer: the least of its consumers' interfaces; loopback: of Ethernet
};

}  // namespace weir::core
