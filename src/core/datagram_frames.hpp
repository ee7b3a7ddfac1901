// What a UDP datagram over IPv4 takes on an Ethernet link. Pure arithmetic.
//
// Per frame 38 bytes of Ethernet (preamble 8, header 14, checksum 4, gap 12) and 20 of IP, per datagram 8 of
// UDP, as in LHCb 2004-030. What that leaves out: all parts but the last of a datagram that is cut up carry a
// multiple of 8 bytes, and Ethernet fills an IP packet up to 46 bytes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weir::core {

struct WireCost {
    std::int64_t frames = 0;
    std::int64_t bytes = 0;  ///< payload included
    constexpr bool operator==(const WireCost&) const = default;
};

/// Every fragment but the last, with all headers: parts carry a multiple of 8 bytes.
constexpr std::int64_t full_fragment_bytes(std::int64_t mtu_bytes) {
    return 38 + 20 + (mtu_bytes - 20) / 8 * 8;
}

/// What a datagram with so many bytes of payload takes on links with this MTU (68 bytes or more, as IPv4
/// demands).
constexpr WireCost wire_cost(std::int64_t payload_bytes, std::int64_t mtu_bytes) {
    constexpr std::int64_t ethernet = 38;
    constexpr std::int64_t ip = 20;
    constexpr std::int64_t udp = 8;
    constexpr std::int64_t least_packet = 46;
    const std::int64_t carried = udp + payload_bytes;
    const std::int64_t whole = mtu_bytes - ip;
    if (carried <= whole) {
        return {1, ethernet + std::max(least_packet, ip + carried)};
    }
    const std::int64_t part = whole / 8 * 8;
    const std::int64_t frames = (carried + part - 1) / part;
    const std::int64_t last = carried - (frames - 1) * part;
    return {frames, frames * ethernet + (frames - 1) * (ip + part) + std::max(least_packet, ip + last)};
}

}  // namespace weir::core
