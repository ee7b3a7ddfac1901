#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "cli/limit_search.hpp"

using weir::cli::find_limit;
using weir::cli::FindPoint;
using weir::cli::FindResult;
using weir::cli::SearchSpace;

namespace {

FindPoint point_of(double value, bool holds) {
    FindPoint point;
    point.value = value;
    point.seeds = 3;
    point.sustained = holds ? 3 : 2;
    return point;
}

FindPoint refused(double value) {
    FindPoint point = point_of(value, false);
    point.refused = "out of range";
    return point;
}

SearchSpace whole_from(double start) {
    return {.start = start, .larger_is_harder = false, .whole = true, .least = 1, .most = 1024};
}

}  // namespace

TEST_CASE("the largest value is found from below and from above") {
    for (const double start : {1.0, 90.0, 100.0, 5000.0}) {
        const SearchSpace space{.start = start, .larger_is_harder = true, .whole = false, .precision = 0.001};
        const auto result = find_limit(space, [](double value) { return point_of(value, value <= 97.3); });
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
            find_limit(whole_from(start), [](double value) { return point_of(value, value >= 13); });
        INFO("start " << start);
        REQUIRE(result.best);
        CHECK(result.curve[*result.best].value == 13);
        REQUIRE(result.beyond);
        CHECK(result.curve[*result.beyond].value == 12);
    }
    const auto one = find_limit(whole_from(8), [](double value) { return point_of(value, true); });
    REQUIRE(one.best);
    CHECK(one.curve[*one.best].value == 1);
    CHECK_FALSE(one.beyond);
}

TEST_CASE("where nothing holds there is no limit, and nothing beyond the bounds is tried") {
    double largest = 0;
    const auto result = find_limit(whole_from(3), [&](double value) {
        largest = std::max(largest, value);
        return point_of(value, false);
    });
    CHECK_FALSE(result.best);
    CHECK(largest == 1024);
    CHECK(result.curve.size() == 10);  // 3, 6, ..., 768, 1024
}

TEST_CASE("a limit that only the largest possible value reaches is found") {
    const auto result =
        find_limit(whole_from(3), [](double value) { return point_of(value, value >= 1000); });
    REQUIRE(result.best);
    CHECK(result.curve[*result.best].value == 1000);
    const auto below = find_limit(whole_from(3), [](double value) {
        return value > 700 ? refused(value) : point_of(value, value >= 690);
    });
    REQUIRE(below.best);
    CHECK(below.curve[*below.best].value == 690);
}

TEST_CASE("a search ends at what is possible") {
    int tried_in_vain = 0;
    const auto none = find_limit(whole_from(3), [&](double value) {
        tried_in_vain += value > 700 ? 1 : 0;
        return value > 700 ? refused(value) : point_of(value, false);
    });
    CHECK_FALSE(none.best);
    CHECK(tried_in_vain <= 5);
    CHECK(none.curve.size() < 25);
    const SearchSpace rate{.start = 10, .larger_is_harder = true, .whole = false, .precision = 0.01};
    const FindResult cut =
        find_limit(rate, [](double value) { return value > 55 ? refused(value) : point_of(value, true); });
    REQUIRE(cut.best);
    REQUIRE(cut.beyond);
    CHECK(cut.curve[*cut.best].value > 54);
    CHECK_FALSE(cut.curve[*cut.beyond].refused.empty());
}
