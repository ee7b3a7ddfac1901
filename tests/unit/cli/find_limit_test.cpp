#include "cli/find_limit.hpp"

#include <cmath>

#include "catch.hpp"

using weir::cli::find_limit;
using weir::cli::FindPoint;

namespace {

FindPoint point_of(double value, bool holds) {
    FindPoint point;
    point.value = value;
    point.seeds = 3;
    point.sustained = holds ? 3 : 2;
    return point;
}

}  // namespace

TEST_CASE("the largest value is found from below and from above") {
    for (const double start : {1.0, 90.0, 100.0, 5000.0}) {
        const auto result = find_limit(start, true, false, 0.001,
                                       [](double value) { return point_of(value, value <= 97.3); });
        INFO("start " << start);
        REQUIRE(result.best);
        REQUIRE(result.beyond);
        CHECK(result.curve[*result.best].value <= 97.3);
        CHECK(result.curve[*result.best].value > 97.3 * 0.998);
        CHECK(result.curve[*result.beyond].value > 97.3);
        for (std::size_t i = 1; i < result.curve.size(); ++i) {
            CHECK(result.curve[i - 1].value < result.curve[i].value);
        }
    }
}

TEST_CASE("the smallest whole number is found exactly") {
    for (const double start : {1.0, 12.0, 13.0, 400.0}) {
        const auto result =
            find_limit(start, false, true, 0.005, [](double value) { return point_of(value, value >= 13); });
        INFO("start " << start);
        REQUIRE(result.best);
        CHECK(result.curve[*result.best].value == 13);
        REQUIRE(result.beyond);
        CHECK(result.curve[*result.beyond].value == 12);
    }
    const auto one = find_limit(8, false, true, 0.005, [](double value) { return point_of(value, true); });
    REQUIRE(one.best);
    CHECK(one.curve[*one.best].value == 1);
    CHECK_FALSE(one.beyond);
}

TEST_CASE("where nothing holds there is no limit") {
    const auto result =
        find_limit(8, false, true, 0.005, [](double value) { return point_of(value, false); });
    CHECK_FALSE(result.best);
}
