// What a rank does with its own process: signals, watchdog, burning processor time, the text of a rank, rows
// that cannot be written. Where the end of a process is the behaviour, a forked child shows it.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>

#include "catch.hpp"
#include "host/common_clock.hpp"
#include "host/cpu_burner.hpp"
#include "host/process.hpp"
#include "host/signals.hpp"
#include "in_child.hpp"
#include "job/run_settings.hpp"
#include "job/watchdog.hpp"
#include "participant/rank_node.hpp"

using namespace weir::core;
using namespace weir::participant;
using namespace weir::host;
using namespace weir::job;

namespace {

Duration processor_time() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return Duration::seconds(time.tv_sec) + Duration{time.tv_nsec};
}

}  // namespace

TEST_CASE("The first signal to end is kept") {
    CHECK(in_child([] {
              install_signal_handlers();
              if (caught_signal() != 0) {
                  return 100;
              }
              raise(SIGPIPE);  // ignored, as is a file that may not grow: both show as write errors
              raise(SIGXFSZ);
              if (caught_signal() != 0) {
                  return 101;
              }
              raise(SIGTERM);
              raise(SIGINT);
              return caught_signal();
          }).status == SIGTERM);
    CHECK(in_child([] {
              install_signal_handlers();
              raise(SIGHUP);
              return caught_signal();
          }).status == SIGHUP);
}

TEST_CASE("The watchdog ends a process that makes no progress and prints its phase") {
    const ChildEnd end = in_child([] {
        Watchdog watchdog("weir run", "rank 7 (consumer 3 on eb07)");
        watchdog.enter("measurement", Duration::milliseconds(150), "look there");
        sleep(60);
        return 0;
    });
    CHECK(end.status == 1);
    CHECK(end.said.find("rank 7 (consumer 3 on eb07)") != std::string::npos);
    CHECK(end.said.find("'measurement'") != std::string::npos);
    CHECK(end.said.starts_with("weir run: "));
    CHECK(end.said.find("; look there\n") != std::string::npos);
}

TEST_CASE("The watchdog prints what the process was waiting for, as long as an explanation is set") {
    const auto said_with = [](bool forgotten) {
        return in_child([forgotten] {
                   Watchdog watchdog("weir run", "rank 2");
                   watchdog.set_explanation([] { return std::string("waiting for rank 7"); });
                   if (forgotten) {
                       watchdog.set_explanation({});
                   }
                   watchdog.enter("measurement", Duration::milliseconds(150));
                   sleep(60);
                   return 0;
               })
            .said;
    };
    CHECK(said_with(false).find("in phase 'measurement', waiting for rank 7 and ends the job") !=
          std::string::npos);
    CHECK(said_with(true).find("in phase 'measurement' and ends the job") != std::string::npos);
}

TEST_CASE("A watchdog that gets signs of life does not end the process") {
    const ChildEnd end = in_child([] {
        Watchdog watchdog("weir run", "rank 7");
        watchdog.enter("measurement", Duration::milliseconds(900));
        for (int sign = 0; sign < 120; ++sign) {
            usleep(10000);
            watchdog.alive();
        }
        return 42;
    });
    CHECK(end.status == 42);
    CHECK(end.said.empty());
}

TEST_CASE("Processor time is burnt while and only while it is asked for") {
    CpuBurner burner;
    const Duration before = processor_time();
    burner.set(true);
    burner.set(true);
    const std::int64_t deadline = monotonic_ns() + Duration::seconds(30).ns;
    while (processor_time() - before < Duration::milliseconds(20) && monotonic_ns() < deadline) {
        usleep(1000);
    }
    CHECK(processor_time() - before >= Duration::milliseconds(20));
    burner.set(false);
    usleep(20000);
    const Duration stopped = processor_time();
    usleep(100000);
    CHECK(processor_time() - stopped < Duration::milliseconds(50));
    burner.set(true);  // the destructor ends it
}

TEST_CASE("A rank is named with its part and host") {
    RunSettings settings;
    settings.roles =
        RoleMap({{Role::consumer, 1}, scheduler_node(), {Role::producer, 0}, {Role::consumer, 0}});
    settings.set_locations({{"eb07", 1, {}, 0}, {"eb00", 2, {}, 0}, {"eb01", 3, {}, 0}, {"eb06", 4, {}, 0}});
    CHECK(rank_text(settings, 0) == "rank 0 (consumer 1 on eb07)");
    CHECK(rank_text(settings, 1) == "rank 1 (scheduler on eb00)");
    CHECK(rank_text(settings, 2) == "rank 2 (producer 0 on eb01)");
}

TEST_CASE("A row that cannot be logged is still reported and the error kept") {
    weir::record::CsvLog log;
    REQUIRE(log.open("/dev/full", Role::consumer, {}));
    int reports = 0;
    RowOutput output(&log, [&](const weir::record::LiveSample&) { ++reports; });
    CHECK_FALSE(output.error());
    output.put(weir::record::ConsumerRow{}, {});
    output.put(weir::record::ConsumerRow{}, {});
    CHECK(reports == 2);
    REQUIRE(output.error());
    CHECK(output.error()->message() == "cannot write /dev/full: No space left on device");
}

TEST_CASE("No colours where they are not wanted") {
    CHECK(in_child([] {
              setenv("TERM", "xterm", 1);
              setenv("NO_COLOR", "1", 1);
              return colours_wanted() ? 1 : 0;
          }).status == 0);
    CHECK(in_child([] {
              unsetenv("NO_COLOR");
              setenv("TERM", "dumb", 1);
              return colours_wanted() ? 1 : 0;
          }).status == 0);
}
