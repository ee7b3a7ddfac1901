#include "judge/fairness.hpp"

#include <vector>

#include "catch.hpp"

using weir::judge::fairness_of;

namespace {

std::optional<weir::judge::Fairness> of(const std::vector<double>& shares) {
    return fairness_of(shares);
}

}  // namespace

TEST_CASE("Equal shares are even") {
    const auto even = of({5e9, 5e9, 5e9});
    REQUIRE(even);
    CHECK(even->smallest_over_largest == 1);
    CHECK(even->jain_index == Approx(1));
}

TEST_CASE("Where two of five have everything, the index is two fifths") {
    const auto even = of({0, 3, 0, 3, 0});
    REQUIRE(even);
    CHECK(even->smallest_over_largest == 0);
    CHECK(even->jain_index == Approx(0.4));
}

TEST_CASE("Unequal shares") {
    const auto even = of({1, 2, 3});
    REQUIRE(even);
    CHECK(even->smallest_over_largest == Approx(1.0 / 3));
    CHECK(even->jain_index == Approx(36.0 / 42));
}

TEST_CASE("Nothing is not spread at all") {
    CHECK_FALSE(of({}));
    CHECK_FALSE(of({0, 0}));
}
