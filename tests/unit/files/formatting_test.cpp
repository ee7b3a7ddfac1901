#include "files/formatting.hpp"

#include <vector>

#include "catch.hpp"

using namespace weir::files;
using namespace weir::core;

TEST_CASE("Rates have four digits and a unit that suits them") {
    CHECK(readable(BitRate{85'800'000'000}) == "85.80 Gb/s");
    CHECK(readable(BitRate{1'201'000'000'000}) == "1.201 Tb/s");
    CHECK(readable(BitRate{999'960'000}) == "1000 Mb/s");
    CHECK(readable(BitRate{0}) == "0.000 kb/s");
    CHECK(in_unit({85'800'000}, unit_for({1'000'000'000})) == "0.086");
    CHECK(in_unit({85'800'000'000'000}, unit_for({1'000'000'000})) == "85800");
    CHECK(std::string(unit_for({17}).name) == "kb/s");
}

TEST_CASE("Bytes, durations and shares are readable") {
    CHECK(readable(Bytes{64}) == "64 B");
    CHECK(readable(Bytes{16'777'216}) == "16.78 MB");
    CHECK(readable(Duration{999}) == "999 ns");
    CHECK(readable(Duration{12'340}) == "12.3 us");
    CHECK(readable(Duration{4'560'000}) == "4.56 ms");
    CHECK(readable(Duration::milliseconds(1200)) == "1.20 s");
    CHECK(percent(0.41) == "41 %");
    CHECK(percent(0.0032) == "0.3 %");
    CHECK(percent(0.00001) == "below 0.1 %");
    CHECK(percent(0) == "0 %");
    CHECK(counted(1, "event") == "1 event");
    CHECK(counted(0, "event") == "0 events");
}

TEST_CASE("Lists of ranks are named as far as one can read") {
    const auto names = [](std::vector<std::uint32_t> indices) { return name_some("producer", indices); };
    CHECK(names({}) == "no producer");
    CHECK(names({3}) == "producer 3");
    CHECK(names({3, 7}) == "producers 3 and 7");
    CHECK(names({3, 7, 1, 9}) == "producers 3, 7, 1 and 9");
    CHECK(names({3, 7, 1, 9, 2}) == "producers 3, 7, 1 and 2 more");
    CHECK(node_text({Role::consumer, 5}) == "consumer 5");
    CHECK(node_text(scheduler_node()) == "scheduler");
}

TEST_CASE("Wall time is UTC with milliseconds") {
    CHECK(utc_text(0) == "1970-01-01T00:00:00.000Z");
    CHECK(utc_text(1769860800'250'999'999) == "2026-01-31T12:00:00.250Z");
    CHECK(utc_text(-1) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("Not quite all is not printed as all") {
    CHECK(percent(1) == "100 %");
    CHECK(percent(0.997) == "99.7 %");
    CHECK(percent(0.99999) == "above 99.9 %");
    CHECK(percent(0.994) == "99 %");
}

TEST_CASE("A share of losses keeps two digits however small it is") {
    CHECK(loss_share(0, 0) == "0 %");
    CHECK(loss_share(3, 0) == "? %");
    CHECK(loss_share(92, 1134) == "8.1 %");
    CHECK(loss_share(981, 2386) == "41 %");
    CHECK(loss_share(12, 10000) == "0.12 %");
    CHECK(loss_share(61, 1000000) == "6.1e-5");
    CHECK(loss_share(1, 1000000000000) == "1.0e-12");
}
