#include "transport/datagram_header.hpp"

#include <xxhash.h>

#include <algorithm>

#include "core/assertion.hpp"
#include "transport/byte_order.hpp"
#include "transport/payload.hpp"

namespace weir::transport {

namespace {

constexpr std::size_t producer_at = 4;
constexpr std::size_t place_at = 6;
constexpr std::size_t event_at = 8;
constexpr int event_bits = 40;
constexpr std::uint64_t hello_seed = 0x7765697268656c6fULL;

std::uint32_t folded(std::uint64_t sum) {
    return static_cast<std::uint32_t>(sum ^ (sum >> 32U));
}

/// Of all of the header but the checksum itself.
std::uint64_t header_sum(const std::byte* datagram, std::uint64_t seed) {
    return XXH3_64bits_withSeed(datagram + producer_at, datagram_header_bytes - producer_at, seed);
}

}  // namespace

DatagramForm::DatagramForm(const core::Plan& plan, std::uint64_t run)
    : verify_(plan.verify),
      producers_(plan.producers),
      places_(plan.places()),
      chunks_(plan.chunks_per_slot()),
      chunk_size_(plan.chunk_size),
      run_(run) {}

std::size_t DatagramForm::size_of(core::Bytes length) {
    return static_cast<std::size_t>(std::max(length.count, core::datagram_least_bytes));
}

std::uint32_t DatagramForm::checksum(std::span<const std::byte> datagram, core::EventId event,
                                     core::Bytes offset) const {
    std::uint64_t sum = header_sum(datagram.data(), run_);
    if (verify_ == core::Verify::full) {
        sum ^= payload_checksum(datagram.subspan(datagram_header_bytes), event, offset);
    }
    return folded(sum);
}

void DatagramForm::write(std::span<std::byte> datagram, const core::SendChunk& chunk) const {
    const core::EventId event = chunk.chunk.event;
    WEIR_ASSERT(datagram.size() >= datagram_header_bytes && chunk.slot.value < datagram_index_limit);
    WEIR_ASSERT(event.sequence() < datagram_events_limit && chunk.chunk.sequence < datagram_chunks_limit);
    std::byte* const p = datagram.data();
    store_little_endian(p + producer_at, static_cast<std::uint16_t>(event.producer().value));
    store_little_endian(p + place_at, static_cast<std::uint16_t>(chunk.slot.value));
    store_little_endian(p + event_at, event.sequence() | (std::uint64_t{chunk.chunk.sequence} << event_bits));
    if (verify_ == core::Verify::full) {
        stamp_payload(datagram.subspan(datagram_header_bytes), event, chunk.chunk.offset);
    }
    store_little_endian(p, checksum(datagram, event, chunk.chunk.offset));
}

std::optional<DatagramContent> DatagramForm::read(std::span<const std::byte> datagram) const {
    if (datagram.size() < static_cast<std::size_t>(core::datagram_least_bytes)) {
        return std::nullopt;
    }
    const std::byte* const p = datagram.data();
    const std::uint32_t producer = load_little_endian<std::uint16_t>(p + producer_at);
    const std::uint32_t place = load_little_endian<std::uint16_t>(p + place_at);
    const auto word = load_little_endian<std::uint64_t>(p + event_at);
    const auto sequence = static_cast<std::uint32_t>(word >> event_bits);
    DatagramContent content{
        .place = {place},
        .chunk = {.event = core::EventId::of(core::ProducerId{producer}, word & (datagram_events_limit - 1)),
                  .event_bytes = {},
                  .offset = chunk_size_ * sequence,
                  .length = {static_cast<std::int64_t>(datagram.size())},
                  .sequence = sequence,
                  .generated_at = {}}};
    const bool in_bounds = producer < producers_ && place < places_ && sequence < chunks_ &&
                           datagram.size() <= size_of(chunk_size_);
    if (load_little_endian<std::uint32_t>(p) !=
            checksum(datagram, content.chunk.event, content.chunk.offset) ||
        !in_bounds) {
        return std::nullopt;
    }
    return content;
}

void DatagramForm::write_hello(std::span<std::byte> datagram, core::ProducerId producer,
                               core::ConsumerId consumer) const {
    WEIR_ASSERT(datagram.size() >= datagram_header_bytes && producer.value < datagram_index_limit);
    std::byte* const p = datagram.data();
    store_little_endian(p + producer_at, static_cast<std::uint16_t>(producer.value));
    store_little_endian(p + place_at, std::uint16_t{0});
    store_little_endian(p + event_at, std::uint64_t{consumer.value});
    store_little_endian(p, folded(header_sum(p, run_ ^ hello_seed)));
}

std::optional<core::ProducerId> DatagramForm::read_hello(std::span<const std::byte> datagram,
                                                         core::ConsumerId consumer) const {
    if (datagram.size() < datagram_header_bytes) {
        return std::nullopt;
    }
    const std::byte* const p = datagram.data();
    const std::uint32_t producer = load_little_endian<std::uint16_t>(p + producer_at);
    if (load_little_endian<std::uint32_t>(p) != folded(header_sum(p, run_ ^ hello_seed)) ||
        load_little_endian<std::uint64_t>(p + event_at) != consumer.value || producer >= producers_) {
        return std::nullopt;
    }
    return core::ProducerId{producer};
}

}  // namespace weir::transport
