// One direction of a cable in a PacketNetwork: its transmitter, and the queues before it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "packet/counts.hpp"
#include "packet/ingress_turns.hpp"
#include "packet/items.hpp"
#include "packet/packet.hpp"
#include "packet/picoseconds.hpp"

namespace weir::packet {

/// What a packet touches lies in two cache lines: the first of the link and the first of its queue.
struct alignas(64) Link {
    Picoseconds free_at;
    std::int64_t picoseconds_per_byte_fixed = 0;  ///< x 2^16; of the moment
    Picoseconds delay;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t to_port = 0;
    ItemIndex transmitted = no_item;  ///< its event, always the same item
    bool waiting = false;             ///< that event is pending
    bool down = false;                ///< carries nothing
    bool from_switch = false;
    Item::Kind arrives = Item::Kind::arrives_at_host;  ///< a packet at its other end
    std::uint8_t paused = 0;                           ///< mask of priorities
    std::uint8_t nonempty = 0;                         ///< likewise: queues
    std::uint8_t refreshing = 0;
    std::uint8_t turn = 0;                ///< priority whose turn it is
    std::int64_t never_marked_bytes = 0;  ///< a queue up to this

    [[nodiscard]] bool to_switch() const { return arrives == Item::Kind::arrives_at_switch; }

    struct alignas(64) Queue {
        PacketQueue packets;
        std::int64_t bytes = 0;
        std::int64_t deficit = 0;
        LinkCounts counts;
        Picoseconds paused_from;
        Picoseconds contended_at;      ///< when the packet came for whose place others contend
        std::uint32_t contenders = 0;  ///< for it, so far
    };
    std::array<Queue, priority_count> queues;
    std::vector<IngressTurns>
        turns;  ///< by priority, instead of queues[].packets; empty: first in, first out

    std::int64_t always_marked_bytes = 0;
    std::int64_t full_speed_fixed = 0;  ///< as picoseconds_per_byte_fixed, undisturbed
    std::uint32_t from_port = 0;
    // Its own.
    core::Random random{0, 0};  ///< starts of flows of the host that sends on it, or marks of the switch
    core::Random places{0, 0};  ///< who gets the last one in a queue: drawn alike with marks and without
};

}  // namespace weir::packet
