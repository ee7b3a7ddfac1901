#include "show/plan_text.hpp"

#include "catch.hpp"

using namespace weir;
using core::Duration;
using show::last_set_lines;

namespace {

core::Plan plan_of(Duration duration, Duration interval, Duration drain) {
    core::Plan plan;
    plan.producers = 2;
    plan.consumers = 3;
    plan.rate = {1000000000};
    plan.duration = duration;
    plan.interval = interval;
    plan.drain = drain;
    return plan;
}

}  // namespace

TEST_CASE("without a rate there is none in the words") {
    core::Plan plan = plan_of(Duration::seconds(10), Duration::seconds(1), Duration::seconds(10));
    CHECK(show::load_text(plan) == "2 producers x 1 Gb/s to 3 consumers");
    plan.generation = core::Generation::saturate;
    CHECK(show::load_text(plan) == "2 producers to 3 consumers, as fast as possible");
}

TEST_CASE("a set that begins less than an interval before the end is pointed out") {
    const auto s = [](std::int64_t seconds) { return Duration::seconds(seconds); };
    CHECK(last_set_lines(plan_of(s(20), s(10), s(0))).empty());
    const std::string begins =
        "a duration of 12 s is not a multiple of the interval of 10 s: set 2 of 2 comes 2 s before "
        "the "
        "end";
    CHECK(last_set_lines(plan_of(s(12), s(10), s(8))) == std::vector{begins});
    CHECK(last_set_lines(plan_of(s(12), s(10), s(1))) ==
          std::vector{
              begins,
              std::string("the drain takes up to 8 s and not 1 s, so that this set has its whole interval")});
    core::Plan steady = plan_of(s(12), s(10), s(1));
    steady.generation = core::Generation::steady;
    CHECK(last_set_lines(steady).empty());
}
