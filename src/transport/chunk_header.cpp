#include "transport/chunk_header.hpp"

#include <xxhash.h>

#include "core/random.hpp"
#include "transport/page_sum.hpp"

namespace weir::transport {

namespace {

constexpr std::uint32_t magic = 0x52494557;  // "WEIR" in memory
constexpr std::uint16_t version = 3;
constexpr std::size_t checksum_at = 56;
constexpr std::uint64_t checksum_seed = 0x7765697268656164ULL;

std::uint64_t header_checksum(const std::byte* header) {
    const std::uint64_t sum = XXH3_64bits_withSeed(header, checksum_at, checksum_seed);
    return sum == 0 ? 1 : sum;
}

bool in_bounds(std::uint64_t event_bytes, std::uint64_t length, const core::ChunkDescription& chunk,
               const ChunkBounds& bounds) {
    const auto offset = static_cast<std::uint64_t>(chunk.offset.count);
    const auto slot_size = static_cast<std::uint64_t>(bounds.slot_size.count);
    const auto chunk_size = static_cast<std::uint64_t>(bounds.chunk_size.count);
    const std::uint64_t chunks = slot_size / chunk_size + (slot_size % chunk_size != 0 ? 1 : 0);
    return event_bytes > 0 && event_bytes <= slot_size && length > 0 && length <= chunk_size &&
           length <= event_bytes && offset <= event_bytes - length && chunk.sequence < chunks &&
           chunk.event.producer().value < bounds.producers;
}

constexpr std::size_t stamp_bytes = sizeof(std::uint64_t);
/// One checksum covers so many.
constexpr std::size_t pages_at_a_time = 32;

/// One number for an offset in an event; events and offsets next to each other give unrelated numbers.
std::uint64_t mix(core::EventId event, std::int64_t offset) {
    return core::SplitMix64(core::SplitMix64(event.value).next() + static_cast<std::uint64_t>(offset)).next();
}

using Stamp = std::array<std::byte, stamp_bytes>;

Stamp stamp_at(core::EventId event, core::Bytes offset, std::size_t page) {
    Stamp stamp{};
    store_little_endian(stamp.data(), mix(event, offset.count + static_cast<std::int64_t>(page)));
    return stamp;
}

/// The checksum of a payload: a chain over groups of pages, of the stamp and of `sum_of(page, the rest of
/// it)`.
template <typename SumOf>
std::uint64_t sum_of_pages(std::span<const std::byte> payload, core::EventId event, core::Bytes offset,
                           SumOf sum_of) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    std::array<std::byte, pages_at_a_time * 2 * word> group;
    std::uint64_t sum = mix(event, offset.count) + payload.size();
    std::size_t filled = 0;
    for (std::size_t at = 0, page = 0; at < payload.size(); at += stamp_distance_bytes, ++page) {
        const auto bytes = payload.subspan(at, std::min(stamp_distance_bytes, payload.size() - at));
        const std::size_t stamped = std::min(stamp_bytes, bytes.size());
        if (stamped < word) {
            std::fill_n(group.data() + filled, word, std::byte{0});
        }
        std::memcpy(group.data() + filled, bytes.data(), stamped);
        store_little_endian(group.data() + filled + word, sum_of(page, bytes.subspan(stamped)));
        filled += 2 * word;
        if (filled == group.size()) {
            sum = XXH3_64bits_withSeed(group.data(), filled, sum);
            filled = 0;
        }
    }
    sum = XXH3_64bits_withSeed(group.data(), filled, sum);
    return sum == 0 ? 1 : sum;
}

}  // namespace

void encode_header(std::span<std::byte, header_bytes> out, const core::ChunkDescription& chunk,
                   std::uint64_t payload_checksum, core::Verify verify) {
    WEIR_ASSERT(chunk.length.count >= 0 && chunk.length.count <= std::numeric_limits<std::int32_t>::max());
    std::byte* const p = out.data();
    store_little_endian(p, magic);
    store_little_endian(p + 4, version);
    store_little_endian(p + 6, chunk.epoch);
    store_little_endian(p + event_id_at, chunk.event.value);
    store_little_endian(p + 16, static_cast<std::uint64_t>(chunk.event_bytes.count));
    store_little_endian(p + 24, static_cast<std::uint64_t>(chunk.begun_at.ns));
    store_little_endian(p + 32, static_cast<std::uint32_t>(chunk.length.count));
    store_little_endian(p + 36, chunk.sequence);
    store_little_endian(p + 40, static_cast<std::uint64_t>(chunk.generated_at.ns));
    store_little_endian(p + 48, payload_checksum);
    store_little_endian(p + checksum_at,
                        verify == core::Verify::none ? std::uint64_t{0} : header_checksum(p));
}

