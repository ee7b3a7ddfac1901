#include "core/producer_parts.hpp"

#include "catch.hpp"

using namespace weir::core;

namespace {

Instant at_us(std::int64_t us) {
    return Instant{} + Duration::microseconds(us);
}

Shaping bucket() {
    Shaping shaping;
    shaping.kind = ShapingKind::bucket;
    shaping.rate = {8000000};  // a byte per microsecond
    shaping.burst = {100};
    return shaping;
}

Shaping in_step() {
    Shaping shaping;
    shaping.kind = ShapingKind::in_step;
    shaping.grid = Duration::microseconds(10);
    shaping.tick = Duration::microseconds(50);
    return shaping;
}

}  // namespace

TEST_CASE("Without shaping every chunk may go at once") {
    Pacer pacer({});
    CHECK_FALSE(pacer.shapes());
    CHECK(pacer.ready_at({1000}) < at_us(-1000000));
    CHECK(pacer.spend(at_us(3), {1000}) == at_us(3));
}

TEST_CASE("A bucket lets its burst through, then the rate") {
    Pacer pacer(bucket());
    pacer.spend(at_us(0), {60});
    CHECK(pacer.ready_at({40}) <= at_us(0));
    pacer.spend(at_us(0), {40});
    CHECK(pacer.ready_at({40}) == at_us(40));
    pacer.spend(at_us(40), {40});
    CHECK(pacer.ready_at({10}) == at_us(50));
    CHECK(pacer.ready_at({100}) == at_us(140));
}

TEST_CASE("A bucket that was left alone is full, and not more than full") {
    Pacer pacer(bucket());
    pacer.spend(at_us(0), {100});
    CHECK(pacer.spend(at_us(100000), {100}) <= at_us(100000));
    CHECK(pacer.ready_at({1}) == at_us(100001));
}

TEST_CASE("A chunk larger than the bucket goes when it is full and leaves a debt") {
    Pacer pacer(bucket());
    pacer.spend(at_us(0), {300});
    CHECK(pacer.ready_at({300}) == at_us(300));
    CHECK(pacer.ready_at({50}) == at_us(250));
}

TEST_CASE("A bucket does not drift, however late its chunks go") {
    Pacer pacer(bucket());
    Instant now = at_us(0);
    for (int chunk = 0; chunk < 1000; ++chunk) {
        const Instant ready = pacer.ready_at({7});
        now = std::max(now, ready) + Duration{chunk % 3 * 1000};  // up to 2 us late
        pacer.spend(now, {7});
    }
    // 7000 bytes, 100 of them in the burst.
    CHECK(now >= at_us(6900 - 7));
    CHECK(now <= at_us(6900 + 3));
}

TEST_CASE("In step, the grid begins with a tick and ends before the next") {
    Pacer pacer(in_step());
    CHECK(pacer.ready_at({1}) == Instant::never());
    pacer.on_tick(at_us(1003), 20);
    for (int point = 0; point < 5; ++point) {
        const Instant due = at_us(1003 + 10 * point);
        CHECK(pacer.ready_at({1}) == due);
        CHECK(pacer.spend(due, {1}) == due);
    }
    CHECK(pacer.ready_at({1}) == Instant::never());
    pacer.on_tick(at_us(1051), 21);  // early: its clock runs fast
    CHECK(pacer.ready_at({1}) == at_us(1051));
}

TEST_CASE("In step, who was held up catches up, and who had nothing to send does not") {
    Pacer pacer(in_step());
    pacer.on_tick(at_us(0), 0);
    CHECK(pacer.spend(at_us(0), {1}) == at_us(0));
    // Held up until 35 us: three chunks are overdue.
    CHECK(pacer.spend(at_us(35), {1}) == at_us(10));
    CHECK(pacer.spend(at_us(35), {1}) == at_us(20));
    CHECK(pacer.spend(at_us(35), {1}) == at_us(30));
    CHECK(pacer.ready_at({1}) == at_us(40));
    pacer.on_tick(at_us(50), 1);
    pacer.skip_until(at_us(72));
    CHECK(pacer.ready_at({1}) == at_us(80));
    pacer.skip_until(at_us(500));
    CHECK(pacer.ready_at({1}) == Instant::never());
    pacer.on_tick(at_us(100), 2);
    CHECK(pacer.ready_at({1}) == at_us(100));
}

TEST_CASE("In step, a clock that drifts shifts the points of the grid until the next tick") {
    Shaping shaping = in_step();
    shaping.grid = Duration::milliseconds(10);
    shaping.tick = Duration::milliseconds(50);
    for (const std::int64_t ppm : {-100, 100}) {
        INFO(ppm);
        Pacer pacer(shaping);
        pacer.set_clock_error(ppm * 1000);
        for (std::int64_t tick = 0; tick < 3; ++tick) {
            const Instant begin = at_us(50000 * tick);
            pacer.on_tick(begin, tick);
            for (std::int64_t point = 0; point < 5; ++point) {
                const Instant due = begin + Duration::microseconds(10000 * point);
                const Instant ready = pacer.ready_at({1});
                // A slow clock is late: 1 us after 10 ms.
                const std::int64_t late_ns = (ready - due).ns;
                CHECK(std::abs(late_ns + ppm * 10 * point) <= 1);
                CHECK(pacer.spend(ready, {1}) == due);
            }
            CHECK(pacer.ready_at({1}) == Instant::never());
        }
        // Nothing is made up for that was not missed by this clock.
        pacer.on_tick(at_us(200000), 4);
        pacer.skip_until(at_us(220000));
        CHECK(std::abs((pacer.ready_at({1}) - at_us(ppm < 0 ? 220000 : 230000)).ns) <= 3000);
    }
}
