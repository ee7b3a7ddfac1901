// The 64 bytes in front of every chunk on the wire. They describe the chunk completely, so a receiver needs
// no state to check one, and nothing in them is used before it is checked against what really arrived.
//
// Little endian whatever the host is; written and read field by field. (Rejected: sending a C++ struct as it
// lies in memory, whose layout belongs to the compiler, and MPI datatypes, which other transports do not
// have.)
//
//   offset  bytes  field                     offset  bytes  field
//        0      4  magic "WEIR"                  32      4  length of the payload
//        4      2  version (3)                   36      4  sequence
//        6      2  epoch of the consumer         40      8  generated_at, ns
//        8      8  event id                      48      8  payload checksum (0: not computed)
//       16      8  event bytes                   56      8  header checksum over bytes 0..55
//       24      8  begun_at, ns                              (0: not computed)
//
// Where the payload lies in the event follows from its sequence: all chunks but the last are equally large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/actions.hpp"
#include "core/memory_need.hpp"
#include "core/plan.hpp"
#include "transport/transport.hpp"

namespace weir::transport {

inline constexpr std::size_t header_bytes = core::chunk_header_bytes;
/// Where in the header the event's id is.
inline constexpr std::size_t event_id_at = 8;

/// Bounds that a chunk of this run cannot leave; the same on all ranks.
struct ChunkBounds {
    core::Bytes chunk_size;
    core::Bytes slot_size;
    std::uint32_t producers = 0;

    static ChunkBounds of(const core::Plan& plan) {
        return {plan.chunk_size, plan.slot_size, plan.producers};
    }
};

enum class HeaderState : std::uint8_t {
    intact,
    truncated,       ///< fewer bytes arrived than a header has
    wrong_magic,     ///< not a weir chunk, or damaged
    wrong_version,   ///< another version of weir at the other end
    wrong_checksum,  ///< not with Verify::none
    wrong_length,    ///< the length is not what arrived
    out_of_bounds,   ///< a field that no chunk of this run can have
};

/// What decode_header() found.
struct DecodedHeader {
    HeaderState state = HeaderState::truncated;
    core::ChunkDescription
        chunk;  ///< what the bytes contain, also when state is not intact; empty when truncated
    std::uint64_t payload_checksum = 0;
};

/// Writes the header of `chunk`. `payload_checksum` is 0 unless its payload is checked; the header checksum
/// is computed unless it is none. The chunk's length must be below 2^31.
void encode_header(std::span<std::byte, header_bytes> out, const core::ChunkDescription& chunk,
                   std::uint64_t payload_checksum, core::Verify verify);

/// Reads a header out of `received`, all bytes that arrived (header and payload), and checks every field.
/// Reads only bytes of `received`; never fails otherwise than by its result.
DecodedHeader decode_header(std::span<const std::byte> received, const ChunkBounds& bounds,
                            core::Verify verify);

/// `message` is header and payload, all bytes that have arrived by the transport's account.
[[nodiscard]] ChunkArrived inspect_chunk(std::span<const std::byte> message, core::PlaceId place, Rank source,
                                         const ChunkBounds& bounds, core::Verify verify);

}  // namespace weir::transport
