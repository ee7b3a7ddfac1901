// What has arrived at a host and no program has: packets in the ring of the NIC, until the kernel has seen to
// them, and whole datagrams in the buffer of a socket, until the program has read them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/ring_queue.hpp"
#include "core/switch_plan.hpp"
#include "packet/message_stream.hpp"
#include "packet/packet.hpp"

namespace weir::packet {

struct HostQueueCounts {
    std::uint64_t ring_dropped = 0;    ///< packets
    std::uint64_t socket_dropped = 0;  ///< datagrams
    std::size_t peak_ring_packets = 0;
    std::int64_t peak_socket_bytes = 0;  ///< as the kernel charges them; of the time since it was read last
};

/// The same for all hosts.
struct HostTimes {
    explicit HostTimes(const core::HostPlan& plan)
        : send_time(Picoseconds::of(plan.send_time)),
          interrupt_delay(Picoseconds::of(plan.interrupt_delay)),
          receive_time(Picoseconds::of(plan.receive_time)),
          read_time(Picoseconds::of(plan.read_time)),
          byte_time{plan.receive_rate.bits_per_second == 0
                        ? 0
                        : 8'000'000'000'000 / plan.receive_rate.bits_per_second},
          has_ring(interrupt_delay + receive_time + byte_time != Picoseconds{}),
          has_socket(plan.socket_buffer.count > 0 || read_time != Picoseconds{}) {}

    Picoseconds send_time;
    Picoseconds interrupt_delay;
    Picoseconds receive_time;
    Picoseconds read_time;
    Picoseconds byte_time;
    bool has_ring;    ///< packets wait for the kernel
    bool has_socket;  ///< datagrams wait for the program, in room that is limited

    [[nodiscard]] Picoseconds of(const Packet& packet) const {
        return receive_time + byte_time * packet.wire_bytes;
    }
};

struct HostQueue {
    struct Unread {
        FlowIndex flow;
        MessageHandle datagram = 0;
        std::int64_t charged_bytes = 0;
    };
    core::RingQueue<Packet> ring;    ///< the kernel works on the first
    bool pauses = false;             ///< the switch, because the ring is nearly full
    bool storms = false;             ///< pauses the switch for no reason
    core::RingQueue<Unread> socket;  ///< the program reads the first, or has and does not go on
    std::int64_t socket_bytes = 0;
    HostQueueCounts counts;

    [[nodiscard]] bool holds_switch() const { return pauses || storms; }
    /// Whether there was room.
    bool put_into_ring(const Packet& packet, std::uint32_t room) {
        if (room > 0 && ring.size() >= room) {
            ++counts.ring_dropped;
            return false;
        }
        ring.push(packet);
        counts.peak_ring_packets = std::max(counts.peak_ring_packets, ring.size());
        return true;
    }
    /// Whether there was room.
    bool put_into_socket(const Unread& datagram, core::Bytes room) {
        if (room.count > 0 && socket_bytes + datagram.charged_bytes > room.count) {
            ++counts.socket_dropped;
            return false;
        }
        socket.push(datagram);
        socket_bytes += datagram.charged_bytes;
        counts.peak_socket_bytes = std::max(counts.peak_socket_bytes, socket_bytes);
        return true;
    }
};

}  // namespace weir::packet
