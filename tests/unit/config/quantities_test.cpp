#include "config/quantities.hpp"

#include <cstdint>
#include <limits>
#include <random>

#include "catch.hpp"
#include "refusal.hpp"

using namespace weir::config;
using weir::core::BitRate;
using weir::core::Bytes;
using weir::core::Duration;

TEST_CASE("sizes are read with decimal and binary units") {
    CHECK(parse_bytes("64B").count == 64);
    CHECK(parse_bytes("16MB").count == 16000000);
    CHECK(parse_bytes("1MiB").count == 1048576);
    CHECK(parse_bytes("1.5KiB").count == 1536);
    CHECK(parse_bytes("2.68125GB").count == 2681250000);
    CHECK(parse_bytes("1 TiB").count == std::int64_t{1} << 40);
    CHECK(parse_bytes("0B").count == 0);
    CHECK(parse_bytes("0.5kB").count == 500);
    CHECK(parse_bytes("1.3MiB").count == 1363149);  // rounded
}

TEST_CASE("rates are read in bits per second") {
    CHECK(parse_rate("85.8Gb/s").bits_per_second == 85800000000);
    CHECK(parse_rate("100Mb/s").bits_per_second == 100000000);
    CHECK(parse_rate("2Gbit/s").bits_per_second == 2000000000);
    CHECK(parse_rate("2Gbps").bits_per_second == 2000000000);
    CHECK(parse_rate("10kb/s").bits_per_second == 10000);
    CHECK(parse_rate("7b/s").bits_per_second == 7);
    CHECK(parse_rate("1.2Tb/s").bits_per_second == 1200000000000);
}

TEST_CASE("times are read from ns to h") {
    CHECK(parse_duration("25us").ns == 25000);
    CHECK(parse_duration("50ms").ns == 50000000);
    CHECK(parse_duration("1.2s").ns == 1200000000);
    CHECK(parse_duration("5min").ns == 300000000000);
    CHECK(parse_duration("24h").ns == 86400000000000);
    CHECK(parse_duration("3ns").ns == 3);
}

TEST_CASE("a bare number is refused with what would be right") {
    CHECK(refusal_of([] { parse_rate("2"); }) == "'2' has no unit; write for example 2Gb/s");
    CHECK(refusal_of([] { parse_bytes("16"); }) == "'16' has no unit; write for example 16MiB");
    CHECK(refusal_of([] { parse_duration("1.5"); }) == "'1.5' has no unit; write for example 1.5s");
}

TEST_CASE("bytes per second are refused with the number of bits") {
    CHECK(contains(refusal_of([] { parse_rate("2GB/s"); }), "write for example 16Gb/s"));
    // What is proposed is what was meant, as far as that can be told, and can be used.
    CHECK(refusal_of([] { parse_bytes("16777216"); }).ends_with("write for example 16777216B"));
    CHECK(refusal_of([] { parse_rate("10000000000"); }).ends_with("write for example 10000000000b/s"));
    CHECK(refusal_of([] { parse_duration("1500"); }).ends_with("write for example 1500ms"));
    CHECK(refusal_of([] { parse_duration("500msec"); }).ends_with("write for example 500ms"));
    CHECK(refusal_of([] { parse_duration("25\xc2\xb5s"); }).ends_with("write for example 25us"));
    CHECK(refusal_of([] { parse_bytes("64k"); }).ends_with("write for example 64KiB"));
    CHECK(refusal_of([] { parse_rate("100G"); }).ends_with("write for example 100Gb/s"));
    CHECK(refusal_of([] { parse_duration("500parsecs"); }).ends_with("write for example 10s"));
    CHECK(contains(refusal_of([] { parse_rate("10GiB"); }), "unknown unit 'GiB'"));
    CHECK(contains(refusal_of([] { parse_bytes("10Mb"); }), "unknown unit 'Mb'"));
}

TEST_CASE("what is no quantity is refused") {
    const auto text = GENERATE("", "-1GB", "nan", "inf", "GB", ".", ".GB", "1e3MB", "1..2MB", "0x10MB",
                               "1,5MB", "1234567890123456789MB", "99999999999TiB", "1MBx", " 1MB", "+1MB");
    CAPTURE(text);
    CHECK(refusal_of([&] { parse_bytes(text); }) != "accepted");
    CHECK(refusal_of([&] { parse_rate(text); }) != "accepted");
    CHECK(refusal_of([&] { parse_duration(text); }) != "accepted");
}

TEST_CASE("how others write numbers is refused with how weir reads them") {
    CHECK(contains(refusal_of([] { parse_rate("2,5Gb/s"); }), "'2,5Gb/s' has a comma"));
    CHECK(contains(refusal_of([] { parse_rate("2,5Gb/s"); }), "write for example 2.5 with its unit"));
    CHECK(contains(refusal_of([] { parse_bytes("1,000MB"); }), "write for example 16MiB"));
    CHECK(contains(refusal_of([] { parse_number("2,5", "2.5"); }), "has a comma"));
    CHECK(contains(refusal_of([] { parse_number("20%", "1"); }),
                   "'20%' is not a number; write for example 0.2"));
    CHECK(contains(refusal_of([] { parse_number("0%", "1"); }), "write for example 1"));
    CHECK(contains(refusal_of([] { parse_positive_number("50%", "2.5"); }), "write for example 2.5"));
    CHECK(contains(refusal_of([] { parse_ratio("1/200%"); }), "write for example 0.01 or 1/200"));
    CHECK(contains(refusal_of([] { parse_ratio("33.3%"); }),
                   "'33.3%' is not a factor; write for example 0.333"));
    CHECK(refusal_of([] { parse_ratio("0,5"); }) ==
          "'0,5' has a comma in its number; the decimal separator is a point; write for example 0.5");
    for (const char* text : {"1e400Gb/s", "1E9b/s", "1e-3Gb/s", "1e+3Gb/s"}) {
        CHECK(contains(refusal_of([=] { parse_rate(text); }), "has an exponent"));
    }
    CHECK(contains(refusal_of([] { parse_bytes("1..2MB"); }), "more than one point"));
}

