#include "core/switch_plan.hpp"

#include "catch.hpp"

using namespace weir::core;

TEST_CASE("a value of a link is in proportion to its rate, or the same for every link") {
    constexpr BitRate fast{100'000'000'000};
    constexpr BitRate slow{25'000'000'000};
    CHECK(in_proportion(Bytes{100'000}, fast, slow) == Bytes{400'000});
    CHECK(in_proportion(Bytes{100'000}, slow, slow) == Bytes{100'000});
    CHECK(in_proportion(Bytes{100'000}, fast, BitRate{}) == Bytes{100'000});
    CHECK(in_proportion(BitRate{5'000'000}, fast, slow) == BitRate{20'000'000});
}
