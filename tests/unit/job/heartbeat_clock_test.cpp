// A rank's clock that drifts, followed by heartbeats over a simulated network: true time is known.
#include "job/clocks.hpp"

#include <cmath>
#include <functional>
#include <random>

#include "catch.hpp"

using namespace weir::host;
using namespace weir::job;
using weir::core::Instant;

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t s = 1'000'000'000;
constexpr int rank = 1;

/// The scheduler's clock is true time; the rank's runs ahead by `offset_ns(true time)`.
struct World {
    std::function<double(double true_s)> offset_ns = {};
    std::function<std::int64_t(bool to_scheduler)> delay_ns = {};
    std::int64_t start_error_ns = 5'000;
    std::int64_t mistake_ns = 0;  ///< of the offset that was measured at the start
    bool same_clock = false;
    std::int64_t begin_ns = 1'000 * s;
    std::int64_t to_scheduler_period_ns = 200 * ms;
    std::int64_t from_scheduler_period_ns = 100 * ms;

    [[nodiscard]] std::int64_t local(std::int64_t true_ns) const {
        return true_ns + std::llround(offset_ns(static_cast<double>(true_ns - begin_ns) * 1e-9));
    }
};

struct Outcome {
    double worst_ns = 0;  ///< how far the common clock really was from the scheduler's
    std::int64_t bound_ns = 0;
    double late_worst_ns = 0;  ///< worst_ns of the second half
    bool went_back = false;
    double least_rate = 1e9;
    double largest_rate = 0;
};

/// Plays `duration_s` in steps of a millisecond; each heartbeat arrives after its delay.
Outcome play(const World& world, int duration_s) {
    const std::int64_t local_begin = world.local(world.begin_ns);
    const ClockOffset measured{local_begin - world.begin_ns + world.mistake_ns, world.start_error_ns};
    // Second 0 is when the world begins, by the scheduler's clock.
    HeartbeatClock scheduler(CommonClock(world.begin_ns), 2);
    HeartbeatClock follower(CommonClock(world.begin_ns + measured.offset_ns), measured, local_begin,
                            world.same_clock);
    struct Flight {
        std::int64_t arrives_ns;
        weir::core::Heartbeat message;
        bool to_scheduler;
    };
    std::vector<Flight> flying;
    Outcome outcome;
    Instant before{std::numeric_limits<std::int64_t>::min()};
    std::int64_t local_before = 0;
    for (std::int64_t at = 0; at < duration_s * s; at += ms) {
        const std::int64_t true_ns = world.begin_ns + at;
        const auto send = [&](bool to_scheduler) {
            weir::core::Heartbeat message{};
            (to_scheduler ? follower : scheduler)
                .stamp(message, to_scheduler ? 0 : rank, to_scheduler ? world.local(true_ns) : true_ns);
            flying.push_back({true_ns + world.delay_ns(to_scheduler), message, to_scheduler});
        };
        if (at % world.to_scheduler_period_ns == 0) {
            send(true);
        }
        if (at % world.from_scheduler_period_ns == 0) {
            send(false);
        }
        for (std::size_t i = 0; i < flying.size();) {
            if (flying[i].arrives_ns > true_ns) {
                ++i;
                continue;
            }
            const Flight flight = flying[i];
            flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(i));
            if (flight.to_scheduler) {
                scheduler.receive(flight.message, rank, flight.arrives_ns);
            } else {
                follower.receive(flight.message, 0, std::max(local_before, world.local(flight.arrives_ns)));
            }
        }
        const std::int64_t local = world.local(true_ns);
        const Instant now = follower.clock().at(local);
        outcome.went_back |= now < before;
        if (local_before != 0) {
            const double rate =
                static_cast<double>((now - before).ns) / static_cast<double>(local - local_before);
            outcome.least_rate = std::min(outcome.least_rate, rate);
            outcome.largest_rate = std::max(outcome.largest_rate, rate);
        }
        before = now;
        local_before = local;
        const double wrong = std::abs(static_cast<double>(now.ns - at));
        outcome.worst_ns = std::max(outcome.worst_ns, wrong);
        if (at > duration_s * s / 2) {
            outcome.late_worst_ns = std::max(outcome.late_worst_ns, wrong);
        }
    }
    outcome.bound_ns = follower.worst_error_ns();
    return outcome;
}

/// Mostly short, now and then a hundred times as long.
std::function<std::int64_t(bool)> delays(std::int64_t there_ns, std::int64_t back_ns, std::uint64_t seed) {
    return [=, random = std::mt19937_64(seed)](bool to_scheduler) mutable {
        const std::int64_t least = to_scheduler ? there_ns : back_ns;
        const auto share = static_cast<double>(random() % 1000) / 1000;
        return least + static_cast<std::int64_t>(static_cast<double>(least) * share * share) +
               (random() % 20 == 0 ? 100 * least : 0);
    };
}

}  // namespace

