// What a rank counts of datagrams in a second or in a run. All zero where chunks are not datagrams.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weir::telemetry {

struct DatagramFlow {
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

    constexpr DatagramFlow& operator+=(const DatagramFlow& other) {
        sent += other.sent;
        sent_bytes += other.sent_bytes;
        sent_frames += other.sent_frames;
        wire_bytes += other.wire_bytes;
        send_retries += other.send_retries;
        received += other.received;
        duplicate += other.duplicate;
        late += other.late;
        corrupt += other.corrupt;
        strays += other.strays;
        socket_drops += other.socket_drops;
        return *this;
    }
    constexpr bool operator==(const DatagramFlow&) const = default;
    [[nodiscard]] constexpr bool any() const { return *this != DatagramFlow{}; }
};

}  // namespace weir::telemetry
