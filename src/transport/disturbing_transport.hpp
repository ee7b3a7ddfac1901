// Disturbances on purpose, for tests: a Transport that passes everything on to another one, and damages,
// doubles or loses the chunks that were chosen. It works on the sending side, so what the receiver finds
// is what a faulty network would have given it. A run without disturbances does not have this object at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/transport.hpp"

namespace weir::transport {

/// When producer `producer` sends chunk `chunk` of its event number `event`, once.
struct ChunkDisturbance {
    DisturbanceKind kind = DisturbanceKind::lose;
    std::uint32_t producer = 0;
    std::uint64_t event = 0;  ///< the producer's sequence number of the event
    std::uint32_t chunk = 0;  ///< sequence of the chunk in the event
    bool operator==(const ChunkDisturbance&) const = default;
};

/// Parses `KIND:producer=N,event=N,chunk=N` with KIND one of corrupt-header, corrupt-payload, duplicate,
/// lose; fields in any order, those left out are 0. Throws std::invalid_argument with one line on what
/// is wrong.
ChunkDisturbance parse_disturbance(std::string_view text);

class DisturbingTransport final : public Transport {
  public:
    /// `inner` moves everything, and damages the chosen chunks; it must outlive this one.
    DisturbingTransport(Transport& inner, std::vector<ChunkDisturbance> disturbances);

    [[nodiscard]] std::size_t packet_limit() const override { return inner_.packet_limit(); }
    void send_packet(Rank to, std::span<const std::byte> packet) override { inner_.send_packet(to, packet); }
    void open_place(core::PlaceId place) override { inner_.open_place(place); }
    void send_chunk(const core::SendChunk& chunk) override;
    void poll(Polled& found) override;
    void close_places() override { inner_.close_places(); }
    void cancel(core::StreamId stream) override { inner_.cancel(stream); }
    void disconnect(Rank rank) override { inner_.disconnect(rank); }
    void reconnect(Rank rank, const PeerAddress& address) override { inner_.reconnect(rank, address); }
    [[nodiscard]] std::size_t packets_under_way() const override { return inner_.packets_under_way(); }

    [[nodiscard]] const core::SocketState* socket_state() const override { return inner_.socket_state(); }

    /// Those whose chunk has not been sent so far: a test that ends with some has not tested them.
    [[nodiscard]] const std::vector<ChunkDisturbance>& pending() const { return pending_; }

  private:
    Transport& inner_;
    std::vector<ChunkDisturbance> pending_;
    std::vector<ChunkSent> lost_;  ///< reported as sent by the next poll
};

}  // namespace weir::transport
