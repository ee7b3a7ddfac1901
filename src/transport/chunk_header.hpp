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

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/actions.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"
#include "transport/transport.hpp"

namespace weir::transport {

// Integers in memory, little endian whatever the host is. As a copy, which is one instruction: compilers do
// not see through loops over bytes where several of them follow one another (g++ 12: 380 instructions for a
// header). (std::byteswap is C++23.)

namespace detail {

/// From the host's order to little endian, or back.
template <std::unsigned_integral T>
constexpr T little_endian(T value) {
    if constexpr (std::endian::native == std::endian::little) {
        return value;
    } else {
        auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
        std::reverse(bytes.begin(), bytes.end());
        return std::bit_cast<T>(bytes);
    }
}

}  // namespace detail

template <std::unsigned_integral T>
void store_little_endian(std::byte* out, T value) {
    value = detail::little_endian(value);
    std::memcpy(out, &value, sizeof value);
}

template <std::unsigned_integral T>
T load_little_endian(const std::byte* in) {
    T value = 0;
    std::memcpy(&value, in, sizeof value);
    return detail::little_endian(value);
}

// What chunks carry: bytes that no link, switch or file system can compress, and that a receiver can check.
//
// Buffers are filled once with pseudo-random bytes; making new ones for every chunk would measure the
// generator. So that old data in a reused buffer never passes as new, every 4 KiB page of a chunk whose
// payload is checked is stamped with a mix of event id and offset before it leaves. The checksum of a payload
// is made of the stamps and of an XXH3 sum of the rest of each page, seeded with the same mix: a receiver
// reads the payload once, and a sender only its stamps, because the rest of a buffer never changes and its
// sums are kept. Any bit that differs is found, also one that changed in the sender's memory; of old data any
// page, but not a part of a page behind its stamp if it is from the same page of the same buffer: the bytes
// are equal. (Rejected: CRC32C, which is as fast only where the CPU has it and finds less; a checksum without
// stamps, which would take a page left over from the same buffer's previous round for good; payloads that are
// windows of one random block, compared with it: the receiver reads twice as much, and header and payload are
// no longer one piece of memory.)

/// A stamp stands at the start of every so many bytes of a chunk's payload.
inline constexpr std::size_t stamp_distance_bytes = 4096;

/// With Verify::sample payload is checked of one chunk in so many: a consumer's time for it stays below
/// 1 %, and what damages data again and again is found soon.
inline constexpr std::uint64_t sampled_one_in = 128;

/// Whether the payload of the chunk is checked. Sender and receiver agree without a word, and no place in
/// an event, slot or buffer is left out for good, since it follows from a hash of event and offset.
[[nodiscard]] bool is_payload_checked(core::Verify verify, core::EventId event, core::Bytes offset);

/// The seed of the payload of one producer, and of one of its chunk buffers.
[[nodiscard]] std::uint64_t payload_seed(const core::Plan& plan, std::uint32_t producer);
[[nodiscard]] std::uint64_t buffer_seed(std::uint64_t seed, std::size_t buffer);

/// Fills `out` with pseudo-random bytes; the same seed gives the same bytes on every host.
void fill_payload(std::span<std::byte> out, std::uint64_t seed);

/// Marks every page of the payload of one chunk, whose first byte is byte `offset` of `event`.
void stamp_payload(std::span<std::byte> payload, core::EventId event, core::Bytes offset);

/// Checksum of the payload of one chunk. Never 0, which in a header means "not computed".
[[nodiscard]] std::uint64_t payload_checksum(std::span<const std::byte> payload, core::EventId event,
                                             core::Bytes offset);

/// The sums of what does not change in a producer's chunk buffers: of whole pages without their stamps. 8
/// bytes for each page.
class BufferSums {
  public:
    BufferSums() = default;
    /// `buffers` of them, for payloads of at most `capacity_bytes`.
    BufferSums(std::size_t buffers, std::size_t capacity_bytes);

    /// Stamps the payload that lies in `buffer` and returns its payload_checksum(). Reads no page but the
    /// last, shorter one twice in the life of the buffer.
    std::uint64_t stamp(std::size_t buffer, std::span<std::byte> payload, core::EventId event,
                        core::Bytes offset);
    /// The buffer is read again: something else than its stamps was changed.
    void forget(std::size_t buffer) { known_[buffer] = 0; }

  private:
    std::size_t pages_ = 0;  ///< whole ones of a buffer
    std::vector<std::uint64_t> sums_;
    std::vector<std::uint32_t> known_;  ///< of each buffer, so many from its first page on
};

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
