#include "catch.hpp"
#include "record/second_clock.hpp"

using namespace weir;
using core::Bytes;
using core::Duration;
using core::Instant;

TEST_CASE("What moved while data was generated is never less than nothing") {
    core::Plan plan;
    plan.interval = Duration::milliseconds(50);
    plan.duration = Duration::milliseconds(300);
    record::GenerationTime time(plan, Instant{} - Duration::milliseconds(100));
    // One chunk, a part of which counted in the warm-up, ends after the last set was generated.
    time.count(Instant{} + Duration::milliseconds(400), Bytes{1000});
    time.end_second(0, Instant{} + Duration::milliseconds(800), Bytes{600});
    time.finish(Instant{} + Duration::milliseconds(800));
    CHECK(time.moved() == record::MovedInTime{Bytes{}, Duration::milliseconds(300)});
}
