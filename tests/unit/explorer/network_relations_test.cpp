#include "explorer/network_relations.hpp"

#include "catch.hpp"

TEST_CASE("The relations between networks and their results hold") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        INFO("seed " << seed);
        CHECK(weir::explorer::broken_relation(seed).empty());
    }
}
