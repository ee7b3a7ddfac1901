// The course of a run by events.
#include "record/event_series.hpp"

#include "catch.hpp"

using namespace weir::core;
using namespace weir::record;

namespace {

Instant at_milliseconds(std::int64_t milliseconds) {
    return Instant{} + Duration::milliseconds(milliseconds);
}

}  // namespace

TEST_CASE("A mark stands behind every thousand events from second 0 on") {
    EventSeries series;
    series.done(at_milliseconds(-5), {10}, 3);
    for (int event = 1; event <= 2999; ++event) {
        series.done(at_milliseconds(event), {10}, event < 1500 ? 3 : 7);
    }
    REQUIRE(series.marks().size() == 2);
    CHECK(series.marks()[0] == EventMark{1000, at_milliseconds(1000), {10000}, 0});
    CHECK(series.marks()[1] == EventMark{2000, at_milliseconds(2000), {20000}, 4});
}

TEST_CASE("Too many steps become a tenth of them, and no mark is moved") {
    EventSeries series;
    for (int event = 1; event <= 2000000; ++event) {
        series.done(Instant{event}, {1}, 0);
        REQUIRE(series.marks().size() < EventSeries::marks_max);
        if (event == 199999) {
            CHECK(series.marks().size() == 199);
        }
        if (event == 200000) {
            CHECK(series.marks().size() == 20);
        }
    }
    REQUIRE(series.marks().size() == 20);
    for (std::size_t place = 0; place < 20; ++place) {
        const auto events = static_cast<std::int64_t>(100000 * (place + 1));
        CHECK(series.marks()[place] ==
              EventMark{static_cast<std::uint64_t>(events), Instant{events}, {events}, 0});
    }
}
