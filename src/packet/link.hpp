// One direction of a cable in a PacketNetwork: its transmitter, and the queues before it. And what devices
// count: each direction by priority, with the queue before it, and each NIC. Counts run from the beginning; a
// reader takes differences.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "core/ring_queue.hpp"
#include "packet/event_wheel.hpp"
#include "packet/packet.hpp"

namespace weir::packet {

/// Packets, and their bytes on the wire.
struct Carried {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;

    Carried& operator+=(const Carried& more) {
        packets += more.packets;
        bytes += more.bytes;
        return *this;
    }
    void add(const Packet& packet) { *this += {1, packet.wire_bytes}; }
};

/// The same by priority.
struct CarriedByPriority {
    std::array<Carried, priority_count> of{};

    void add(const Packet& packet) { of[packet.priority].add(packet); }
    [[nodiscard]] Carried sum() const {
        Carried all;
        for (const Carried& one : of) {
            all += one;
        }
        return all;
    }
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
    std::uint64_t out_of_sequence = 0;  ///< that came ahead of a missing one, which was taken for lost
    std::uint64_t reordered = 0;        ///< that did so and were kept until that one came (NicPlan::reorder)
    std::uint64_t duplicates = 0;       ///< that had come before
    std::uint64_t cnp_sent = 0;
    std::uint64_t credits_sent = 0;
    std::uint64_t asked = 0;  ///< requests for credits that came
    // As a sender of data.
    std::uint64_t cnp_received = 0;
    std::uint64_t nak_received = 0;
};

/// Packets of one priority before a port of a switch that serves its ingress ports in turn: a queue for each,
/// and a row of those that have something. One packet of each is sent, then that port goes to the end of the
/// row, so ports that always have a packet have equally many sent, whoever of them has more.
///
/// Rejected: equal bytes instead of packets (deficit round robin), since a crossbar's arbiter grants packets.
class IngressTurns {
  public:
    explicit IngressTurns(std::size_t ports) : queues_(ports) {}

    [[nodiscard]] bool empty() const { return row_.empty(); }
    [[nodiscard]] bool has(std::uint32_t port) const { return !queues_[port].empty(); }
    void push(Item* added) {
        const std::uint16_t port = added->packet.ingress_port;
        if (queues_[port].empty()) {
            row_.push(port);
        }
        queues_[port].push(added);
    }
    /// Not if it is empty.
    Item* pop() {
        const std::uint16_t port = row_.pop();
        Item* const popped = queues_[port].pop();
        if (!queues_[port].empty()) {
            row_.push(port);
        }
        return popped;
    }

  private:
    std::vector<PacketQueue> queues_;     ///< by ingress port
    core::RingQueue<std::uint16_t> row_;  ///< of ports
};

/// What a packet touches lies in two cache lines: the first of the link and the first of its queue.
struct alignas(64) Link {
    Picoseconds free_at;
    std::int64_t picoseconds_per_byte_fixed = 0;  ///< x 2^16; of the moment
    Picoseconds delay;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t index = 0;  ///< its own
    std::uint16_t from_port = 0;
    std::uint16_t to_port = 0;
    Item* transmitted = nullptr;  ///< its event, always the same item
    bool waiting = false;         ///< that event is pending
    bool down = false;            ///< carries nothing
    bool from_switch = false;
    bool leads_to_switch = false;
    bool takes_turns = false;                          ///< packets wait in `turns`
    Item::Kind arrives = Item::Kind::arrives_at_host;  ///< a packet at its other end
    PrioritySet paused = 0;
    PrioritySet nonempty = 0;  ///< queues
    PrioritySet refusing = 0;  ///< what comes for their queues is lost
    PrioritySet dropping = 0;  ///< their queues lose what may not be marked

    struct alignas(64) Queue {
        PacketQueue packets;
        std::int64_t bytes = 0;
        std::int64_t deficit = 0;
        std::int64_t never_marked_bytes = 0;  ///< up to this
        LinkCounts counts;
        std::int64_t always_marked_bytes = 0;  ///< beyond this
        Picoseconds paused_from;
        Picoseconds contended_at;      ///< when the packet came for whose place others contend
        std::uint32_t contenders = 0;  ///< for it, so far
    };
    std::array<Queue, priority_count> queues;
    std::vector<IngressTurns> turns;  ///< by priority, instead of queues[].packets

    PrioritySet refreshing = 0;
    PrioritySet ignoring = 0;           ///< PAUSE frames do not stop them
    std::uint8_t turn = 0;              ///< priority whose turn it is
    std::int64_t full_speed_fixed = 0;  ///< as picoseconds_per_byte_fixed, undisturbed
    double error_share = 0;             ///< of packets that are lost on it
    // Its own.
    core::Random random{0, 0};  ///< starts of flows of the host that sends on it, or marks of the switch
    core::Random places{0, 0};  ///< who gets the last one in a queue: drawn alike with marks and without
    core::Random errors{0, 0};
};

}  // namespace weir::packet
