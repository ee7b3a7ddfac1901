// Short rows that a short run has by itself.
#include "config/passes.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "config/resolve.hpp"

namespace config_row_interval_test_file {

using namespace weir::config;
using weir::core::Bytes;
using weir::core::Duration;

namespace {

RunRequest resolved(std::vector<GivenOption> options, bool simulated = true) {
    options.insert(options.begin(), {{"producers", "3"}, {"consumers", "4"}, {"generation", "steady"}});
    return resolve(options, simulated);
}

std::int64_t interval_ms(const std::string& duration) {
    return resolved({{"duration", duration}}).plan.row_interval.ns / 1'000'000;
}

}  // namespace

TEST_CASE("A run of less than 20 s has 20 to 100 rows, as far as rows of 10 ms allow it") {
    for (int milliseconds = 200; milliseconds < 20'000; milliseconds += 57) {
        const std::int64_t interval = interval_ms(std::to_string(milliseconds) + "ms");
        INFO(milliseconds << " ms in rows of " << interval << " ms");
        REQUIRE(interval > 0);
        const auto rows = static_cast<double>(milliseconds) / static_cast<double>(interval);
        CHECK(rows >= 20);
        CHECK(rows <= 100);
    }
    CHECK(interval_ms("1s") == 20);
    CHECK(interval_ms("10s") == 200);
    CHECK(interval_ms("100ms") == 10);
    CHECK(interval_ms("20ms") == 10);
    CHECK(interval_ms("19ms") == 0);
    CHECK(interval_ms("20s") == 0);
    CHECK(interval_ms("1h") == 0);
}

TEST_CASE("The value of an option stays, and differs from the default of a short run") {
    const RunRequest asked = resolved({{"duration", "1s"}, {"row-interval", "100ms"}});
    CHECK(asked.plan.row_interval == Duration::milliseconds(100));
    CHECK(asked.plan.row_interval_asked_for);
    CHECK_FALSE(resolved({{"duration", "1s"}}).plan.row_interval_asked_for);
    CHECK(resolved({{"duration", "1s"}, {"row-interval", "1s"}}).plan.row_interval == Duration{});
}

TEST_CASE("Rows of simulated switches follow") {
    const std::vector<GivenOption> packets{{"network", "packet"}, {"duration", "1s"}};
    CHECK(resolved(packets).packets.row_length == Duration::milliseconds(20));
    auto given = packets;
    given.push_back({"switch-rows", "1s"});
    CHECK(resolved(given).packets.row_length == Duration::seconds(1));
    given = packets;
    given[1].value = "30s";
    CHECK(resolved(given).packets.row_length == Duration::seconds(1));
}

TEST_CASE("Files stay bounded: not for many ranks, and not for more than 64 MiB") {
    const auto of = [](const char* producers, const char* consumers, const char* warmup) {
        const std::vector<GivenOption> options{{"producers", producers},
                                               {"consumers", consumers},
                                               {"generation", "steady"},
                                               {"duration", "1s"},
                                               {"warmup", warmup}};
        return resolve(options, true).plan;
    };
    CHECK(of("500", "499", "2s").row_interval == Duration::milliseconds(20));
    CHECK(of("500", "500", "2s").row_interval == Duration{});
    // A long warm-up has rows, too.
    const auto longer = of("500", "499", "25s");
    CHECK(longer.row_interval == Duration::milliseconds(40));
    CHECK(burst_need(longer).bytes <= Bytes{std::int64_t{64} << 20});
    CHECK(of("500", "499", "1h").row_interval == Duration{});
    // A measured run has it when its ranks are known.
    CHECK(resolve(std::vector<GivenOption>{{"duration", "1s"}}).plan.row_interval == Duration{});
}

}  // namespace config_row_interval_test_file
