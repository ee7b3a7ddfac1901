// What chunks carry: bytes that no link, switch or file system can compress, and that a receiver can check.
//
// Buffers are filled once with pseudo-random bytes; making new ones for every chunk would measure the
// generator. So that old data in a reused buffer never passes as new, Verify::full stamps every 4 KiB page of
// a chunk with a mix of event id and offset before it leaves, and checks the whole payload by an XXH3
// checksum seeded with the same. (Rejected: CRC32C, which is as fast only where the CPU has it and finds
// less; a checksum without stamps, which would take a page left over from the same buffer's previous round
// for good.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::transport {

/// A stamp stands at the start of every so many bytes of a chunk's payload.
inline constexpr std::size_t stamp_distance_bytes = 4096;

/// The seed of the payload of one producer, and of one of its chunk buffers.
[[nodiscard]] std::uint64_t payload_seed(const core::Plan& plan, std::uint32_t producer);
[[nodiscard]] std::uint64_t buffer_seed(std::uint64_t seed, std::size_t buffer);

/// Fills `out` with pseudo-random bytes; the same seed gives the same bytes on every host.
void fill_payload(std::span<std::byte> out, std::uint64_t seed);

/// Marks every page of the payload of one chunk, whose first byte is byte `offset` of `event`.
void stamp_payload(std::span<std::byte> payload, core::EventId event, core::Bytes offset);

/// Whether all stamps are those of this chunk.
[[nodiscard]] bool stamps_match(std::span<const std::byte> payload, core::EventId event, core::Bytes offset);

/// Checksum of the payload of one chunk. Never 0, which in a header means "not computed".
[[nodiscard]] std::uint64_t payload_checksum(std::span<const std::byte> payload, core::EventId event,
                                             core::Bytes offset);

}  // namespace weir::transport
