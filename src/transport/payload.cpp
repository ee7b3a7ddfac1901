#include "transport/payload.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/random.hpp"
#include "transport/byte_order.hpp"

namespace weir::transport {

namespace {

constexpr std::size_t stamp_bytes = sizeof(std::uint64_t);

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

}  // namespace

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

bool stamps_match(std::span<const std::byte> payload, core::EventId event, core::Bytes offset) {
    for (std::size_t page = 0; page < payload.size(); page += stamp_distance_bytes) {
        const Stamp stamp = stamp_at(event, offset, page);
        if (std::memcmp(payload.data() + page, stamp.data(), std::min(stamp_bytes, payload.size() - page)) !=
            0) {
            return false;
        }
    }
    return true;
}

std::uint64_t payload_checksum(std::span<const std::byte> payload, core::EventId event, core::Bytes offset) {
    const std::uint64_t sum = XXH3_64bits_withSeed(payload.data(), payload.size(), mix(event, offset.count));
    return sum == 0 ? 1 : sum;
}

}  // namespace weir::transport