TEST_CASE("A clock that gains 20 ppm for an hour is followed, where it would be 72 ms off") {
    World world{.offset_ns = [](double t) { return 7e12 + 20e-6 * t * 1e9; },
                .delay_ns = delays(10'000, 10'000, 1)};
    const Outcome outcome = play(world, 3600);
    CHECK(outcome.worst_ns < 100'000);
    CHECK(outcome.late_worst_ns < 25'000);
    CHECK(outcome.worst_ns <= static_cast<double>(outcome.bound_ns));
    CHECK(outcome.bound_ns < 200'000);
    CHECK_FALSE(outcome.went_back);
}

TEST_CASE("Whatever the clock does within its limits, the stated error bounds the true one") {
    const auto [ppm, turning_s] = GENERATE(table<double, double>(
        {{-180.0, 0.0}, {-50.0, 0.0}, {0.0, 0.0}, {3.0, 600.0}, {20.0, 1500.0}, {180.0, 0.0}}));
    const auto [there_us, back_us] = GENERATE(table<int, int>({{5, 5}, {20, 400}, {400, 20}, {2000, 3000}}));
    const double amplitude = ppm * 1e-6 * 1e9;
    World world;
    world.delay_ns = delays(there_us * 1000, back_us * 1000, 42);
    world.start_error_ns = (there_us + back_us) * 1000;
    world.mistake_ns = (there_us - back_us) * 500;
    world.offset_ns = [amplitude, turning_s = turning_s](double t) {
        // Turning: the rate goes from +ppm to -ppm and back, by less than 0.05 ppm a second.
        return -3e12 +
               (turning_s > 0 ? amplitude * turning_s / 3.2 * std::sin(t * 3.2 / turning_s) : amplitude * t);
    };
    const Outcome outcome = play(world, 300);
    CAPTURE(ppm, turning_s, there_us, back_us, outcome.worst_ns, outcome.late_worst_ns, outcome.bound_ns);
    CHECK(outcome.worst_ns <= static_cast<double>(outcome.bound_ns));
    // And the bound is tight: the delays, and what the clocks can drift apart between heartbeats.
    CHECK(outcome.bound_ns < 2'000 * (there_us + back_us) + 200'000);
    CHECK_FALSE(outcome.went_back);
    CHECK(outcome.least_rate > 1 - 0.0025);
    CHECK(outcome.largest_rate < 1 + 0.0025);
}

TEST_CASE("Clocks that are declared one and are not are detected") {
    World world{.offset_ns = [](double t) { return 100e-6 * t * 1e9; },
                .delay_ns = delays(10'000, 10'000, 3)};
    world.same_clock = true;
    const Outcome outcome = play(world, 60);
    CHECK(outcome.late_worst_ns < 150'000);
    CHECK_FALSE(outcome.went_back);
}

TEST_CASE("One clock for both ranks stays as exact as it was measured") {
    World world{.offset_ns = [](double) { return 0.0; }, .delay_ns = delays(300'000, 900'000, 5)};
    world.same_clock = true;
    CHECK(play(world, 60).bound_ns <= world.start_error_ns);
}

TEST_CASE("A clock that jumps is followed again, and the bound shows the jump") {
    World world{.offset_ns = [](double t) { return t < 10 ? 0.0 : 5e6; },
                .delay_ns = delays(10'000, 10'000, 7)};
    const Outcome outcome = play(world, 60);
    CHECK(outcome.bound_ns >= 4'900'000);
    CHECK(outcome.late_worst_ns < 200'000);
    CHECK_FALSE(outcome.went_back);
}

TEST_CASE("Heartbeats far apart, as with thousands of ranks, are enough") {
    World world{.offset_ns = [](double t) { return 50e-6 * t * 1e9; }, .delay_ns = delays(50'000, 50'000, 9)};
    world.to_scheduler_period_ns = world.from_scheduler_period_ns = 1125 * ms;
    const Outcome outcome = play(world, 300);
    CHECK(outcome.worst_ns <= static_cast<double>(outcome.bound_ns));
    CHECK(outcome.bound_ns < 1'000'000);
}

TEST_CASE("How long heartbeats take is known in each direction") {
    // The rank's clock is 1 s ahead; a heartbeat takes 20 ms to the leader, and 1 ms from it.
    HeartbeatClock leader(CommonClock(0), 2);
    HeartbeatClock follower(CommonClock(s), {s, 1000}, s, true);
    weir::record::HeartbeatDelays delays;
    for (std::int64_t at = 0; at < 10 * s; at += 200 * ms) {
        weir::core::Heartbeat there{};
        follower.stamp(there, 0, s + at);
        leader.receive(there, rank, at + 20 * ms);
        for (const std::int64_t later : {100 * ms, 150 * ms}) {  // reports the same one twice
            weir::core::Heartbeat back{};
            leader.stamp(back, rank, at + later);
            delays += follower.receive(back, 0, s + at + later + ms);
        }
    }
    // To a factor of two, for what lies in a bucket is not known apart.
    CHECK(delays.to_leader.upper_quartile().in_microseconds() > 16'000);
    CHECK(delays.to_leader.upper_quartile().in_microseconds() < 33'000);
    CHECK(delays.from_leader.median().in_microseconds() > 500);
    CHECK(delays.from_leader.median().in_microseconds() < 2'100);
}

TEST_CASE("Nonsense in a heartbeat does no harm but to the clock") {
    HeartbeatClock follower(CommonClock(0), {0, 1000}, 0, false);
    weir::core::Heartbeat nonsense{};
    for (const std::int64_t value :
         {std::int64_t{1}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
        nonsense.left_ns = nonsense.other_left_ns = nonsense.other_arrived_ns = value;
        follower.receive(nonsense, 0, 1000);
        nonsense.other_arrived_ns = ~value;
        follower.receive(nonsense, 0, 2000);
    }
    CHECK(follower.clock().at(3000) >= follower.clock().at(2000));
}
