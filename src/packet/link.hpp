// One direction of a cable in a PacketNetwork: its transmitter with the queues before it, and what is under
// way on it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/ring_queue.hpp"
#include "packet/packet.hpp"
#include "packet/picoseconds.hpp"

namespace weir::packet {

struct Link {
    Picoseconds free_at;
    std::int64_t picoseconds_per_byte_fixed = 0;  ///< x 2^16; of the moment
    std::int64_t full_speed_fixed = 0;            ///< likewise, undisturbed
    bool down = false;                            ///< carries nothing
    Picoseconds delay;
    bool waiting = false;       ///< an event `transmitted` is pending
    std::uint8_t paused = 0;    ///< mask of priorities
    std::uint8_t nonempty = 0;  ///< likewise: queues
    std::uint8_t refreshing = 0;
    bool from_switch = false;
    bool to_switch = false;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t from_port = 0;
    std::uint32_t to_port = 0;
    std::int64_t never_marked_bytes = 0;   ///< up to so many in its queue; as in core::EcnPlan
    std::int64_t always_marked_bytes = 0;  ///< beyond so many
    core::RingQueue<Packet> on_the_way;
    std::array<std::int64_t, priority_count> queue_bytes{};
    std::array<std::int64_t, priority_count> deficits{};
    std::array<Picoseconds, priority_count> paused_from{};
    std::uint8_t turn = 0;
    std::vector<core::RingQueue<Packet>> queues;
};

}  // namespace weir::packet