DecodedHeader decode_header(std::span<const std::byte> received, const ChunkBounds& bounds,
                            core::Verify verify) {
    DecodedHeader decoded;
    if (received.size() < header_bytes) {
        decoded.state = HeaderState::truncated;
        return decoded;
    }
    const std::byte* const p = received.data();
    const auto event_bytes = load_little_endian<std::uint64_t>(p + 16);
    const auto length = load_little_endian<std::uint32_t>(p + 32);
    decoded.chunk.epoch = load_little_endian<std::uint16_t>(p + 6);
    decoded.chunk.event = {load_little_endian<std::uint64_t>(p + event_id_at)};
    decoded.chunk.event_bytes = {static_cast<std::int64_t>(event_bytes)};
    decoded.chunk.length = {static_cast<std::int64_t>(length)};
    decoded.chunk.sequence = load_little_endian<std::uint32_t>(p + 36);
    decoded.chunk.offset = bounds.chunk_size * decoded.chunk.sequence;
    decoded.chunk.begun_at = {static_cast<std::int64_t>(load_little_endian<std::uint64_t>(p + 24))};
    decoded.chunk.generated_at = {static_cast<std::int64_t>(load_little_endian<std::uint64_t>(p + 40))};
    decoded.payload_checksum = load_little_endian<std::uint64_t>(p + 48);

    if (load_little_endian<std::uint32_t>(p) != magic) {
        decoded.state = HeaderState::wrong_magic;
    } else if (load_little_endian<std::uint16_t>(p + 4) != version) {
        decoded.state = HeaderState::wrong_version;
    } else if (verify != core::Verify::none &&
               load_little_endian<std::uint64_t>(p + checksum_at) != header_checksum(p)) {
        decoded.state = HeaderState::wrong_checksum;
    } else if (length != received.size() - header_bytes) {
        decoded.state = HeaderState::wrong_length;
    } else if (!in_bounds(event_bytes, length, decoded.chunk, bounds)) {
        decoded.state = HeaderState::out_of_bounds;
    } else {
        decoded.state = HeaderState::intact;
    }
    return decoded;
}

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

bool is_payload_checked(core::Verify verify, core::EventId event, core::Bytes offset) {
    return verify == core::Verify::full ||
           (verify == core::Verify::sample && mix(event, offset.count) % sampled_one_in == 0);
}

std::uint64_t payload_seed(const core::Plan& plan, std::uint32_t producer) {
    return core::Random(plan.seed, core::random_stream(core::RandomPurpose::payload, producer)).next();
}

std::uint64_t buffer_seed(std::uint64_t seed, std::size_t buffer) {
    return core::SplitMix64(seed + buffer).next();
}

void fill_payload(std::span<std::byte> out, std::uint64_t seed) {
    core::SplitMix64 words(seed);
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= out.size(); at += sizeof(std::uint64_t)) {
        store_little_endian(out.data() + at, words.next());
    }
    Stamp last{};
    store_little_endian(last.data(), words.next());
    std::copy_n(last.begin(), out.size() - at, out.begin() + static_cast<std::ptrdiff_t>(at));
}

void stamp_payload(std::span<std::byte> payload, core::EventId event, core::Bytes offset) {
    for (std::size_t page = 0; page < payload.size(); page += stamp_distance_bytes) {
        const Stamp stamp = stamp_at(event, offset, page);
        std::memcpy(payload.data() + page, stamp.data(), std::min(stamp_bytes, payload.size() - page));
    }
}

std::uint64_t payload_checksum(std::span<const std::byte> payload, core::EventId event, core::Bytes offset) {
    return sum_of_pages(payload, event, offset,
                        [](std::size_t, std::span<const std::byte> body) { return page_sum(body); });
}

BufferSums::BufferSums(std::size_t buffers, std::size_t capacity_bytes)
    : pages_(capacity_bytes / stamp_distance_bytes), sums_(buffers * pages_), known_(buffers, 0) {}

std::uint64_t BufferSums::stamp(std::size_t buffer, std::span<std::byte> payload, core::EventId event,
                                core::Bytes offset) {
    stamp_payload(payload, event, offset);
    std::uint64_t* const sums = sums_.data() + buffer * pages_;
    std::uint32_t& known = known_[buffer];
    return sum_of_pages(payload, event, offset, [&](std::size_t page, std::span<const std::byte> body) {
        const bool whole = body.size() == stamp_distance_bytes - stamp_bytes;
        if (whole && page < known) {
            return sums[page];
        }
        const std::uint64_t sum = page_sum(body);
        if (whole) {
            WEIR_ASSERT(page == known && page < pages_);
            sums[page] = sum;
            ++known;
        }
        return sum;
    });
}

}  // namespace weir::transport
