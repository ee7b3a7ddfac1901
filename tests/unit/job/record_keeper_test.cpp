// What the keeper of run.json concludes from what it finds. That it finds it: tests/mpi/failures.py.
#include "job/record_keeper.hpp"

#include <csignal>

#include "catch.hpp"

using namespace weir;
using namespace weir::job;

namespace {

constexpr std::int64_t second = 1'000'000'000;

show::Failure of(const char* what) {
    return {.what = what};
}

EndWitness witness() {
    return EndWitness(of("leader"));
}

}  // namespace

TEST_CASE("The leader is the cause if nothing else was seen") {
    const EndWitness::End end = witness().end(0);
    CHECK(end.status == show::RunStatus::failed);
    CHECK(end.failure.what == "leader");
}

TEST_CASE("The process that ended first is the cause, whatever its end brought about") {
    EndWitness seen = witness();
    seen.process_gone(0, of("first"));
    seen.signal(SIGTERM);
    seen.process_gone(second, of("second"));
    seen.launcher_gone(second, of("launcher"));
    CHECK(seen.end(second).failure.what == "first");
    CHECK(seen.end(second).status == show::RunStatus::failed);
}

TEST_CASE("Where several end at once, the first is named, and how many more there are") {
    EndWitness seen = witness();
    seen.process_gone(0, of("first"));
    seen.process_gone(EndWitness::at_once_ns, of("second"));
    seen.process_gone(EndWitness::at_once_ns + 1, of("third"));
    CHECK(seen.end(second).failure.what ==
          "first (1 more ended within 50 ms of it: it may have been one of these)");
}

TEST_CASE("Where the leader ends at once with a rank, that may have been it") {
    EndWitness seen = witness();
    seen.process_gone(0, of("first"));
    seen.leader_gone(EndWitness::at_once_ns);
    seen.leader_gone(EndWitness::at_once_ns);
    CHECK(seen.end(second).failure.what.starts_with("first (1 more ended within 50 ms"));
    EndWitness later = witness();
    later.process_gone(0, of("first"));
    later.leader_gone(EndWitness::at_once_ns + 1);
    CHECK(later.end(second).failure.what == "first");
}

TEST_CASE("What ends after the leader is not the cause, but counts among those that ended with it") {
    EndWitness seen = witness();
    seen.leader_gone(0);
    seen.process_gone(1, of("later"));
    CHECK(seen.end(1).failure.what.starts_with("leader (1 more ended within 50 ms"));
    seen.signal(SIGTERM);  // was sent before it ended
    CHECK(seen.end(1).status == show::RunStatus::interrupted);
}

TEST_CASE("Processes that end after a signal are not the cause") {
    EndWitness seen = witness();
    seen.signal(SIGTERM);
    seen.signal(SIGHUP);
    seen.process_gone(0, of("first"));
    CHECK(seen.end(60 * second).failure.what.starts_with("signal 15 ("));
    CHECK(seen.end(60 * second).status == show::RunStatus::interrupted);
}

TEST_CASE("Nor are those that end after the launcher") {
    EndWitness seen = witness();
    seen.launcher_gone(0, of("launcher"));
    seen.process_gone(0, of("first"));
    CHECK(seen.end(second).failure.what == "launcher");
    CHECK(seen.end(second).status == show::RunStatus::interrupted);
}

TEST_CASE("What the run went on without is not the cause of its end") {
    EndWitness seen = witness();
    seen.launcher_gone(0, of("launcher"));
    CHECK(seen.end(EndWitness::stale_after_ns + 1).failure.what == "leader");
    seen.process_gone(EndWitness::stale_after_ns + 1, of("later"));
    CHECK(seen.end(EndWitness::stale_after_ns + second).failure.what == "later");
}

TEST_CASE("What the leader has reported counts most") {
    EndWitness seen = witness();
    seen.process_gone(0, of("first"));
    seen.told("no progress");
    CHECK(seen.end(0).failure.what == "no progress");
}
