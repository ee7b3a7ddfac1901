// The outbox: one packet per rank and turn, in order, within the transport's limit.
#include "runtime/outbox.hpp"

#include "catch.hpp"
#include "unit/runtime/fake_transport.hpp"

using namespace weir::core;
using namespace weir::runtime;

namespace {

constexpr NodeId producer_0{Role::producer, 0};
constexpr NodeId consumer_0{Role::consumer, 0};

RoleMap four_ranks() {
    return RoleMap({consumer_0, scheduler_node(), producer_0, {Role::producer, 1}});
}

SendMessage message(NodeId to, MessageKind kind, std::uint64_t events) {
    return {to, {.kind = kind, .events = events}};
}

std::vector<std::uint64_t> numbers(const test::Packet& packet) {
    std::vector<ControlMessage> messages;
    REQUIRE(packet_kind(packet.bytes) == PacketKind::control);
    REQUIRE(decode_packet(packet.bytes, messages));
    std::vector<std::uint64_t> found;
    for (const ControlMessage& each : messages) {
        found.push_back(each.events);
    }
    return found;
}

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("Messages of one turn to one rank go in one packet") {
    const RoleMap roles = four_ranks();
    test::FakeTransport transport;
    Outbox outbox(roles, transport);
    outbox.add(message(producer_0, MessageKind::grant, 1));
    outbox.add(message(consumer_0, MessageKind::settle, 2));
    outbox.add(message(producer_0, MessageKind::grant, 3));
    CHECK(transport.packets.empty());
    outbox.flush();
    CHECK(outbox.packets() == 2);
    REQUIRE(transport.packets.size() == 2);
    CHECK(transport.packets[0].rank == 2);  // in the order of their first messages
    CHECK(numbers(transport.packets[0]) == Numbers{1, 3});
    CHECK(transport.packets[1].rank == 0);
    CHECK(numbers(transport.packets[1]) == Numbers{2});

    outbox.flush();
    CHECK(transport.packets.size() == 2);
    outbox.add(message(producer_0, MessageKind::finish, 4));
    outbox.flush();
    REQUIRE(transport.packets.size() == 3);
    CHECK(numbers(transport.packets[2]) == Numbers{4});

    outbox.add(message(producer_0, MessageKind::heartbeat, 0));
    outbox.flush();
    CHECK(transport.packets.size() == 4);
    CHECK(outbox.packets() == 3);
}

TEST_CASE("A later offer takes the place of the one just before it") {
    const RoleMap roles = four_ranks();
    test::FakeTransport transport;
    Outbox outbox(roles, transport);
    outbox.add(message(scheduler_node(), MessageKind::offer, 1));
    outbox.add(message(scheduler_node(), MessageKind::offer, 2));
    outbox.add(message(scheduler_node(), MessageKind::decline, 3));
    outbox.add(message(scheduler_node(), MessageKind::offer, 4));
    outbox.add(message(scheduler_node(), MessageKind::drained, 5));
    outbox.flush();
    REQUIRE(transport.packets.size() == 1);
    CHECK(transport.packets[0].rank == 1);
    CHECK(numbers(transport.packets[0]) == Numbers{2, 3, 4, 5});
}

TEST_CASE("An offer does not reach back into a packet that has gone") {
    const RoleMap roles = four_ranks();
    test::FakeTransport transport;
    Outbox outbox(roles, transport);
    outbox.add(message(scheduler_node(), MessageKind::offer, 1));
    outbox.flush();
    outbox.add(message(scheduler_node(), MessageKind::offer, 2));
    outbox.flush();
    REQUIRE(transport.packets.size() == 2);
    CHECK(numbers(transport.packets[1]) == Numbers{2});
}

TEST_CASE("A packet that is full goes at once and the order is kept") {
    const RoleMap roles = four_ranks();
    test::FakeTransport transport;
    transport.limit = sizeof(PacketHead) + 3 * sizeof(ControlMessage) + 47;
    Outbox outbox(roles, transport);
    for (std::uint64_t number = 0; number < 7; ++number) {
        outbox.add(message(producer_0, MessageKind::grant, number));
        outbox.add(message(consumer_0, MessageKind::heartbeat, number));
    }
    CHECK(transport.packets.size() == 4);
    outbox.flush();
    REQUIRE(transport.packets.size() == 6);
    for (const int rank : {0, 2}) {
        Numbers all;
        for (const test::Packet& packet : transport.packets) {
            CHECK(packet.bytes.size() <= transport.limit);
            if (packet.rank == rank) {
                const Numbers some = numbers(packet);
                all.insert(all.end(), some.begin(), some.end());
            }
        }
        CHECK(all == Numbers{0, 1, 2, 3, 4, 5, 6});
    }
}

TEST_CASE("A packet for one message is enough") {
    const RoleMap roles = four_ranks();
    test::FakeTransport transport;
    transport.limit = sizeof(PacketHead) + sizeof(ControlMessage);
    Outbox outbox(roles, transport);
    outbox.add(message(scheduler_node(), MessageKind::offer, 1));
    outbox.add(message(scheduler_node(), MessageKind::offer, 2));
    outbox.flush();
    CHECK(transport.packets.size() == 2);
}
