#include "catch.hpp"
#include "config/option_table.hpp"
#include "config/usage_error.hpp"

using namespace weir::config;
using weir::core::Duration;
using weir::core::ShapingKind;

namespace {

RunRequest request_of(const char* shaping) {
    RunRequest request;
    find_option("shaping")->set(request, shaping);
    return request;
}

weir::core::Shaping parse_shaping(const char* text) {
    return request_of(text).plan.shaping;
}

}  // namespace

TEST_CASE("Shaping is read and written back") {
    CHECK(parse_shaping("none") == weir::core::Shaping{});
    const auto bucket = parse_shaping("bucket:20Mb/s");
    CHECK(bucket.kind == ShapingKind::bucket);
    CHECK(bucket.rate.bits_per_second == 20000000);
    CHECK(bucket.burst.count == 65536);
    CHECK(parse_shaping("bucket:20Mb/s,burst=3kB").burst.count == 3000);
    const auto in_step = parse_shaping("in-step:25us");
    CHECK(in_step.grid == Duration::microseconds(25));
    CHECK(in_step.tick == Duration::microseconds(2500));
    CHECK(parse_shaping("in-step:25us,tick=1ms").tick == Duration::milliseconds(1));
    for (const char* text : {"none", "bucket:20Mb/s,burst=3kB", "in-step:25us,tick=1ms"}) {
        CHECK(find_option("shaping")->get(request_of(text)) == text);
    }
}

TEST_CASE("Shaping that cannot be is refused") {
    for (const char* text :
         {"", "fast", "bucket", "bucket:", "bucket:0b/s", "bucket:20Mb/s,burst=0B", "bucket:20Mb/s,tick=1ms",
          "in-step", "in-step:500ns", "in-step:2s", "in-step:25us,tick=30us", "in-step:25us,burst=1kB",
          "in-step:25us,tick=25us", "none:1"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_shaping(text), UsageError);
    }
}
