// Units: exact conversions between rates, times and bytes, far beyond the largest run.
#include "core/units.hpp"

#include "catch.hpp"
#include "core/random.hpp"

using namespace weir::core;

namespace {

constexpr std::int64_t tera = 1'000'000'000'000;
constexpr Duration ten_days = Duration::seconds(10 * 86400);

}  // namespace

TEST_CASE("Bytes of a rate and a time are rounded down") {
    CHECK(bytes_in({8}, Duration::seconds(1)) == Bytes{1});
    CHECK(bytes_in({8}, Duration{999'999'999}) == Bytes{0});
    CHECK(bytes_in({100'000'000'000}, Duration::seconds(1)) == Bytes{12'500'000'000});
    CHECK(bytes_in({85'800'000'000}, Duration::milliseconds(1)) == Bytes{10'725'000});
    CHECK(bytes_in({0}, Duration::seconds(1)) == Bytes{0});
    CHECK(bytes_in({7}, Duration::seconds(8)) == Bytes{7});
}

TEST_CASE("Days at 32 terabits per second do not overflow") {
    CHECK(bytes_in({32 * tera}, ten_days) == Bytes{4 * tera * 10 * 86400});
    CHECK(time_for({32 * tera}, Bytes{4 * tera * 10 * 86400}) == ten_days);
    // The slowest rate for the longest time that fits: a petabyte at 1 Mb/s takes 253 years.
    CHECK(time_for({1'000'000}, Bytes{1000 * tera}) == Duration::seconds(8'000'000'000));
}

TEST_CASE("The time for some bytes is the first at which they are there") {
    Random random(5, 6);
    for (int round = 0; round < 20000; ++round) {
        // All orders of magnitude: 1 b/s to 32 Tb/s, 1 byte to 1 TB.
        const BitRate rate{1 + static_cast<std::int64_t>(random.below(1ULL << random.below(45)))};
        const Bytes bytes{1 + static_cast<std::int64_t>(random.below(1ULL << random.below(30)))};
        const Duration time = time_for(rate, bytes);
        if (bytes_in(rate, time) < bytes || bytes_in(rate, time - Duration{1}) >= bytes) {
            FAIL("rate " << rate.bits_per_second << " b/s, " << bytes.count << " bytes");
        }
    }
    CHECK(time_for({8}, Bytes{0}) == Duration{0});
}

TEST_CASE("Instants and durations add up in nanoseconds") {
    CHECK(Duration::seconds(2) == Duration::milliseconds(2000));
    CHECK(Duration::milliseconds(3) == Duration::microseconds(3000));
    CHECK(Duration::microseconds(4) == Duration::nanoseconds(4000));
    CHECK(Duration::milliseconds(2) * 3 == Duration::milliseconds(6));
    CHECK(Duration::milliseconds(1500).in_seconds() == Approx(1.5));
    CHECK(Duration{1500}.in_microseconds() == Approx(1.5));

    constexpr Instant zero{};
    const Instant before = zero - Duration::seconds(3);
    CHECK(before < zero);
    CHECK(zero - before == Duration::seconds(3));
    CHECK(before + Duration::seconds(3) == zero);
    CHECK(Instant::never() > zero + Duration::seconds(100LL * 365 * 86400));

    Duration sum = Duration::seconds(1);
    sum += Duration::milliseconds(500);
    sum -= Duration::milliseconds(1);
    CHECK(sum == Duration::milliseconds(1499));
}

TEST_CASE("Bytes add up and compare") {
    Bytes sum{5};
    sum += Bytes{7};
    sum -= Bytes{2};
    CHECK(sum == Bytes{10});
    CHECK(Bytes{3} * 4 - Bytes{2} == sum);
    CHECK(Bytes{-1} < Bytes{0});
}

TEST_CASE("Periods are counted downwards, also before 0") {
    constexpr Duration period = Duration::nanoseconds(10);
    CHECK(periods_until(Instant{19}, period) == 1);
    CHECK(periods_until(Instant{0}, period) == 0);
    CHECK(periods_until(Instant{-1}, period) == -1);
    CHECK(periods_until(Instant{-10}, period) == -1);
    CHECK(periods_until(Instant{-11}, period) == -2);
    CHECK(next_multiple(Instant{19}, period) == Instant{20});
    CHECK(next_multiple(Instant{20}, period) == Instant{30});
    CHECK(next_multiple(Instant{-10}, period) == Instant{0});
    CHECK(next_multiple(Instant{-1}, period) == Instant{0});
}
