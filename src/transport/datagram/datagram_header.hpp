// The 16 bytes in front of every datagram. Most of a chunk header (chunk_header.hpp) is left out, because a
// datagram may be 18 bytes in all: the size of an event and when it was generated are sent once per fragment
// by a control message, and a chunk's offset follows from its sequence.
//
// The length of a datagram is the chunk's, header included: what the literature on datagrams calls user data
// is the payload of UDP. A last chunk that is shorter than the least datagram is filled up: the two bytes
// behind the header are its length then, and seed the checksum, which alone shows that they are no payload.
//
//   offset  bytes  field                                  offset  bytes  field
//        0      4  checksum                                    6      2  place
//        4      2  producer                                    8      5  number of the event
//                                                             13      3  sequence of the chunk
//
// The checksum is always there, over the header and where payload is checked over the rest as well. It is
// seeded by a number that is another one in every run, so a datagram that strays in from elsewhere cannot
// pass. (Rejected: a checksum each for header and payload, and a run's number as a field: there is no room
// for them.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/actions.hpp"
#include "core/plan.hpp"

namespace weir::transport {

inline constexpr std::size_t datagram_header_bytes = 16;
/// Producers and places have 16 bits.
inline constexpr std::uint32_t datagram_index_limit = 65536;
inline constexpr std::uint64_t datagram_events_limit = std::uint64_t{1} << 40;
inline constexpr std::uint32_t datagram_chunks_limit = std::uint32_t{1} << 24;

/// What a datagram has of its chunk.
struct DatagramContent {
    core::PlaceId place;
    core::ChunkDescription chunk;  ///< without event_bytes and generated_at
    bool payload_checked = false;
};

/// Writes and reads the datagrams of one run.
class DatagramForm {
  public:
    DatagramForm() = default;
    /// `run`: the number of this run, the same on all ranks.
    DatagramForm(const core::Plan& plan, std::uint64_t run);

    /// Bytes of the datagram of a chunk of this length.
    [[nodiscard]] static std::size_t size_of(core::Bytes length);

    /// Makes `datagram`, of size_of() bytes that hold payload, the one of this chunk.
    void write(std::span<std::byte> datagram, const core::SendChunk& chunk) const;
    /// Nothing: damaged, not of this run, or out of its bounds.
    [[nodiscard]] std::optional<DatagramContent> read(std::span<const std::byte> datagram) const;

    /// A datagram that only shows that it arrives, from `producer` for `consumer`.
    void write_hello(std::span<std::byte> datagram, core::ProducerId producer,
                     core::ConsumerId consumer) const;
    /// Whose it is, if it is one for `consumer`.
    [[nodiscard]] std::optional<core::ProducerId> read_hello(std::span<const std::byte> datagram,
                                                             core::ConsumerId consumer) const;

  private:
    [[nodiscard]] std::uint64_t seed_of_filled_up(std::uint16_t length) const;
    [[nodiscard]] std::uint32_t checksum(std::uint64_t header_sum, std::span<const std::byte> payload,
                                         core::EventId event, core::Bytes offset) const;

    core::Verify verify_ = core::Verify::header;
    std::uint32_t producers_ = 0;
    std::uint32_t places_ = 0;
    std::uint32_t chunks_ = 0;
    core::Bytes chunk_size_;
    std::uint64_t run_ = 0;
};

}  // namespace weir::transport
