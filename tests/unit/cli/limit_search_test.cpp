#include "cli/limit_search.hpp"

#include <algorithm>

#include "catch.hpp"

using weir::cli::find_limit;
using weir::cli::FindPoint;
using weir::cli::SearchSpace;

namespace {

FindPoint point_of(double value, bool holds) {
    return {.value = value, .text = {}, .held = holds ? 3U : 2U, .seeds = 3, .refused = {}};
}

FindPoint refused(double value) {
    FindPoint point = point_of(value, false);
    point.refused = "out of range";
    return point;
}

SearchSpace whole_from(double start) {
    return {.start = start, .whole = true, .least = 1, .most = 1024};
}

}  // namespace

TEST_CASE("the largest value is found from below and from above") {
    for (const double start : {1.0, 90.0, 100.0, 5000.0}) {
        const SearchSpace space{.start = start, .whole = false, .precision = 0.001};
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

TEST_CASE("the largest whole number is found exactly") {
    for (const double start : {1.0, 12.0, 13.0, 400.0}) {
        const auto result =
            find_limit(whole_from(start), [](double value) { return point_of(value, value <= 13); });
        INFO("start " << start);
        REQUIRE(result.best);
        CHECK(result.curve[*result.best].value == 13);
        REQUIRE(result.beyond);
        CHECK(result.curve[*result.beyond].value == 14);
    }
    const auto all = find_limit(whole_from(3), [](double value) { return point_of(value, true); });
    REQUIRE(all.best);
    CHECK(all.curve[*all.best].value == 1024);
    CHECK_FALSE(all.beyond);
}

TEST_CASE("where nothing holds there is no limit, and nothing beyond the bounds is tried") {
    double smallest = 1e9;
    const auto result = find_limit(whole_from(768), [&](double value) {
        smallest = std::min(smallest, value);
        return point_of(value, false);
    });
    CHECK_FALSE(result.best);
    CHECK(smallest == 1);
    CHECK(result.curve.size() == 10);  // 768, 384, ..., 3, 1
}

TEST_CASE("a search ends at what is possible") {
    int tried_in_vain = 0;
    const auto none = find_limit(whole_from(768), [&](double value) {
        tried_in_vain += value < 100 ? 1 : 0;
        return value < 100 ? refused(value) : point_of(value, false);
    });
    CHECK_FALSE(none.best);
    CHECK(tried_in_vain <= 5);
    CHECK(none.curve.size() < 25);
    const SearchSpace rate{.start = 10, .whole = false, .precision = 0.01};
    const auto cut =
        find_limit(rate, [](double value) { return value > 55 ? refused(value) : point_of(value, true); });
    REQUIRE(cut.best);
    REQUIRE(cut.beyond);
    CHECK(cut.curve[*cut.best].value > 54);
    CHECK_FALSE(cut.curve[*cut.beyond].refused.empty());
}
