// The header of a chunk that lies in a slot, checked at the run's level of verification. The same for
// all transports: by whichever way the bytes came, nothing in them is used before it is checked.
#pragma once

#include <cstddef>
#include <span>

#include "core/plan.hpp"
#include "transport/chunk_header.hpp"
#include "transport/transport.hpp"

namespace weir::transport {

/// `message` is header and payload, all bytes that have arrived by the transport's account.
[[nodiscard]] ChunkArrived inspect_chunk(std::span<const std::byte> message, core::PlaceId place, Rank source,
                                         const ChunkBounds& bounds, core::Verify verify);

}  // namespace weir::transport
