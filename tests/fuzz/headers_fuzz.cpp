// What stands in front of chunks and datagrams, against arbitrary bytes. A header that is taken must be one
// that can be written, and read again as the same.
#include <algorithm>
#include <array>
#include <vector>

#include "small_plan.hpp"
#include "transport/chunk_header.hpp"
#include "transport/datagram/datagram_header.hpp"

using namespace weir;

namespace {

void read_chunk_header(const core::Plan& plan, std::span<const std::byte> bytes) {
    const transport::ChunkBounds bounds = transport::ChunkBounds::of(plan);
    const auto decoded = transport::decode_header(bytes, bounds, plan.verify);
    if (decoded.state != transport::HeaderState::intact) {
        return;
    }
    const core::ChunkDescription& chunk = decoded.chunk;
    fuzz::demand(chunk.length > core::Bytes{0} && chunk.length <= plan.chunk_size &&
                     chunk.offset >= core::Bytes{0} && chunk.offset + chunk.length <= chunk.event_bytes &&
                     chunk.event_bytes <= plan.slot_size && chunk.event.producer().value < plan.producers,
                 "an intact header out of bounds");
    std::array<std::byte, transport::header_bytes> again{};
    transport::encode_header(again, chunk, decoded.payload_checksum, plan.verify);
    const std::size_t compared =
        plan.verify == core::Verify::none ? transport::header_bytes - 8 : transport::header_bytes;
    fuzz::demand(
        std::equal(again.begin(), again.begin() + static_cast<std::ptrdiff_t>(compared), bytes.begin()),
        "a header that reads as another than was written");
}

void read_datagram(const core::Plan& plan, std::uint64_t run, std::span<const std::byte> bytes) {
    const transport::DatagramForm form(plan, run);
    if (const auto content = form.read(bytes)) {
        fuzz::demand(content->place.value < plan.places() &&
                         content->chunk.event.producer().value < plan.producers &&
                         content->chunk.sequence < plan.chunks_per_fragment(),
                     "a datagram out of bounds");
        std::vector<std::byte> again(bytes.begin(), bytes.end());
        core::SendChunk chunk;
        chunk.place = content->place;
        chunk.chunk = content->chunk;
        form.write(again, chunk);
        // Writing puts the event's stamp into the payload. Of a payload with another one there is another
        // sum.
        const auto header = static_cast<std::ptrdiff_t>(transport::datagram_header_bytes);
        fuzz::demand(!std::equal(again.begin() + header, again.end(), bytes.begin() + header) ||
                         std::equal(again.begin(), again.begin() + header, bytes.begin()),
                     "a datagram that reads as another than was written");
    }
    if (const auto producer = form.read_hello(bytes, core::ConsumerId{0})) {
        fuzz::demand(producer->value < plan.producers, "a greeting from no producer");
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::FuzzInput input(data, size);
    core::Plan plan = fuzz::small_plan(input);
    plan.verify = static_cast<core::Verify>(input.below(4));
    const bool datagram = input.below(2) == 1;
    const auto run = input.take<std::uint64_t>();
    const auto bytes = input.take_rest();
    if (datagram) {
        read_datagram(plan, run, bytes);
    } else {
        read_chunk_header(plan, bytes);
    }
    return 0;
}
