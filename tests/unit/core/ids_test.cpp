// Names of things: an event's id holds producer and sequence, nodes are told apart by role and index.
#include "core/units.hpp"

#include <set>
#include <string>

#include "catch.hpp"

using namespace weir::core;

TEST_CASE("An event id gives back its producer and sequence at the ends of both ranges") {
    constexpr std::uint64_t last_sequence = (std::uint64_t{1} << 44) - 1;
    constexpr std::uint32_t last_producer = (std::uint32_t{1} << 20) - 1;
    for (const std::uint32_t producer : {0U, 1U, 12345U, last_producer}) {
        for (const std::uint64_t sequence : {std::uint64_t{0}, std::uint64_t{1}, last_sequence}) {
            const EventId event = EventId::of({producer}, sequence);
            CHECK(event.producer() == ProducerId{producer});
            CHECK(event.sequence() == sequence);
        }
    }
    CHECK(EventId::of({1}, 0) != EventId::of({0}, 1));
    CHECK(EventId::of({0}, last_sequence) < EventId::of({1}, 0));
}

TEST_CASE("Nodes of different roles are different whatever their index") {
    CHECK(node_of(ProducerId{3}) == NodeId{Role::producer, 3});
    CHECK(node_of(ConsumerId{3}) == NodeId{Role::consumer, 3});
    const std::set<NodeId> nodes = {scheduler_node(), node_of(ProducerId{0}), node_of(ConsumerId{0}),
                                    node_of(ProducerId{0})};
    CHECK(nodes.size() == 3);
}

TEST_CASE("Roles have names") {
    CHECK(std::string(role_name(Role::scheduler)) == "scheduler");
    CHECK(std::string(role_name(Role::producer)) == "producer");
    CHECK(std::string(role_name(Role::consumer)) == "consumer");
}
