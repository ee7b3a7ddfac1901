// Results in packets: cut, put in order, checked.
#include "job/packet.hpp"

#include "catch.hpp"
#include "unit/loop/fake_transport.hpp"

using namespace weir::core;
using namespace weir::job;
using namespace weir::loop;

namespace {

constexpr EventId event = EventId::of({3}, 17);

std::vector<test::Packet> packets_of(const SendResult& result) {
    loop::test::FakeTransport transport;
    transport.limit = 3840;
    std::vector<std::byte> scratch;
    send_result(transport, {0}, result, scratch);
    return transport.packets;
}

}  // namespace

TEST_CASE("A result arrives as what was sent, whatever its size") {
    for (const std::int64_t bytes : {1, 28, 3799, 3800, 3801, 65536}) {
        CAPTURE(bytes);
        const SendResult result{{2}, event, {bytes}};
        ResultArrivals arrivals(2);
        const auto packets = packets_of(result);
        CHECK(packets.size() == static_cast<std::size_t>((bytes + 3799) / 3800));
        std::size_t payload = 0;
        for (std::size_t i = 0; i < packets.size(); ++i) {
            CHECK(packets[i].bytes.size() <= 3840);
            CHECK(packet_kind(packets[i].bytes) == PacketKind::result);
            payload += packets[i].bytes.size() - 40;
            const auto received = arrivals.receive(1, packets[i].bytes);
            CHECK(received.refusal.empty());
            REQUIRE(received.whole.has_value() == (i + 1 == packets.size()));
        }
        CHECK(payload == static_cast<std::size_t>(bytes));
        CHECK(arrivals.receive(1, packets[0].bytes).refusal.empty());  // the next one may begin
    }
}

TEST_CASE("Parts of results of several ranks may arrive in turn") {
    const auto a = packets_of({{0}, event, {5000}});
    const auto b = packets_of({{1}, EventId::of({0}, 4), {6000}});
    ResultArrivals arrivals(3);
    CHECK_FALSE(arrivals.receive(1, a[0].bytes).whole);
    CHECK_FALSE(arrivals.receive(2, b[0].bytes).whole);
    CHECK(arrivals.receive(1, a[1].bytes).whole == SendResult{{0}, event, {5000}});
    CHECK(arrivals.receive(2, b[1].bytes).whole == SendResult{{1}, EventId::of({0}, 4), {6000}});
}

TEST_CASE("What is no part in its turn is refused") {
    const auto parts = packets_of({{0}, event, {9000}});
    const auto other = packets_of({{1}, event, {9000}});
    REQUIRE(parts.size() == 3);
    ResultArrivals arrivals(1);
    CHECK_FALSE(arrivals.receive(0, std::span(parts[0].bytes).first(30)).refusal.empty());
    CHECK_FALSE(arrivals.receive(0, parts[1].bytes).refusal.empty());
    CHECK(arrivals.receive(0, parts[0].bytes).refusal.empty());
    CHECK_FALSE(arrivals.receive(0, parts[0].bytes).refusal.empty());  // twice
    CHECK_FALSE(arrivals.receive(0, parts[2].bytes).refusal.empty());  // one left out
    CHECK_FALSE(arrivals.receive(0, other[1].bytes).refusal.empty());  // of another slot
    CHECK_FALSE(arrivals.receive(0, std::span(parts[1].bytes).first(100)).refusal.empty());
    CHECK(arrivals.receive(0, parts[1].bytes).refusal.empty());
}

TEST_CASE("A damaged byte is found and named") {
    auto parts = packets_of({{0}, event, {5000}});
    parts[1].bytes.back() ^= std::byte{1};
    ResultArrivals arrivals(1);
    CHECK(arrivals.receive(0, parts[0].bytes).refusal.empty());
    const auto received = arrivals.receive(0, parts[1].bytes);
    CHECK(received.refusal ==
          "a result whose bytes do not verify: event 17 of producer 3, 1200 bytes at byte 3800");
}
