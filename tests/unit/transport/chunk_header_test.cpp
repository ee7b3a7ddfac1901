#include "transport/chunk_header.hpp"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace weir;
using core::Verify;
using transport::HeaderState;

namespace {

constexpr transport::ChunkBounds bounds{.chunk_size = {4096}, .slot_size = {10000}, .producers = 3};

core::ChunkDescription example_chunk() {
    return {.event = core::EventId::of(core::ProducerId{2}, 0x0123456789a),
            .event_bytes = {9000},
            .offset = {8192},
            .length = {808},
            .sequence = 2,
            .epoch = 0x0107,
            .generated_at = {-1234567890123},
            .begun_at = {-1234567880000}};
}

std::vector<std::byte> message_of(const core::ChunkDescription& chunk, std::uint64_t checksum,
                                  Verify verify) {
    std::vector<std::byte> message(transport::header_bytes + static_cast<std::size_t>(chunk.length.count));
    transport::encode_header(std::span(message).first<transport::header_bytes>(), chunk, checksum, verify);
    return message;
}

HeaderState state_of(const core::ChunkDescription& chunk, Verify verify = Verify::none) {
    return transport::decode_header(message_of(chunk, 0, verify), bounds, verify).state;
}

}  // namespace

TEST_CASE("a header has what was written, at every verify level") {
    for (const Verify verify : {Verify::none, Verify::header, Verify::sample, Verify::full}) {
        const auto message = message_of(example_chunk(), 0xfedcba9876543210, verify);
        const auto decoded = transport::decode_header(message, bounds, verify);
        CHECK(decoded.state == HeaderState::intact);
        CHECK(decoded.chunk == example_chunk());
        CHECK(decoded.payload_checksum == 0xfedcba9876543210);
    }
}

TEST_CASE("a header is little endian and has the layout of the format") {
    const auto message = message_of(example_chunk(), 0x1122334455667788, Verify::none);
    const std::array<unsigned, 64> expected{
        'W',  'E',  'I',  'R',  3,    0,    0x07, 0x01,  // magic, version, epoch
        0x9a, 0x78, 0x56, 0x34, 0x12, 0x20, 0,    0,     // event
        0x28, 0x23, 0,    0,    0,    0,    0,    0,     // event bytes
        0xc0, 0x22, 0x05, 0x8e, 0xe0, 0xfe, 0xff, 0xff,  // begun_at
        0x28, 0x03, 0,    0,    2,    0,    0,    0,     // length, sequence
        0x35, 0xfb, 0x04, 0x8e, 0xe0, 0xfe, 0xff, 0xff,  // generated_at
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,  // payload checksum
        0,    0,    0,    0,    0,    0,    0,    0,     // header checksum
    };
    for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO("byte " << i);
        CHECK(std::to_integer<unsigned>(message[i]) == expected[i]);
    }
}

TEST_CASE("every single flipped bit in a header is found by its checksum") {
    for (const Verify verify : {Verify::header, Verify::sample, Verify::full}) {
        auto message = message_of(example_chunk(), 42, verify);
        for (std::size_t bit = 0; bit < transport::header_bytes * 8; ++bit) {
            message[bit / 8] ^= std::byte{1} << (bit % 8);
            const auto decoded = transport::decode_header(message, bounds, verify);
            if (decoded.state == HeaderState::intact) {
                FAIL("bit " << bit << " flipped and not found");
            }
            message[bit / 8] ^= std::byte{1} << (bit % 8);
        }
        CHECK(transport::decode_header(message, bounds, verify).state == HeaderState::intact);
    }
}

TEST_CASE("a header is not read beyond the bytes that arrived") {
    for (const Verify verify : {Verify::none, Verify::header, Verify::sample, Verify::full}) {
        const auto message = message_of(example_chunk(), 42, verify);
        for (std::size_t size = 0; size < message.size(); ++size) {
            // A block of exactly this size, so that the address sanitizer finds a read beyond it.
            const std::vector<std::byte> cut(message.begin(),
                                             message.begin() + static_cast<std::ptrdiff_t>(size));
            const auto decoded = transport::decode_header(cut, bounds, verify);
            const auto expected =
                size < transport::header_bytes ? HeaderState::truncated : HeaderState::wrong_length;
            if (decoded.state != expected) {
                FAIL("cut to " << size << " bytes: state " << static_cast<int>(decoded.state));
            }
        }
        auto longer = message;
        longer.push_back(std::byte{0});
        CHECK(transport::decode_header(longer, bounds, verify).state == HeaderState::wrong_length);
    }
}

TEST_CASE("other bytes than a header are refused") {
    const std::vector<std::byte> zeros(1000);
    CHECK(transport::decode_header(zeros, bounds, Verify::none).state == HeaderState::wrong_magic);
    auto message = message_of(example_chunk(), 0, Verify::none);
    message[4] = std::byte{1};
    CHECK(transport::decode_header(message, bounds, Verify::none).state == HeaderState::wrong_version);
    message[4] = std::byte{2};
    CHECK(transport::decode_header(message, bounds, Verify::none).state == HeaderState::wrong_version);
}

TEST_CASE("fields that no chunk of the run can have are refused at every verify level") {
    const Verify verify = GENERATE(Verify::none, Verify::header, Verify::full);
    auto chunk = example_chunk();
    REQUIRE(state_of(chunk, verify) == HeaderState::intact);

    SECTION("a producer that does not exist") {
        chunk.event = core::EventId::of(core::ProducerId{3}, 0);
    }
    SECTION("an event larger than the slot") {
        chunk.event_bytes = {10001};
    }
    SECTION("an empty event") {
        chunk.event_bytes = {0};
    }
    SECTION("a negative event size") {
        chunk.event_bytes = {-1};
    }
    SECTION("an end beyond the event") {
        chunk.length = {809};
    }
    SECTION("an offset that lies far beyond the event") {
        chunk.sequence = std::numeric_limits<std::uint32_t>::max();
    }
    SECTION("an empty chunk") {
        chunk.length = {0};
    }
    SECTION("a chunk longer than the chunk size") {
        chunk.sequence = 0;
        chunk.length = {4097};
    }
    SECTION("a sequence that the slot has no buffer for") {
        chunk.sequence = 3;
    }
    CHECK(state_of(chunk, verify) == HeaderState::out_of_bounds);
}
