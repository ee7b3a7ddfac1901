// Packets: what is sent is read, and nothing else is.
#include "job/packet.hpp"
#include "job/job.hpp"

#include <string>

#include "catch.hpp"

using namespace weir::job;
using weir::core::ControlMessage;
using weir::core::Grant;
using weir::core::Offer;

namespace {

std::vector<std::byte> packet_of(const std::vector<ControlMessage>& messages) {
    std::vector<std::byte> packet;
    encode_packet(PacketKind::control, std::span(messages), packet);
    return packet;
}

void set_count(std::vector<std::byte>& packet, std::uint32_t count) {
    std::memcpy(packet.data() + 4, &count, sizeof count);
}

}  // namespace

TEST_CASE("A packet holds what was put in") {
    const std::vector<ControlMessage> messages = {Offer{{4, {5}}}, Grant{{6}, {7}, ~0ULL}};
    auto packet = packet_of(messages);
    CHECK(packet.size() == 8 + 2 * 48);
    CHECK(packet_kind(packet) == PacketKind::control);
    std::vector<ControlMessage> read(17);
    REQUIRE(decode_packet(packet, read));
    CHECK(read == messages);

    // The memory of an earlier, longer packet is used again.
    encode_packet(PacketKind::report, std::span(messages).first(1), packet);
    CHECK(packet_kind(packet) == PacketKind::report);
    REQUIRE(decode_packet(packet, read));
    CHECK(read.size() == 1);
}

TEST_CASE("A packet may be empty") {
    const auto packet = packet_of({});
    CHECK(packet.size() == 8);
    std::vector<ControlMessage> read(3);
    REQUIRE(decode_packet(packet, read));
    CHECK(read.empty());
}

TEST_CASE("Bytes that are no packet have no kind") {
    CHECK_FALSE(packet_kind({}));
    auto packet = packet_of({{}});
    CHECK_FALSE(packet_kind(std::span(packet).first(7)));
    packet[0] = std::byte{0};
    CHECK_FALSE(packet_kind(packet));
}

TEST_CASE("A packet whose length is not that of its head is not read") {
    const std::vector<ControlMessage> messages(3);
    const auto whole = packet_of(messages);
    std::vector<ControlMessage> read;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        if (decode_packet(std::span(whole).first(size), read)) {
            FAIL_CHECK("read after " << size << " of " << whole.size() << " bytes");
        }
    }
    auto longer = whole;
    longer.push_back({});
    CHECK_FALSE(decode_packet(std::span<const std::byte>(longer), read));
    for (const std::uint32_t count : {0U, 2U, 4U, 0x80000000U, 0xffffffffU}) {
        auto hostile = whole;
        set_count(hostile, count);
        CHECK_FALSE(decode_packet(std::span<const std::byte>(hostile), read));
    }
    std::vector<Notice> notices;
    CHECK_FALSE(decode_packet(std::span<const std::byte>(whole), notices));
}

TEST_CASE("A message of no known kind is not read") {
    const auto whole = packet_of({Offer{{4, {5}}}, Grant{{6}, {7}, 8}});
    std::vector<ControlMessage> read;
    REQUIRE(decode_messages(whole, read));
    for (std::size_t byte = 8; byte < whole.size(); ++byte) {
        auto hostile = whole;
        hostile[byte] = std::byte{0xfe};
        if (decode_messages(hostile, read)) {
            CHECK(std::all_of(read.begin(), read.end(), weir::core::is_message));
        } else {
            CHECK(byte % 48 == (8 + 40) % 48);  // the byte that holds the kind
        }
    }
}

TEST_CASE("A notice carries as much of its text as fits") {
    const Notice notice = make_notice(Notice::Kind::failure, 7, -3, "the disk is full");
    CHECK(notice.kind == Notice::Kind::failure);
    CHECK(notice.rank == 7);
    CHECK(notice.detail == -3);
    CHECK(std::string(notice.text) == "the disk is full");

    const std::string long_text(2000, 'x');
    const Notice cut = make_notice(Notice::Kind::complete, 0, 0, long_text);
    CHECK(std::string(cut.text) == std::string(sizeof cut.text - 1, 'x'));
    CHECK(std::string(make_notice(Notice::Kind::complete, 0, 0, {}).text).empty());
}
