// The common clock and the bound of its error.
#include "catch.hpp"
#include "host/common_clock.hpp"
#include "job/clocks.hpp"

using namespace weir::host;
using namespace weir::job;

TEST_CASE("The common clock counts from second zero") {
    const std::int64_t before = monotonic_ns();
    const CommonClock ahead(before + 1'000'000'000);
    const weir::core::Instant now = ahead.now();
    CHECK(now.ns >= -1'000'000'000);
    CHECK(now.ns <= monotonic_ns() - before - 1'000'000'000);
    CHECK(ahead.second_zero_ns() == before + 1'000'000'000);
    CHECK(ahead.now() >= now);
}

TEST_CASE("The wall clock is in this century") {
    CHECK(wall_clock_ns() > std::int64_t{1'700'000'000} * 1'000'000'000);
}

TEST_CASE("The common clock is steered without a jump, to the wanted correction") {
    CommonClock clock(1000);
    const auto before = clock.at(2'000'000);
    clock.steer(2'000'000, 500'000, 0, 1e9);
    CHECK(clock.at(2'000'000) == before);
    CHECK(clock.at(2'000'000 + 1'000'000'000).ns == 2'000'000 + 1'000'000'000 - 1000 - 500'000);
    // A clock that is ahead is held back, never set back; one behind hurries as little.
    clock.steer(1'002'000'000, 1e9, 0, 1e9);
    CHECK(clock.at(2'002'000'000) - clock.at(1'002'000'000) == weir::core::Duration{998'000'000});
    clock.steer(2'002'000'000, -1e9, 0, 1e9);
    CHECK(clock.at(3'002'000'000) - clock.at(2'002'000'000) == weir::core::Duration{1'002'000'000});
}

TEST_CASE("a clock that gains 300 ns in 10 ms is 30 parts per million fast, as exactly as it was measured") {
    const ClockDrift drift = clock_drift({1000, 20}, {1300, 10}, 10'000'000);
    CHECK(std::abs(drift.ppm - 30) < 1e-9);
    CHECK(std::abs(drift.error_ppm - 3) < 1e-9);
    CHECK(clock_drift({0, 0}, {-100, 0}, 1'000'000'000).ppm < 0);
}
