// Packets of several ranks, numbered, in any order: each rank's come out as they were sent.
#include "transport/packet_order.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace weir::transport;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

/// "0:a 1:x ...": source and content.
std::string text_of(const Polled& found) {
    std::string text;
    for (const PacketArrived& packet : found.packets) {
        const auto content = found.content(packet);
        text += (text.empty() ? "" : " ") + std::to_string(packet.source.value) + ':' +
                std::string(reinterpret_cast<const char*>(content.data()), content.size());
    }
    return text;
}

}  // namespace

TEST_CASE("packets that come in order are passed on at once") {
    PacketOrder order(2);
    Polled found;
    order.add(Rank{0}, 0, bytes_of("a"), found);
    order.add(Rank{1}, 0, bytes_of("long one"), found);
    order.add(Rank{0}, 1, bytes_of("b"), found);
    CHECK(text_of(found) == "0:a 1:long one 0:b");
    CHECK(order.waiting() == 0);
}

TEST_CASE("a packet waits for those of its rank that were sent before it, and for no others") {
    PacketOrder order(2);
    Polled found;
    order.add(Rank{0}, 2, bytes_of("c"), found);
    order.add(Rank{0}, 1, bytes_of("b"), found);
    order.add(Rank{1}, 0, bytes_of("x"), found);
    CHECK(text_of(found) == "1:x");
    CHECK(order.waiting() == 2);
    order.add(Rank{0}, 0, bytes_of("a"), found);
    CHECK(text_of(found) == "1:x 0:a 0:b 0:c");
    CHECK(order.waiting() == 0);
}

TEST_CASE("a gap further on keeps what is behind it") {
    PacketOrder order(1);
    Polled found;
    order.add(Rank{0}, 1, bytes_of("b"), found);
    order.add(Rank{0}, 3, bytes_of("d"), found);
    order.add(Rank{0}, 0, bytes_of("a"), found);
    CHECK(text_of(found) == "0:a 0:b");
    order.add(Rank{0}, 2, bytes_of("c"), found);
    CHECK(text_of(found) == "0:a 0:b 0:c 0:d");
}

TEST_CASE("a rank that begins again counts from 0, and what waited is dropped") {
    PacketOrder order(2);
    Polled found;
    order.add(Rank{0}, 0, bytes_of("a"), found);
    order.add(Rank{0}, 5, bytes_of("f"), found);
    order.add(Rank{1}, 1, bytes_of("y"), found);
    order.reset(Rank{0});
    CHECK(order.waiting() == 1);
    order.add(Rank{0}, 0, bytes_of("new"), found);
    order.add(Rank{1}, 0, bytes_of("x"), found);
    CHECK(text_of(found) == "0:a 0:new 1:x 1:y");
}
