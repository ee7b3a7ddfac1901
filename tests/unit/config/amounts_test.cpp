// Amounts that cannot be counted, or cannot wait, are refused with their numbers.
#include "config/passes.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "catch.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"
#include "refusal.hpp"
#include "temporary_file.hpp"

namespace config_amounts_test_file {

using namespace weir::config;
using Given = std::vector<GivenOption>;

namespace {

RunRequest laid_out(const Given& given, std::size_t ranks = 3) {
    RunRequest request = resolve(given, true);
    apply_layout(request, assign_roles(request.roles, std::vector<std::string>(ranks)));
    return request;
}

std::string refused(const Given& given, std::size_t ranks = 3) {
    return refusal_of([&] { laid_out(given, ranks); });
}

/// A trace of so many lines of 1 PiB. `one_transfer`: all are for the same pair at the same time.
struct LargeTrace : TemporaryFile {
    LargeTrace(int lines, bool one_transfer) : TemporaryFile(text(lines, one_transfer), ".csv") {}
    [[nodiscard]] std::string pattern() const { return "trace:" + path(); }

    static std::string text(int lines, bool one_transfer) {
        std::string text = "time_us,producer,consumer,bytes\n";
        for (int line = 0; line < lines; ++line) {
            text += fmt::format("{},0,0,{}\n", one_transfer ? 0 : line, std::int64_t{1} << 50);
        }
        return text;
    }
};

}  // namespace

TEST_CASE("a set of more events than can wait is refused") {
    Given given{{"producers", "1"},     {"consumers", "1"}, {"rate", "36Gb/s"},
                {"event-size", "1KiB"}, {"duration", "1s"}, {"interval", "1s"}};
    CHECK(contains(refused(given),
                   "--event-size: a producer generates 4394532 events of 1 KiB at one instant, "
                   "and at most 4194304 can wait; make events at least 1.073 kB, or"));
    given[3].value = "1073B";
    CHECK(refused(given) == "accepted");
    // Steady ones come one by one, and a buffer for more gets a note.
    given[3].value = "1KiB";
    given.push_back({"generation", "steady"});
    const RunRequest request = laid_out(given);
    REQUIRE(request.notes.size() == 1);
    CHECK(contains(request.notes[0], "has room for 4394531 events of 1 KiB, but at most 4194304 can wait"));
    // Saturating producers have nothing due at a time.
    given.back().value = "saturate";
    CHECK(refused(given) == "accepted");
}

TEST_CASE("addressed events that come at one instant are counted together") {
    Given given{{"producers", "1"}, {"consumers", "2"}, {"rate", "36Gb/s"},          {"event-size", "1KiB"},
                {"duration", "1s"}, {"interval", "1s"}, {"destination", "addressed"}};
    CHECK(contains(refused(given, 4), "generates 439453"));
}

TEST_CASE("more bytes than can be counted are refused, in an interval and in the run") {
    SECTION("one transfer of many lines") {
        const LargeTrace trace(8193, true);
        CHECK(
            contains(refused({{"pattern", trace.pattern()}}),
                     "the 8193 transfers of an interval are 9224498 TB in all, and at most 4611686 TB can be "
                     "counted; make them smaller"));
    }
    SECTION("many transfers") {
        const LargeTrace trace(4097, false);
        CHECK(contains(refused({{"pattern", trace.pattern()}, {"interval", "1h"}, {"duration", "1h"}}),
                       "the 4097 transfers of an interval are 4612812 TB in all"));
    }
    SECTION("scaled") {
        const LargeTrace trace(10, false);
        const Given given{
            {"pattern", trace.pattern()}, {"interval", "1h"}, {"duration", "1h"}, {"scale", "1000"}};
        CHECK(contains(refused(given), "--scale: --pattern: "));
        CHECK(contains(refused(given), "the 10 transfers of an interval are 11258999 TB in all"));
    }
    SECTION("in many intervals") {
        const LargeTrace trace(100, false);
        CHECK(contains(refused({{"pattern", trace.pattern()}, {"interval", "1h"}, {"duration", "48h"}}),
                       "--duration: in 172800 s and a --warmup of 2 s, 5516910 TB are generated (producers: "
                       "1), and at most "
                       "4611686 TB can be counted; make the duration shorter, or the transfers of "));
    }
    SECTION("at a rate that nothing has") {
        const LargeTrace trace(100, false);
        CHECK(contains(refused({{"pattern", trace.pattern()}, {"interval", "1s"}, {"duration", "1s"}}),
                       "--interval: 102400 TiB of traffic in 1 s are more than 1000 Tb/s for each producer, "
                       "which is the most; "
                       "make the interval longer, or the transfers smaller"));
    }
    SECTION("of a rate") {
        CHECK(contains(
            refused({{"producers", "1"},
                     {"consumers", "1"},
                     {"rate", "1000Tb/s"},
                     {"event-size", "1GB"},
                     {"generation", "steady"},
                     {"duration", "8784h"}}),
            ", 3952800250 TB are generated (producers: 1), and at most 4611686 TB can be counted; make the "
            "duration shorter, or --rate lower"));
        CHECK(contains(refused({{"producers", "1"},
                                {"consumers", "1"},
                                {"rate", "1Tb/s"},
                                {"event-size", "1B"},
                                {"generation", "steady"},
                                {"buffer", "1MB"},
                                {"duration", "300h"}}),
                       "events in the run, and at most 17592186044416 can be distinguished"));
    }
}

}  // namespace config_amounts_test_file
