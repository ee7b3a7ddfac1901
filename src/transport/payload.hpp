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
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::transport {

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

}  // namespace weir::transport
