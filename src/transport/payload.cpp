#include "transport/payload.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/assertion.hpp"
#include "core/random.hpp"
#include "transport/byte_order.hpp"
#include "transport/page_sum.hpp"

namespace weir::transport {

namespace {

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
