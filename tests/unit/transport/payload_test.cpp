#include "transport/chunk_header.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <vector>

#include "catch.hpp"

using namespace weir;

namespace {

using Buffer = std::vector<std::byte>;

Buffer filled(std::size_t size, std::uint64_t seed) {
    Buffer buffer(size);
    transport::fill_payload(buffer, seed);
    return buffer;
}

const core::EventId event = core::EventId::of(core::ProducerId{1}, 77);

/// Whether all stamps are those of this chunk.
bool stamps_match(const Buffer& payload, core::EventId of, core::Bytes offset) {
    Buffer again = payload;
    transport::stamp_payload(again, of, offset);
    return again == payload;
}

}  // namespace

TEST_CASE("payload is fixed by its seed and prefixes agree") {
    const Buffer whole = filled(10000, 5);
    CHECK(whole == filled(10000, 5));
    CHECK(whole != filled(10000, 6));
    for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 4095U}) {
        const Buffer part = filled(size, 5);
        CHECK(std::equal(part.begin(), part.end(), whole.begin()));
    }
}

TEST_CASE("payload does not compress") {
    const Buffer buffer = filled(std::size_t{1} << 20U, 9);
    std::array<double, 256> counts{};
    for (const std::byte byte : buffer) {
        counts.at(std::to_integer<std::size_t>(byte)) += 1;
    }
    // Chi squared of 255 degrees of freedom: mean 255, standard deviation 22.6.
    const double expected = static_cast<double>(buffer.size()) / 256;
    double chi_squared = 0;
    for (const double count : counts) {
        chi_squared += (count - expected) * (count - expected) / expected;
    }
    CHECK(chi_squared > 255 - 6 * 22.6);
    CHECK(chi_squared < 255 + 6 * 22.6);

    // No word comes twice: nothing for a dictionary.
    std::set<std::array<std::byte, 8>> words;
    for (std::size_t at = 0; at < buffer.size(); at += 8) {
        std::array<std::byte, 8> word{};
        std::copy_n(buffer.begin() + static_cast<std::ptrdiff_t>(at), 8, word.begin());
        words.insert(word);
    }
    CHECK(words.size() == buffer.size() / 8);
}

TEST_CASE("stamps are found where they were put, and nowhere else") {
    const std::size_t size = GENERATE(1U, 7U, 8U, 4095U, 4096U, 4097U, 20000U, 65536U);
    Buffer buffer = filled(size, 1);
    transport::stamp_payload(buffer, event, {8192});
    CHECK(stamps_match(buffer, event, {8192}));
    for (std::size_t page = 0; page < size; page += transport::stamp_distance_bytes) {
        buffer[page] ^= std::byte{1};
        CHECK_FALSE(stamps_match(buffer, event, {8192}));
        buffer[page] ^= std::byte{1};
    }
    if (size >= 8) {  // stamps cut to a byte may agree by chance
        CHECK_FALSE(stamps_match(buffer, core::EventId{event.value + 1}, {8192}));
        CHECK_FALSE(stamps_match(buffer, event, {12288}));
    }
}

TEST_CASE("a page left over from the buffer's last use does not verify") {
    constexpr std::size_t size = 5 * transport::stamp_distance_bytes + 100;
    Buffer buffer = filled(size, 3);
    transport::stamp_payload(buffer, event, {0});
    const Buffer old = buffer;
    const core::EventId next{event.value + 1};
    transport::stamp_payload(buffer, next, {0});
    const std::uint64_t checksum = transport::payload_checksum(buffer, next, {0});
    for (std::size_t page = 0; page < size; page += transport::stamp_distance_bytes) {
        Buffer arrived = buffer;
        const std::size_t end = std::min(size, page + transport::stamp_distance_bytes);
        std::copy(old.begin() + static_cast<std::ptrdiff_t>(page),
                  old.begin() + static_cast<std::ptrdiff_t>(end),
                  arrived.begin() + static_cast<std::ptrdiff_t>(page));
        CHECK(transport::payload_checksum(arrived, next, {0}) != checksum);
    }
}

TEST_CASE("a payload checksum depends on every bit, the event and the offset") {
    Buffer buffer = filled(300, 8);
    const std::uint64_t checksum = transport::payload_checksum(buffer, event, {4096});
    CHECK(checksum != 0);
    CHECK(checksum == transport::payload_checksum(buffer, event, {4096}));
    CHECK(checksum != transport::payload_checksum(buffer, event, {0}));
    CHECK(checksum != transport::payload_checksum(buffer, core::EventId{event.value + 1}, {4096}));
    CHECK(checksum != transport::payload_checksum(std::span(buffer).first(299), event, {4096}));
    for (std::size_t bit = 0; bit < buffer.size() * 8; ++bit) {
        buffer[bit / 8] ^= std::byte{1} << (bit % 8);
        if (transport::payload_checksum(buffer, event, {4096}) == checksum) {
            FAIL("bit " << bit << " flipped and not found");
        }
        buffer[bit / 8] ^= std::byte{1} << (bit % 8);
    }
}

TEST_CASE("a sample takes one chunk in 128, and leaves out no place of an event for good") {
    using core::Verify;
    std::array<int, 8> checked{};
    constexpr int events = 64000;
    for (int number = 0; number < events; ++number) {
        const core::EventId one = core::EventId::of(core::ProducerId{3}, static_cast<std::uint64_t>(number));
        for (std::size_t place = 0; place < checked.size(); ++place) {
            const core::Bytes offset{static_cast<std::int64_t>(place) << 20U};
            checked.at(place) += transport::is_payload_checked(Verify::sample, one, offset) ? 1 : 0;
            CHECK_FALSE(transport::is_payload_checked(Verify::header, one, offset));
            CHECK(transport::is_payload_checked(Verify::full, one, offset));
        }
    }
    for (const int of_place : checked) {
        CHECK(std::abs(of_place - events / 128) < 6 * 22.3);  // the deviation of 500
    }
}
