// Ranks and parts: both ways round, in any order, and only if the map is whole.
#include "core/role_map.hpp"

#include <stdexcept>

#include "catch.hpp"

namespace core_role_map_test_file {

using namespace weir::core;

namespace {

struct Broken {};

bool is_refused(const std::vector<NodeId>& nodes) {
    set_assertion_handler([](const char*, const char*, int) { throw Broken{}; });
    bool refused = false;
    try {
        const RoleMap map(nodes);
    } catch (const Broken&) {
        refused = true;
    }
    set_assertion_handler(nullptr);
    return refused;
}

constexpr NodeId producer(std::uint32_t index) {
    return {Role::producer, index};
}
constexpr NodeId consumer(std::uint32_t index) {
    return {Role::consumer, index};
}

}  // namespace

TEST_CASE("A role map answers both ways in whatever order the parts lie") {
    const std::vector<NodeId> nodes = {consumer(1), producer(0), scheduler_node(),
                                       consumer(0), producer(1), consumer(2)};
    const RoleMap map(nodes);
    CHECK(map.ranks() == 6);
    CHECK(map.producers() == 2);
    CHECK(map.consumers() == 3);
    CHECK(map.scheduler_rank() == 2);
    for (int rank = 0; rank < map.ranks(); ++rank) {
        CHECK(map.node(rank) == nodes[static_cast<std::size_t>(rank)]);
        CHECK(map.rank(map.node(rank)) == rank);
    }
}

TEST_CASE("A role map has no rank and no part that is not there") {
    const RoleMap map({scheduler_node(), producer(0), consumer(0)});
    CHECK_THROWS_AS(map.node(3), std::out_of_range);
    CHECK_THROWS_AS(map.node(-1), std::out_of_range);
    CHECK_THROWS_AS(map.rank(producer(1)), std::out_of_range);
}

TEST_CASE("A map that is not whole is refused") {
    CHECK_FALSE(is_refused({scheduler_node(), producer(0), consumer(0)}));
    CHECK(is_refused({producer(0), consumer(0)}));
    CHECK(is_refused({scheduler_node(), scheduler_node(), producer(0), consumer(0)}));
    CHECK(is_refused({scheduler_node(), producer(0), producer(0), consumer(0)}));
    CHECK(is_refused({scheduler_node(), producer(0), producer(2), consumer(0)}));
    CHECK(is_refused({scheduler_node(), producer(0), consumer(1)}));
    CHECK(is_refused({}));
}

}  // namespace core_role_map_test_file
