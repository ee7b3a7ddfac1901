// Which processes still exist, by processes that really end.
#include "host/process_watch.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "host/common_clock.hpp"

using namespace weir::core;
using namespace weir::host;

namespace {

/// A process that does nothing until it is killed.
class Child {
  public:
    Child() : pid_(fork()) {
        if (pid_ == 0) {
            while (true) {
                pause();
            }
        }
        REQUIRE(pid_ > 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        kill_it();
        collect();
    }

    [[nodiscard]] pid_t pid() const { return pid_; }
    void kill_it() const {
        if (!collected_) {
            kill(pid_, SIGKILL);
        }
    }
    void collect() {
        if (!collected_) {
            waitpid(pid_, nullptr, 0);
            collected_ = true;
        }
    }

  private:
    pid_t pid_;
    bool collected_ = false;
};

/// Asks until the answer is yes, at most for 10 s: a kill takes its time.
template <typename Question>
bool soon(Question&& question) {
    const std::int64_t deadline = monotonic_ns() + Duration::seconds(10).ns;
    while (!question()) {
        if (monotonic_ns() > deadline) {
            return false;
        }
        usleep(1000);
    }
    return true;
}

}  // namespace

TEST_CASE("A killed process is gone although its parent has not collected it") {
    Child living;
    Child killed;
    const std::vector<RankLocation> locations = {
        {"here", getpid(), {}, 0}, {"here", living.pid(), {}, 0}, {"here", killed.pid(), {}, 0}};
    ProcessWatch watch(locations, 0);
    CHECK_FALSE(watch.gone());
    CHECK_FALSE(watch.next_gone());
    CHECK_FALSE(watch.next_gone());
    CHECK(watch.ranks() == std::vector<int>{1, 2});

    killed.kill_it();
    CHECK(soon([&] { return watch.gone() == 2; }));  // a zombie now
    // Looking at one rank at a time, one of two looks finds it.
    const auto first = watch.next_gone();
    const auto second = watch.next_gone();
    CHECK((first == 2 || second == 2));
    CHECK_FALSE((first && second));

    killed.collect();
    CHECK(watch.gone() == 2);
}

TEST_CASE("Processes are watched on this host only and only if they exist") {
    Child killed;
    Child collected;
    collected.kill_it();
    collected.collect();
    const std::vector<RankLocation> locations = {
        {"here", getpid(), {}, 0}, {"there", killed.pid(), {}, 0}, {"here", collected.pid(), {}, 0}};
    ProcessWatch watch(locations, 0);
    CHECK(watch.ranks().empty());
    killed.kill_it();
    killed.collect();
    CHECK_FALSE(watch.gone());
    CHECK_FALSE(watch.next_gone());
}

TEST_CASE("A rank's process is dropped, and another one watched in its place") {
    Child first;
    Child second;
    ProcessWatch watch({{"here", getpid(), {}, 0}, {"here", first.pid(), {}, 0}}, 0);
    watch.forget(1);
    first.kill_it();
    first.collect();
    CHECK(watch.ranks().empty());
    CHECK_FALSE(watch.gone());
    watch.watch(1, second.pid());
    CHECK(watch.ranks() == std::vector<int>{1});
    CHECK_FALSE(watch.gone());
    second.kill_it();
    CHECK(soon([&] { return watch.gone() == 1; }));
    second.collect();
}

TEST_CASE("A process number of another boot or namespace is not watched here") {
    Child stranger;
    const auto location = [](std::int64_t pid, const char* boot, const char* space) {
        return RankLocation{.host = "here", .pid = pid, .boot = boot, .pid_namespace = space};
    };
    const auto watched = [&](const char* boot, const char* space) {
        return ProcessWatch({location(getpid(), "b1", "pid:[1]"), location(stranger.pid(), boot, space)}, 0)
            .ranks();
    };
    CHECK(watched("b1", "pid:[1]") == std::vector<int>{1});
    CHECK(watched("b2", "pid:[1]").empty());
    CHECK(watched("b1", "pid:[2]").empty());
}

TEST_CASE("A process is not gone because no descriptor is left to look at it") {
    Child child;
    ProcessWatch watch({{"here", getpid(), {}, 0}, {"here", child.pid(), {}, 0}}, 0);
    REQUIRE(watch.ranks() == std::vector<int>{1});
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto gone = watch.gone();
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK_FALSE(gone);
}

TEST_CASE("A number that no process can have is not watched") {
    ProcessWatch watch({{"here", getpid(), {}, 0}, {"here", 4294967297, {}, 0}, {"here", -1, {}, 0}}, 0);
    CHECK(watch.ranks().empty());
}

TEST_CASE("Kills for want of memory are counted by the kernel, and nothing is said without one") {
    const std::string path = "process_watch_test_vmstat";
    std::ofstream(path) << "nr_free_pages 1000\noom_kill 3\nnuma_hit 7\n";
    CHECK(ProcessWatch::memory_kills(path) == 3);
    std::ofstream(path) << "nr_free_pages 1000\n";
    CHECK(ProcessWatch::memory_kills(path) == 0);
    std::remove(path.c_str());
    CHECK(ProcessWatch::memory_kills(path) == 0);
    // Of a rank on another host nothing is known.
    CHECK(ProcessWatch({RankLocation{}}, 0).why_gone(1).empty());
}
