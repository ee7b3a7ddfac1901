#include "files/formatting.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace weir::files;
using namespace weir::core;

TEST_CASE("Numbers are written as on the pages of weir-report") {
    const std::map<std::string, std::function<std::string(double)>> rules{
        {"number", [](double value) { return number(value); }},
        {"rate", rate_text},
        {"bytes", bytes_text},
        {"time", seconds_text},
        {"percent", [](double value) { return percent(value); }},
        {"share", [](double value) { return loss_share(std::llround(value * 1e15), 1'000'000'000'000'000); }},
        {"change", change},
        {"instant", [](double value) { return instant(value); }},
        {"rough", rough_time}};
    struct Case {
        std::string rule;
        double value;
        std::string text;
    };
    const Case cases[]{
#include "number_cases.inc"
    };
    for (const Case& one : cases) {
        INFO(one.rule << " of " << one.value);
        CHECK(rules.at(one.rule)(one.value) == one.text);
    }
}

TEST_CASE("Quantities are written as their values are") {
    CHECK(readable(BitRate{85'830'000'000}) == "85.8 Gb/s");
    CHECK(readable(Bytes{16'777'216}) == "16 MiB");
    CHECK(readable(Duration::milliseconds(1200)) == "1.2 s");
    CHECK(in_unit({85'800'000}, unit_for({1'000'000'000})) == "0.086");
    CHECK(in_unit({85'800'000'000'000}, unit_for({1'000'000'000})) == "85800");
    CHECK(counted(1, "event") == "1 event");
    CHECK(counted(0, "event") == "0 events");
}

TEST_CASE("What somebody chose keeps its digits") {
    CHECK(exact(BitRate{85'830'000'000}) == "85.83 Gb/s");
    CHECK(exact(Bytes{1023}) == "1.023 kB");
    CHECK(exact(Bytes{1 << 24}) == "16 MiB");
    CHECK(exact(Duration{0}) == "0 s");
}

TEST_CASE("Lists of ranks are named as far as one can read") {
    const auto names = [](std::vector<std::uint32_t> indices) { return name_some("producer", indices); };
    CHECK(names({}) == "no producer");
    CHECK(names({3}) == "producer 3");
    CHECK(names({3, 7}) == "producers 3 and 7");
    CHECK(names({3, 7, 1, 9}) == "producers 3, 7, 1 and 9");
    CHECK(names({3, 7, 1, 9, 2}) == "producers 3, 7, 1 and 2 more");
    const std::vector<std::string> letters{"a", "b", "c", "d", "e"};
    CHECK(listed({}).empty());
    CHECK(listed(letters) == "a, b, c and 2 more");
    CHECK(listed(letters, 4) == "a, b, c, d and e");
    CHECK(node_text({Role::consumer, 5}) == "consumer 5");
    CHECK(node_text(scheduler_node()) == "scheduler");
}

TEST_CASE("Wall time is UTC with milliseconds") {
    CHECK(utc_text(0) == "1970-01-01T00:00:00.000Z");
    CHECK(utc_text(1769860800'250'999'999) == "2026-01-31T12:00:00.250Z");
    CHECK(utc_text(-1) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("A text is a number if nothing else stands in it, and if the number fits") {
    CHECK(number_in<int>("-12") == -12);
    CHECK(number_in<double>("2.5e3") == 2500);
    for (const char* const text : {"", " 1", "1 ", "1x", "x", "+1", "4294967296", "-1"}) {
        CHECK_FALSE(number_in<std::uint32_t>(text));
    }
}
