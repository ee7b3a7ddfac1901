// The sum of 16 bytes is less work than a call of the library.
#define XXH_INLINE_ALL
#include "transport/datagram/datagram_header.hpp"

#include <xxhash.h>

#include "transport/chunk_header.hpp"

namespace weir::transport {

namespace {

constexpr int producer_shift = 32;
constexpr int place_shift = 48;
constexpr int event_bits = 40;
constexpr std::uint64_t hello_seed = 0x7765697268656c6fULL;
constexpr std::uint64_t filled_up_seed = 0x77656972736d616cULL;

std::uint32_t folded(std::uint64_t sum) {
    return static_cast<std::uint32_t>(sum ^ (sum >> 32U));
}

/// A header as two numbers. It is made and checked apart from the datagram: chunk buffers come out of memory,
/// and to read back for the checksum what was just stored there would mean to wait for that memory.
struct HeaderWords {
    std::uint64_t who = 0;   ///< checksum, producer, place, from the lowest bit on
    std::uint64_t what = 0;  ///< number of the event, sequence of the chunk

    static HeaderWords of(core::ProducerId producer, core::PlaceId place, std::uint64_t what) {
        return {
            (std::uint64_t{producer.value} << producer_shift) | (std::uint64_t{place.value} << place_shift),
            what};
    }
    static HeaderWords from(const std::byte* datagram) {
        return {load_little_endian<std::uint64_t>(datagram), load_little_endian<std::uint64_t>(datagram + 8)};
    }
    void store(std::byte* datagram) const {
        store_little_endian(datagram, who);
        store_little_endian(datagram + 8, what);
    }
    [[nodiscard]] std::uint32_t checksum() const { return static_cast<std::uint32_t>(who); }
    [[nodiscard]] std::uint32_t producer() const { return static_cast<std::uint16_t>(who >> producer_shift); }
    [[nodiscard]] std::uint32_t place() const { return static_cast<std::uint16_t>(who >> place_shift); }
    /// Checksum over all but the checksum itself.
    [[nodiscard]] std::uint64_t sum(std::uint64_t seed) const {
        std::array<std::byte, datagram_header_bytes> bytes{};
        HeaderWords{who >> producer_shift << producer_shift, what}.store(bytes.data());
        return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
    }
};

}  // namespace

DatagramForm::DatagramForm(const core::Plan& plan, std::uint64_t run)
    : verify_(plan.verify),
      producers_(plan.producers),
      places_(plan.places()),
      chunks_(plan.chunks_per_fragment()),
      chunk_size_(plan.chunk_size),
      run_(run) {}

std::size_t DatagramForm::size_of(core::Bytes length) {
    return static_cast<std::size_t>(std::max(length.count, core::datagram_least_bytes));
}

std::uint32_t DatagramForm::checksum(std::uint64_t header_sum, std::span<const std::byte> payload,
                                     core::EventId event, core::Bytes offset) const {
    return folded(is_payload_checked(verify_, event, offset)
                      ? header_sum ^ payload_checksum(payload, event, offset)
                      : header_sum);
}

std::uint64_t DatagramForm::seed_of_filled_up(std::uint16_t length) const {
    return run_ ^ (filled_up_seed + length);
}

void DatagramForm::write(std::span<std::byte> datagram, const core::SendChunk& chunk) const {
    const core::EventId event = chunk.chunk.event;
    WEIR_ASSERT(datagram.size() >= datagram_header_bytes && chunk.place.value < datagram_index_limit);
    WEIR_ASSERT(event.sequence() < datagram_events_limit && chunk.chunk.sequence < datagram_chunks_limit);
    const auto payload = datagram.subspan(datagram_header_bytes);
    HeaderWords header =
        HeaderWords::of(event.producer(), chunk.place,
                        event.sequence() | (std::uint64_t{chunk.chunk.sequence} << event_bits));
    if (chunk.chunk.length.count < core::datagram_least_bytes) {
        const auto length = static_cast<std::uint16_t>(chunk.chunk.length.count);
        store_little_endian(payload.data(), length);
        header.who |= folded(header.sum(seed_of_filled_up(length)));
    } else {
        if (is_payload_checked(verify_, event, chunk.chunk.offset)) {
            stamp_payload(payload, event, chunk.chunk.offset);
        }
        header.who |= checksum(header.sum(run_), payload, event, chunk.chunk.offset);
    }
    header.store(datagram.data());
}

std::optional<DatagramContent> DatagramForm::read(std::span<const std::byte> datagram) const {
    if (datagram.size() < static_cast<std::size_t>(core::datagram_least_bytes)) {
        return std::nullopt;
    }
    const HeaderWords header = HeaderWords::from(datagram.data());
    const std::uint32_t producer = header.producer();
    const std::uint32_t place = header.place();
    const auto sequence = static_cast<std::uint32_t>(header.what >> event_bits);
    const auto event =
        core::EventId::of(core::ProducerId{producer}, header.what & (datagram_events_limit - 1));
    const core::Bytes offset = chunk_size_ * sequence;
    const bool in_bounds = producer < producers_ && place < places_ && sequence < chunks_ &&
                           datagram.size() <= size_of(chunk_size_);
    if (!in_bounds) {
        return std::nullopt;
    }
    const auto payload = datagram.subspan(datagram_header_bytes);
    core::Bytes length{static_cast<std::int64_t>(datagram.size())};
    bool payload_checked = is_payload_checked(verify_, event, offset);
    if (header.checksum() != checksum(header.sum(run_), payload, event, offset)) {
        const auto told = load_little_endian<std::uint16_t>(payload.data());
        length = {told};
        if (datagram.size() != size_of(length) || told >= core::datagram_least_bytes || told == 0 ||
            header.checksum() != folded(header.sum(seed_of_filled_up(told)))) {
            return std::nullopt;
        }
        payload_checked = false;
    }
    return DatagramContent{.place = {place},
                           .chunk = {.event = event,
                                     .event_bytes = {},
                                     .offset = offset,
                                     .length = length,
                                     .sequence = sequence,
                                     .generated_at = {}},
                           .payload_checked = payload_checked};
}

void DatagramForm::write_hello(std::span<std::byte> datagram, core::ProducerId producer,
                               core::ConsumerId consumer) const {
    WEIR_ASSERT(datagram.size() >= datagram_header_bytes && producer.value < datagram_index_limit);
    HeaderWords header = HeaderWords::of(producer, {}, consumer.value);
    header.who |= folded(header.sum(run_ ^ hello_seed));
    header.store(datagram.data());
}

std::optional<core::ProducerId> DatagramForm::read_hello(std::span<const std::byte> datagram,
                                                         core::ConsumerId consumer) const {
    if (datagram.size() < datagram_header_bytes) {
        return std::nullopt;
    }
    const HeaderWords header = HeaderWords::from(datagram.data());
    if (header.checksum() != folded(header.sum(run_ ^ hello_seed)) || header.what != consumer.value ||
        header.producer() >= producers_) {
        return std::nullopt;
    }
    return core::ProducerId{header.producer()};
}

}  // namespace weir::transport
