// The outbox: one packet per rank and turn, in order, within the transport's limit.
#include "loop/rank_loop.hpp"

#include "catch.hpp"
#include "fake_transport.hpp"

using namespace weir::core;
using namespace weir::job;
using namespace weir::loop;

namespace {

constexpr NodeId producer_0{Role::producer, 0};
constexpr NodeId consumer_0{Role::consumer, 0};

RoleMap four_ranks() {
    return RoleMap({consumer_0, scheduler_node(), producer_0, {Role::producer, 1}});
}

Grant grant(std::uint64_t number) {
    return {{}, {}, number};
}
Offer offer(std::uint64_t events) {
    return {{events, {}}};
}

std::vector<ControlMessage> messages(const test::Packet& packet) {
    std::vector<ControlMessage> found;
    REQUIRE(packet_kind(packet.bytes) == PacketKind::control);
    REQUIRE(decode_messages(packet.bytes, found));
    return found;
}

using Messages = std::vector<ControlMessage>;

}  // namespace

TEST_CASE("Messages of one turn to one rank go in one packet") {
    const RoleMap roles = four_ranks();
    test::FakeTransport transport;
    Outbox outbox(roles, transport);
    outbox.add({producer_0, grant(1)});
    outbox.add({consumer_0, ReportProgress{}});
    outbox.add({producer_0, grant(3)});
    CHECK(transport.packets.empty());
    outbox.flush();
    CHECK(outbox.packets() == 2);
    REQUIRE(transport.packets.size() == 2);
    CHECK(transport.packets[0].rank == 2);  // in the order of their first messages
    CHECK(messages(transport.packets[0]) == Messages{grant(1), grant(3)});
    CHECK(transport.packets[1].rank == 0);
    CHECK(messages(transport.packets[1]) == Messages{ReportProgress{}});

    outbox.flush();
    CHECK(transport.packets.size() == 2);
    outbox.add({producer_0, Finish{}});
    outbox.flush();
    REQUIRE(transport.packets.size() == 3);
    CHECK(messages(transport.packets[2]) == Messages{Finish{}});

    outbox.add({producer_0, Heartbeat{}});
    outbox.flush();
    CHECK(transport.packets.size() == 4);
    CHECK(outbox.packets() == 3);
}

TEST_CASE("A later offer replaces the one just before it") {
    const RoleMap roles = four_ranks();
    test::FakeTransport transport;
    Outbox outbox(roles, transport);
    outbox.add({scheduler_node(), offer(1)});
    outbox.add({scheduler_node(), offer(2)});
    outbox.add({scheduler_node(), Decline{}});
    outbox.add({scheduler_node(), offer(4)});
    outbox.add({scheduler_node(), Drained{}});
    outbox.flush();
    REQUIRE(transport.packets.size() == 1);
    CHECK(transport.packets[0].rank == 1);
    CHECK(messages(transport.packets[0]) == Messages{offer(2), Decline{}, offer(4), Drained{}});
}

TEST_CASE("Offers for different consumers do not replace each other") {
    const RoleMap roles = four_ranks();
    test::FakeTransport transport;
    Outbox outbox(roles, transport);
    outbox.add({scheduler_node(), Offer{.offered = {1, {100}}, .to = {1}}});
    outbox.add({scheduler_node(), Offer{.offered = {1, {100}}, .to = {2}}});
    outbox.add({scheduler_node(), Offer{.offered = {2, {200}}, .to = {2}}});
    outbox.flush();
    REQUIRE(transport.packets.size() == 1);
    CHECK(messages(transport.packets[0]) ==
          Messages{Offer{.offered = {1, {100}}, .to = {1}}, Offer{.offered = {2, {200}}, .to = {2}}});
}

TEST_CASE("An offer does not reach back into a packet that has gone") {
    const RoleMap roles = four_ranks();
    test::FakeTransport transport;
    Outbox outbox(roles, transport);
    outbox.add({scheduler_node(), offer(1)});
    outbox.flush();
    outbox.add({scheduler_node(), offer(2)});
    outbox.flush();
    REQUIRE(transport.packets.size() == 2);
    CHECK(messages(transport.packets[1]) == Messages{offer(2)});
}

TEST_CASE("A packet that is full goes at once and the order is kept") {
    const RoleMap roles = four_ranks();
    test::FakeTransport transport;
    transport.limit = sizeof(PacketHead) + 3 * sizeof(ControlMessage) + 47;
    Outbox outbox(roles, transport);
    for (std::uint64_t number = 0; number < 7; ++number) {
        outbox.add({producer_0, grant(number)});
        outbox.add({consumer_0, grant(number)});
    }
    CHECK(transport.packets.size() == 4);
    outbox.flush();
    REQUIRE(transport.packets.size() == 6);
    for (const int rank : {0, 2}) {
        Messages all;
        for (const test::Packet& packet : transport.packets) {
            CHECK(packet.bytes.size() <= transport.limit);
            if (packet.rank == rank) {
                const Messages some = messages(packet);
                all.insert(all.end(), some.begin(), some.end());
            }
        }
        CHECK(all == Messages{grant(0), grant(1), grant(2), grant(3), grant(4), grant(5), grant(6)});
    }
}

TEST_CASE("A packet for one message is enough") {
    const RoleMap roles = four_ranks();
    test::FakeTransport transport;
    transport.limit = sizeof(PacketHead) + sizeof(ControlMessage);
    Outbox outbox(roles, transport);
    outbox.add({scheduler_node(), offer(1)});
    outbox.add({scheduler_node(), offer(2)});
    outbox.flush();
    CHECK(transport.packets.size() == 2);
}
