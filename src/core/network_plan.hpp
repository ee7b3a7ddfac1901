// The network that a simulation assumes: what a measured run finds under itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan.hpp"
#include "core/switch_plan.hpp"
#include "core/units.hpp"

namespace weir::core {

/// How payload is packed for the wire.
enum class Framing : std::uint8_t {
    roce,  ///< RoCE v2: packets of `mtu` bytes of payload
    tcp,   ///< TCP over IPv4 with time stamps: IP packets of `mtu` bytes
    none,  ///< the wire carries payload only, in packets of `mtu` bytes where there are packets
};

/// Hosts of one role, `first` to `last`, whose links have a speed of their own.
struct OwnLinks {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    BitRate rate;
    bool operator==(const OwnLinks&) const = default;
};

struct NetworkPlan {
    NetworkModel model = NetworkModel::fluid;
    FabricPlan fabric{};            ///< packet
    bool separate_control = false;  ///< packet: control messages and results do not share the links of data
    BitRate producer_link;          ///< wire speed of a producer's link, each direction
    BitRate consumer_link;
    std::vector<OwnLinks> own_producer_links{};  ///< of whom the above does not hold; disjoint
    std::vector<OwnLinks> own_consumer_links{};
    Framing framing = Framing::roce;
    Bytes mtu;
    std::optional<Bytes> packet_overhead{};  ///< instead of what the framing adds to a packet
    Bytes port_buffer{};                     ///< packet: what a port of a switch without shared memory holds
    Duration latency;           ///< of a message, one way, hosts and switch together; its bytes come on top
    Duration scheduler_time;    ///< that the scheduler needs for one message
    bool fluid_fabric = false;  ///< fluid: hosts, NICs, cables and routes are those of `fabric`
    Duration clock_ahead{};     ///< packet: what its clock shows at the beginning; changes nothing: for tests

    bool operator==(const NetworkPlan&) const = default;
};

/// Hosts, NICs and cables are those of `fabric`.
inline bool has_fabric(const NetworkPlan& network) {
    return network.model == NetworkModel::packet || network.fluid_fabric;
}

/// Data go by queue pairs of RoCE, so what those do decides (NicPlan). Control messages do so with any but
/// TCP.
constexpr bool has_queue_pairs(const Plan& plan, const NetworkPlan& network) {
    return network.model == NetworkModel::packet && network.framing != Framing::tcp && !plan.lossy();
}

/// The chunks of an event arrive in the order in which they were sent: they have one connection.
inline bool keeps_events_in_order(const NetworkPlan& network) {
    return network.model == NetworkModel::fluid || network.fabric.queue_pairs.of_events ||
           network.fabric.queue_pairs.of_a_pair == 1;
}

/// Wire speeds of so many hosts' links, by index.
inline std::vector<BitRate> link_rates(std::uint32_t hosts, BitRate usual, const std::vector<OwnLinks>& own) {
    std::vector<BitRate> rates(hosts, usual);
    for (const OwnLinks& some : own) {
        for (std::uint32_t host = some.first; host <= some.last && host < hosts; ++host) {
            rates[host] = some.rate;
        }
    }
    return rates;
}
inline std::vector<BitRate> producer_links(const NetworkPlan& network, std::uint32_t producers) {
    return link_rates(producers, network.producer_link, network.own_producer_links);
}
inline std::vector<BitRate> consumer_links(const NetworkPlan& network, std::uint32_t consumers) {
    return link_rates(consumers, network.consumer_link, network.own_consumer_links);
}

/// Of all ranks, by number: the scheduler, with `of_scheduler`, the producers, the consumers.
inline std::vector<BitRate> rank_links(const NetworkPlan& network, std::uint32_t producers,
                                       std::uint32_t consumers, BitRate of_scheduler) {
    std::vector<BitRate> links{of_scheduler};
    for (const auto& of_role : {producer_links(network, producers), consumer_links(network, consumers)}) {
        links.insert(links.end(), of_role.begin(), of_role.end());
    }
    return links;
}

/// Bytes of payload and of everything else in one full packet, preamble and gap between packets included.
struct PacketShape {
    std::int64_t payload = 1;
    std::int64_t overhead = 0;
};
constexpr PacketShape packet_shape(Framing framing, Bytes mtu) {
    // IEEE 802.3: preamble 8, header 14, check sequence 4, gap 12.
    constexpr std::int64_t ethernet = 38;
    switch (framing) {
        case Framing::roce:
            // IPv4 20, UDP 8, InfiniBand base transport header 12, invariant CRC 4 (IBTA, annex A17).
            return {mtu.count, ethernet + 20 + 8 + 12 + 4};
        case Framing::tcp:
            // IPv4 20 and TCP 20 + 12 (time stamps, RFC 7323) lie inside the MTU.
            return {mtu.count - 52, ethernet + 52};
        case Framing::none:
            break;
    }
    return {std::max<std::int64_t>(mtu.count, 1), 0};
}

/// The same of a simulated network, which may say otherwise how much is added to a packet.
constexpr PacketShape packet_shape(const NetworkPlan& network) {
    PacketShape shape = packet_shape(network.framing, network.mtu);
    if (network.packet_overhead) {
        shape.overhead = network.packet_overhead->count;
    }
    return shape;
}

/// What a link of this wire speed carries of payload.
constexpr BitRate payload_rate(const NetworkPlan& network, BitRate wire) {
    const PacketShape packet = packet_shape(network);
    return {static_cast<std::int64_t>(static_cast<WideInteger>(wire.bits_per_second) * packet.payload /
                                      (packet.payload + packet.overhead))};
}

// How the memory of switches is divided in one run: pure arithmetic on the plan of the network and on who is
// connected to it. config refuses what leaves nothing, the pressure of a plan (pressure.hpp) needs what is
// left, and the packet model fills it.

/// From this on nothing fills the pool: ports share no memory, and each of their queues has a size of its
/// own.
inline constexpr Bytes endless_pool{std::int64_t{1} << 50};

/// Memory that holds so many bytes, in the units in which it is given out: cells, and without them bytes.
constexpr std::int64_t memory_units(const SwitchPlan& plan, Bytes bytes) {
    return plan.cell.count == 0 ? bytes.count : (bytes.count + plan.cell.count - 1) / plan.cell.count;
}
constexpr Bytes bytes_of_units(const SwitchPlan& plan, std::int64_t units) {
    return {units * (plan.cell.count == 0 ? 1 : plan.cell.count)};
}

/// Of one slice of a switch, in units. What is not positive leaves nothing to share.
struct MemorySlice {
    std::int64_t shared = 0;  ///< by lossless ports and priorities, and by lossy queues if they have no pool
    std::int64_t headroom = 0;          ///< for all ports; without a headroom pool: what they have together
    std::int64_t shared_by_queues = 0;  ///< lossy ones, of the egress pool; 0 without one
};
/// Of a switch that has these ports.
MemorySlice memory_slice(const SwitchPlan& plan, const std::vector<BitRate>& port_rates);

/// Headroom of the switch that has most of it. Needs the layout.
Bytes largest_headroom(const NetworkPlan& network, std::uint32_t producers, std::uint32_t consumers);

/// What the switch that has least of it can share in all of its slices. Needs the layout.
struct SharedMemory {
    Bytes pool;
    Bytes of_queues;  ///< lossy ones: the same, or of the egress pool
};
SharedMemory least_shared(const NetworkPlan& network, std::uint32_t producers, std::uint32_t consumers);

}  // namespace weir::core
