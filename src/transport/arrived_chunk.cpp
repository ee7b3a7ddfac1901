#include "transport/arrived_chunk.hpp"

#include "transport/payload.hpp"

namespace weir::transport {

ChunkArrived inspect_chunk(std::span<const std::byte> message, core::PlaceId place, Rank source,
                           const ChunkBounds& bounds, core::Verify verify) {
    const DecodedHeader header = decode_header(message, bounds, verify);
    const bool header_intact = header.state == HeaderState::intact;
    const bool payload_checked =
        header_intact && is_payload_checked(verify, header.chunk.event, header.chunk.offset);
    bool payload_intact = true;
    if (payload_checked) {
        payload_intact = payload_checksum(message.subspan(header_bytes), header.chunk.event,
                                          header.chunk.offset) == header.payload_checksum;
    }
    return {.place = place,
            .source = source,
            .header_intact = header_intact,
            .payload_intact = payload_intact,
            .payload_checked = payload_checked,
            .chunk = header.chunk};
}

}  // namespace weir::transport
