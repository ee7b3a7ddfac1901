// A packet on a link or in a queue. Its payload exists only as a number of bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/switch_plan.hpp"
#include "core/units.hpp"

namespace weir::packet {

// Virtual time of the packet model. A packet of 64 bytes takes 5.12 ns on a link of 100 Gb/s: nanoseconds
// would round the rate of every link, picoseconds do not. 64 bits of them last for 106 days.

/// A point in time since the start of the simulation, or a length of time.
struct Picoseconds {
    std::int64_t count = 0;

    [[gnu::always_inline]] constexpr auto operator<=>(const Picoseconds&) const = default;
    constexpr Picoseconds operator+(Picoseconds other) const { return {count + other.count}; }
    constexpr Picoseconds operator-(Picoseconds other) const { return {count - other.count}; }
    constexpr Picoseconds operator*(std::int64_t factor) const { return {count * factor}; }
    constexpr Picoseconds& operator+=(Picoseconds other) {
        count += other.count;
        return *this;
    }
    /// How many whole `other` fit.
    constexpr std::int64_t operator/(Picoseconds other) const { return count / other.count; }

    static constexpr Picoseconds of(core::Duration time) { return {time.ns * 1000}; }
    static constexpr Picoseconds of(core::Instant time) { return {time.ns * 1000}; }
    static constexpr Picoseconds microseconds(double value) {
        return {static_cast<std::int64_t>(value * 1e6)};
    }
    static constexpr Picoseconds nanoseconds(std::int64_t value) { return {value * 1000}; }
    static constexpr Picoseconds never() { return {std::numeric_limits<std::int64_t>::max()}; }
    /// The next nanosecond: nothing is reported before it has happened.
    [[nodiscard]] constexpr core::Instant instant() const {
        return *this == never() ? core::Instant::never() : core::Instant{(count + 999) / 1000};
    }
    [[nodiscard]] constexpr double seconds() const { return static_cast<double>(count) * 1e-12; }
};

/// Hosts and switches, as the topology numbers them.
struct NodeIndex {
    std::uint32_t value = 0;
    constexpr auto operator<=>(const NodeIndex&) const = default;
};

/// A sender and its receiver: a queue pair, a TCP connection, a stream of datagrams.
struct FlowIndex {
    std::uint32_t value = 0;
    constexpr auto operator<=>(const FlowIndex&) const = default;
};

using core::Priority;
using core::priority_count;
/// A core::PriorityMask. Not of a type of bytes: after a store of one nothing else that was read would hold.
using PrioritySet = std::uint16_t;
inline constexpr PrioritySet every_priority = 0xff;

struct Packet {
    enum class Kind : std::uint8_t {
        data,
        ack,     ///< `sequence`: the next packet that the receiver expects
        nak,     ///< `sequence` as in an ack; a packet further ahead has come (`detail`: which)
        cnp,     ///< congestion notification packet (RoCE v2, annex A17)
        ask,     ///< of a sender: `detail` as with data
        credit,  ///< of a receiver: may send up to `detail` bytes
    };
    FlowIndex flow{};
    NodeIndex to{};
    std::uint32_t sequence = 0;      ///< data: 0, 1, 2, ... in the flow
    std::uint32_t detail = 0;        ///< data: what its sender wants to send in all (credits.hpp), else 0
    std::uint16_t wire_bytes = 0;    ///< with headers, preamble and gap
    std::uint16_t ingress_port = 0;  ///< of the switch that it is in
    Kind kind = Kind::data;
    Priority priority = 0;
    bool ecn_capable = false;
    bool marked = false;    ///< congestion experienced
    bool datagram = false;  ///< a frame of a UdpSocket; `sequence` is the datagram's
    bool last = false;      ///< frame of its datagram; of a queue pair: its sender stops, and asks for an ack
    bool copy : 1 = false;  ///< of a flooded frame: for whoever is there, who discards it
    bool again : 1 = false;  ///< a queue pair has sent it before; ack: of such a packet
    std::uint8_t burst = 0;  ///< what `detail` counts from (credits.hpp)
};
static_assert(sizeof(Packet) <= 28 && std::is_trivially_copyable_v<Packet>);

}  // namespace weir::packet
