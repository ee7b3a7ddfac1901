// How a rank waits: what is chosen for a host, and that a wait ends. Upper bounds of times are generous: the
// tests share their cores with others.
#include "host/idle.hpp"

#include <string>

#include "catch.hpp"
#include "host/common_clock.hpp"

using namespace weir::host;
using weir::core::Duration;

namespace {

template <typename Action>
Duration time_of(Action&& action) {
    const std::int64_t begin = monotonic_ns();
    action();
    return {monotonic_ns() - begin};
}

constexpr Duration very_long = Duration::seconds(60);
constexpr Duration long_time = Duration::seconds(30);

}  // namespace

TEST_CASE("Ranks spin while each has a core and nap when they have to share") {
    CHECK(choose_idle_mode(1, 1) == IdleMode::spin);
    CHECK(choose_idle_mode(8, 8) == IdleMode::spin);
    CHECK(choose_idle_mode(9, 8) == IdleMode::nap);
    CHECK(choose_idle_mode(87, 2) == IdleMode::nap);
    CHECK(choose_idle_mode(1, 0) == IdleMode::nap);
}

TEST_CASE("Naps grow with the ranks per core between two bounds") {
    CHECK(choose_nap(1, 8) == Duration::microseconds(20));
    CHECK(choose_nap(8, 2) == Duration::microseconds(20));
    CHECK(choose_nap(87, 2) == Duration::microseconds(215));
    CHECK(choose_nap(4500, 2) == Duration::microseconds(500));
    CHECK(choose_nap(8, 0) == Duration::microseconds(40));
}

TEST_CASE("Naps grow with the time for which nothing has come") {
    const IdleStrategy idle(IdleMode::nap, Duration::microseconds(20));
    CHECK(idle.nap_after(Duration{0}) == Duration::microseconds(20));
    CHECK(idle.nap_after(Duration::microseconds(5120)) == Duration::microseconds(20));
    CHECK(idle.nap_after(Duration::milliseconds(128)) == Duration::microseconds(500));
    CHECK(idle.nap_after(Duration::milliseconds(256)) == Duration::milliseconds(1));
    CHECK(idle.nap_after(Duration::milliseconds(512)) == Duration::milliseconds(2));
    CHECK(idle.nap_after(very_long) == Duration::milliseconds(2));
    const IdleStrategy asked(IdleMode::nap, Duration::milliseconds(5));
    CHECK(asked.nap_after(Duration{0}) == Duration::milliseconds(5));
    CHECK(asked.nap_after(very_long) == Duration::milliseconds(5));
}

TEST_CASE("A rank that finds nothing for long naps longer") {
    IdleStrategy idle(IdleMode::nap, Duration::microseconds(1));
    const std::int64_t begin = monotonic_ns();
    while (monotonic_ns() - begin < 300'000'000) {
        idle.wait(very_long);
    }
    CHECK(time_of([&] {
              for (int turn = 0; turn < 41; ++turn) {
                  idle.wait(very_long);
              }
          }) >= Duration::milliseconds(20));
}

TEST_CASE("After a nap a rank looks twice") {
    IdleStrategy idle(IdleMode::nap, Duration::milliseconds(5));
    int naps = 0;
    for (int turn = 0; turn < 13; ++turn) {
        naps += time_of([&] { idle.wait(very_long); }) >= Duration::milliseconds(5) ? 1 : 0;
    }
    // Three turns only yield; then every second one naps.
    CHECK(naps >= 5);
    CHECK(naps < 10);
}

TEST_CASE("Idle modes have names") {
    CHECK(std::string(idle_mode_name(IdleMode::spin)) == "spin");
    CHECK(std::string(idle_mode_name(IdleMode::yield)) == "yield");
    CHECK(std::string(idle_mode_name(IdleMode::nap)) == "nap");
}

TEST_CASE("Spinning and yielding never nap") {
    for (const IdleMode mode : {IdleMode::spin, IdleMode::yield}) {
        IdleStrategy idle(mode, very_long);
        CHECK(time_of([&] {
                  for (int turn = 0; turn < 20; ++turn) {
                      idle.wait(very_long);
                  }
              }) < long_time);
    }
}

TEST_CASE("The first empty turns only yield and work begins the count anew") {
    IdleStrategy idle(IdleMode::nap, very_long);
    CHECK(time_of([&] {
              for (int round = 0; round < 10; ++round) {
                  for (int turn = 0; turn < 3; ++turn) {
                      idle.wait(very_long);
                  }
                  idle.worked();
              }
          }) < long_time);
}

TEST_CASE("After several empty turns a rank naps") {
    IdleStrategy idle(IdleMode::nap, Duration::milliseconds(5));
    CHECK(time_of([&] {
              for (int turn = 0; turn < 13; ++turn) {
                  idle.wait(very_long);
              }
          }) >= Duration::milliseconds(25));
}

TEST_CASE("A patient rank yields for a while before its first nap, and again after work") {
    CHECK(choose_patience(3, 2) == Duration::milliseconds(1));
    CHECK(choose_patience(8, 2) == Duration::microseconds(250));
    CHECK(choose_patience(87, 2) == Duration::microseconds(23));
    CHECK(choose_patience(4500, 2) == Duration{0});
    IdleStrategy idle(IdleMode::nap, very_long, long_time);
    CHECK(time_of([&] {
              for (int turn = 0; turn < 100; ++turn) {
                  idle.wait(very_long);
              }
          }) < long_time);
    IdleStrategy brief(IdleMode::nap, Duration::milliseconds(20), Duration::milliseconds(5));
    for (int round = 0; round < 2; ++round) {
        int turns = 0;
        Duration took;
        for (; turns < 1000000 && took < Duration::milliseconds(15); ++turns) {
            took = time_of([&] { brief.wait(very_long); });
        }
        CHECK(turns < 1000000);
        brief.worked();
    }
}

TEST_CASE("A nap ends at the deadline and one that has passed is not waited for") {
    IdleStrategy idle(IdleMode::nap, very_long);
    CHECK(time_of([&] {
              for (int turn = 0; turn < 8; ++turn) {
                  idle.wait(Duration::milliseconds(1));
              }
              for (int turn = 0; turn < 8; ++turn) {
                  idle.wait(Duration{0});
                  idle.wait(Duration::seconds(-5));
              }
          }) < long_time);
}
