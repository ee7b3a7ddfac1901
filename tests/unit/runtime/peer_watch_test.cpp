// Who is still there: silence is judged by what was heard, absence by processes that really end.
#include "runtime/peer_watch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "catch.hpp"
#include "runtime/common_clock.hpp"

using namespace weir::runtime;
using namespace weir::core;

namespace {

Instant at_s(std::int64_t seconds) {
    return Instant{} + Duration::seconds(seconds);
}

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

/// Ranks on a host of their own each, so that no process is looked for.
std::vector<Place> far_apart(std::size_t ranks) {
    std::vector<Place> places;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        places.push_back({"host" + std::to_string(rank), 1, {}, 0});
    }
    return places;
}

}  // namespace

TEST_CASE("A rank is silent when nothing was heard of it for longer than the limit") {
    PeerWatch watch(far_apart(3), 0, at_s(0));
    constexpr Duration limit = Duration::seconds(5);
    CHECK_FALSE(watch.silent(at_s(5), limit));
    watch.heard(1, at_s(3));
    CHECK(watch.silent(at_s(6), limit) == 2);
    CHECK_FALSE(watch.silent(1, at_s(8), limit));
    CHECK(watch.silent(1, at_s(9), limit));
    CHECK(watch.silent(at_s(9), limit) == 2);  // the longest of both
    watch.heard(2, at_s(9));
    CHECK(watch.silent(at_s(9), limit) == 1);
}

TEST_CASE("All silent ranks are told, with how long they have been") {
    PeerWatch watch(far_apart(4), 1, at_s(0));
    watch.heard(2, at_s(4));
    CHECK(watch.all_silent(at_s(6), Duration::seconds(5)) == std::vector<int>{0, 3});
    CHECK(watch.all_silent(at_s(10), Duration::seconds(5)) == std::vector<int>{0, 2, 3});
    CHECK(watch.all_silent(at_s(5), Duration::seconds(5)).empty());
    CHECK(watch.silence(2, at_s(6)) == Duration::seconds(2));
}

TEST_CASE("A rank that can hold up others is named before those who fell silent with it") {
    constexpr Duration limit = Duration::seconds(5);
    const auto at_ms = [](std::int64_t milliseconds) {
        return Instant{} + Duration::milliseconds(milliseconds);
    };
    PeerWatch watch(far_apart(4), 0, at_s(0));
    watch.suspect_first({2, 3}, Duration::milliseconds(200));
    // Rank 2 stops; rank 1, whose last heartbeat came a little earlier, waits for it. Rank 3 is well.
    watch.heard(1, at_ms(1000));
    watch.heard(2, at_ms(1150));
    watch.heard(3, at_ms(6000));
    CHECK_FALSE(watch.silent(at_ms(6000), limit));
    CHECK_FALSE(watch.silent(at_ms(6100), limit));  // over for rank 1 only
    CHECK(watch.silent(at_ms(6200), limit) == 2);

    // A rank that fell silent long before is the cause itself.
    watch.heard(2, at_ms(3000));
    CHECK(watch.silent(at_ms(6100), limit) == 1);
    // And so is one that fell silent after the others were heard.
    watch.heard(1, at_ms(6000));
    watch.heard(2, at_ms(1000));
    watch.heard(3, at_ms(1100));
    CHECK(watch.silent(at_ms(6200), limit) == 2);
}

TEST_CASE("A rank does not miss itself") {
    PeerWatch watch(far_apart(2), 1, at_s(0));
    watch.heard(0, at_s(100));
    CHECK_FALSE(watch.silent(at_s(100), Duration::seconds(5)));
}

TEST_CASE("Whoever was away itself begins to listen anew") {
    PeerWatch watch(far_apart(3), 0, at_s(0));
    watch.forgive(at_s(60));
    CHECK_FALSE(watch.silent(at_s(65), Duration::seconds(5)));
    CHECK(watch.silent(at_s(66), Duration::seconds(5)));
}

TEST_CASE("A killed process is gone although its parent has not collected it") {
    Child living;
    Child killed;
    const std::vector<Place> places = {
        {"here", getpid(), {}, 0}, {"here", living.pid(), {}, 0}, {"here", killed.pid(), {}, 0}};
    PeerWatch watch(places, 0, at_s(0));
    CHECK_FALSE(watch.gone());
    CHECK_FALSE(watch.next_gone());
    CHECK_FALSE(watch.next_gone());
    CHECK(watch.sees_process_of(2));
    CHECK_FALSE(watch.sees_process_of(0));
    CHECK_FALSE(PeerWatch(far_apart(3), 0, at_s(0)).sees_process_of(2));

    killed.kill_it();
    CHECK(soon([&] { return watch.gone() == 2; }));  // a zombie now
    // Looking at one peer at a time, one of two looks finds it.
    const auto first = watch.next_gone();
    const auto second = watch.next_gone();
    CHECK((first == 2 || second == 2));
    CHECK_FALSE((first && second));

    killed.collect();
    CHECK(watch.gone() == 2);
}

TEST_CASE("Processes are looked for on this host only and only if they were there") {
    Child killed;
    Child collected;
    collected.kill_it();
    collected.collect();
    const std::vector<Place> places = {
        {"here", getpid(), {}, 0}, {"there", killed.pid(), {}, 0}, {"here", collected.pid(), {}, 0}};
    PeerWatch watch(places, 0, at_s(0));
    killed.kill_it();
    killed.collect();
    CHECK_FALSE(watch.gone());
    CHECK_FALSE(watch.next_gone());
}