TEST_CASE("a quantity is never rounded to nothing") {
    CHECK(contains(refusal_of([] { parse_duration("0.1ns"); }), "less than 1ns"));
    CHECK(contains(refusal_of([] { parse_bytes("0.0001kB"); }), "less than 1B"));
}

TEST_CASE("counts have bounds") {
    CHECK(parse_count("7", 1, 10) == 7);
    CHECK(parse_count("18446744073709551615", 0, std::numeric_limits<std::uint64_t>::max()) ==
          std::numeric_limits<std::uint64_t>::max());
    CHECK(contains(refusal_of([] { parse_count("0", 1, 10); }), "write a number from 1 to 10"));
    CHECK(contains(refusal_of([] { parse_count("18446744073709551616", 0, 10); }), "out of range"));
    for (const char* text : {"", "-1", "1.5", "3x", "3MiB"}) {
        CHECK(contains(refusal_of([&] { parse_count(text, 1, 10); }), "not a whole number"));
    }
}

TEST_CASE("factors are decimal numbers or fractions") {
    CHECK(parse_ratio("0.01") == Ratio{1, 100});
    CHECK(parse_ratio("2.50") == Ratio{25, 10});
    CHECK(parse_ratio("3") == Ratio{3, 1});
    CHECK(parse_ratio("1/200") == Ratio{1, 200});
    for (const char* text :
         {"0", "0.0", "-1", "1/0", "1/", "/2", "x", "1.5/2", "2s", "1/2/3", "12345678901"}) {
        CAPTURE(text);
        CHECK(refusal_of([&] { parse_ratio(text); }) != "accepted");
    }
    for (const char* text : {"0.01", "2.5", "3", "1/200", "0.000000001", "10"}) {
        CHECK(to_text(parse_ratio(text)) == text);
    }
}

TEST_CASE("scaling is exact, sizes up and rates down") {
    CHECK(scale_up(Bytes{2681250000}, {1, 100}).count == 26812500);
    CHECK(scale_up(Bytes{10}, {1, 3}).count == 4);
    CHECK(scale_up(Bytes{0}, {1, 3}).count == 0);
    CHECK(scale_down(BitRate{85800000000}, {1, 100}).bits_per_second == 858000000);
    CHECK(scale_down(BitRate{10}, {1, 3}).bits_per_second == 3);
    CHECK(refusal_of([] { scale_down(BitRate{1}, {1, 2}); }) != "accepted");
    CHECK(refusal_of([] { scale_up(Bytes{std::int64_t{1} << 61}, {4, 1}); }) != "accepted");
}

TEST_CASE("quantities print as people write them") {
    CHECK(to_text(Bytes{0}) == "0B");
    CHECK(to_text(Bytes{16 * 1048576}) == "16MiB");
    CHECK(to_text(Bytes{1000 * 1048576}) == "1000MiB");
    CHECK(to_text(Bytes{2681250000}) == "2.68125GB");
    CHECK(to_text(Bytes{1978125000}) == "1.978125GB");
    CHECK(to_text(Bytes{1500}) == "1.5kB");
    CHECK(to_text(Bytes{1023}) == "1.023kB");
    CHECK(to_text(BitRate{85800000000}) == "85.8Gb/s");
    CHECK(to_text(BitRate{858000000}) == "858Mb/s");
    CHECK(to_text(Duration{0}) == "0s");
    CHECK(to_text(Duration{1200000000}) == "1.2s");
    CHECK(to_text(Duration{300000000000}) == "300s");
    CHECK(to_text(Duration{146800000}) == "146.8ms");
}

TEST_CASE("what is printed reads back as the same") {
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i) {
        const auto value = static_cast<std::int64_t>(random() >> (2 + random() % 60));
        CAPTURE(value);
        // 18 digits are the most that a quantity may have; more of them do not occur.
        const std::int64_t bounded = value % 1000000000000000000;
        REQUIRE(parse_bytes(to_text(Bytes{bounded})).count == bounded);
        REQUIRE(parse_rate(to_text(BitRate{bounded})).bits_per_second == bounded);
        REQUIRE(parse_duration(to_text(Duration{bounded})).ns == bounded);
    }
}

TEST_CASE("what a message repeats can be read, whatever it is") {
    const auto said = [](const std::string& text) { return std::string(UsageError(text).what()); };
    CHECK(said("a\nb\x1b[31m") == "a\\x0ab\\x1b[31m");
    CHECK(said("plain \xc3\xa9 text") == "plain \xc3\xa9 text");
    CHECK(said("'" + std::string(300, 'x') + "' is").size() < 220);
    CHECK(contains(said("'" + std::string(300, 'x') + "' is"), "bytes left out]"));
    std::string words;
    for (int i = 0; i < 2000; ++i) {
        words += "\xc3\xa9 ";
    }
    CHECK(said(words).size() < 2100);
    CHECK(contains(said(words), "\xc3\xa9 ...["));
}
