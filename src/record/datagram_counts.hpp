// What a rank counts of datagrams in a second or in a run. All zero where chunks are not datagrams.
#pragma once

#include <cstdint>
#include <functional>

#include "core/field_sums.hpp"

namespace weir::record {

struct DatagramCounts {
    // Producer: what the kernel took. Frames and bytes on the wire are computed (core/datagram_frames.hpp).
    std::uint64_t sent = 0;
    std::uint64_t sent_bytes = 0;  ///< payload of UDP
    std::uint64_t sent_frames = 0;
    std::uint64_t wire_bytes = 0;
    std::uint64_t send_retries = 0;
    // Consumer: what it took off its socket.
    std::uint64_t received = 0;  ///< first ones, whole, and in time
    std::uint64_t duplicate = 0;
    std::uint64_t late = 0;
    std::uint64_t corrupt = 0;
    std::uint64_t strays = 0;        ///< from elsewhere
    std::uint64_t socket_drops = 0;  ///< what it could not: the receive buffer was full

    DatagramCounts& operator+=(const DatagramCounts& other) {
        return core::combine_fields(*this, other, std::plus{});
    }
    constexpr bool operator==(const DatagramCounts&) const = default;
};

}  // namespace weir::record
