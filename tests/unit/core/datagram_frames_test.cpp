// What datagrams take on Ethernet, by hand.
#include "core/datagram_frames.hpp"

#include "catch.hpp"

using weir::core::wire_cost;
using weir::core::WireCost;

TEST_CASE("a datagram in one frame takes 66 bytes more than its payload") {
    CHECK(wire_cost(1472, 1500) == WireCost{1, 1538});
    CHECK(wire_cost(18, 1500) == WireCost{1, 84});  // the least frame: 64 bytes, preamble and gap
    CHECK(wire_cost(1, 1500) == WireCost{1, 84});
    CHECK(wire_cost(8972, 9000) == WireCost{1, 9038});
}

TEST_CASE("a datagram that is cut up has the headers of Ethernet and IP in every frame, of UDP once") {
    // 1473 + 8 = 1480 + 1: the second frame is filled up to the least.
    CHECK(wire_cost(1473, 1500) == WireCost{2, 1538 + 84});
    CHECK(wire_cost(2952, 1500) == WireCost{2, 2952 + 8 + 2 * 58});
    CHECK(wire_cost(4096, 1500) == WireCost{3, 4096 + 8 + 3 * 58});
    CHECK(wire_cost(65507, 1500) == WireCost{45, 65507 + 8 + 45 * 58});
    // Parts are multiples of 8 bytes: of an MTU of 1499 only 1472 can be used.
    CHECK(wire_cost(2 * 1472 - 8, 1499) == WireCost{2, 2 * (1472 + 58)});
}
