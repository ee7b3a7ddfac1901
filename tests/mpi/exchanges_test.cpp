// The exchanges of ranks outside the measured time when one of them is slow, does not come, or cannot go on:
// who waits for how long, and what is found out. Run with 4 ranks and the name of a case; the exit status is
// the result.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "runtime/clock_sync.hpp"
#include "runtime/common_clock.hpp"
#include "runtime/job.hpp"
#include "runtime/warmup_together.hpp"

using namespace weir;
using namespace weir::runtime;

namespace {

constexpr int slow_rank = 2;
int failures = 0;

void check(const Job& job, bool holds, const std::string& what) {
    if (!holds) {
        fmt::print(stderr, "rank {}: {}\n", job.rank(), what);
        ++failures;
    }
}

void sleep_for(core::Duration time) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(time.ns));
}

/// Ranks that take 0.3 s for each answer: 25 exchanges with each of them, one rank after the other, would
/// take longer than the last one waits for its turn.
void slow_answers(Job& job) {
    job.set_exchange_limit(core::Duration::seconds(5));
    if (job.rank() != 0) {
        job.set_waiting_hook([] { sleep_for(core::Duration::milliseconds(300)); });
    }
    const ClockOffset offset = measure_clock_offset(job, 0);
    job.set_waiting_hook({});
    // All ranks are on one machine and have the same clock.
    check(job, offset.error_ns >= 0 && std::abs(offset.offset_ns) <= offset.error_ns,
          fmt::format("offset {} ns, error {} ns", offset.offset_ns, offset.error_ns));
}

/// One rank does not come to a barrier: the leader finds out which.
void missing_rank(Job& job) {
    constexpr auto comes_late = core::Duration::seconds(6);
    job.set_leader(1);
    job.set_exchange_limit(core::Duration::seconds(1));
    if (job.rank() == slow_rank) {
        sleep_for(comes_late);
        return;
    }
    try {
        job.barrier("a test");
        check(job, false, "the barrier has ended without a rank");
    } catch (const ExchangeTimeout& error) {
        const std::string_view what = error.what();
        check(job,
              what == "waited 1 s in vain for the other ranks: a test" ||
                  what == "was called to the roll: a test" ||
                  (what.starts_with("was told by rank ") && what.ends_with("that it waits in vain: a test")),
              std::string(what));
    }
    const Job::Roll roll = job.call_roll(core::Duration::seconds(2), [] { return false; });
    if (job.rank() == job.leader()) {
        check(job, roll.missing == std::vector<int>{slow_rank},
              fmt::format("{} missing", roll.missing.size()));
    } else {
        check(job, roll.leader_answers, "the leader has not called");
    }
}

/// A rank that cannot go on tells the leader, which waits in an exchange.
void complaint(Job& job) {
    if (job.rank() == slow_rank) {
        job.complain(3, std::string(600, 'x'), core::Duration::seconds(1));
    } else if (job.rank() == job.leader()) {
        try {
            job.barrier("a test");
            check(job, false, "the barrier has ended without a rank");
        } catch (const RankFailed& error) {
            check(job, error.rank() == 3, fmt::format("rank {} is named", error.rank()));
            check(job, error.what() == std::string(479, 'x'), error.what());
        }
    }
}

RunSettings settings_of(const Job& job) {
    RunSettings settings;
    settings.plan.producers = 1;
    settings.plan.consumers = static_cast<std::uint32_t>(job.size() - 2);
    std::vector<core::NodeId> nodes{core::scheduler_node(), {core::Role::producer, 0}};
    std::vector<Place> places(static_cast<std::size_t>(job.size()), Place{"host", 0, {}, 0});
    for (std::uint32_t index = 0; index < settings.plan.consumers; ++index) {
        nodes.push_back({core::Role::consumer, index});
    }
    settings.roles = core::RoleMap(nodes);
    settings.set_places(places);
    settings.silence_timeout = core::Duration::milliseconds(500);
    return settings;
}

/// Ranks that get through the warm-up at different times leave it together.
void warm_up(Job& job) {
    const RunSettings settings = settings_of(job);
    IdleStrategy idle(IdleMode::nap, core::Duration::microseconds(500));
    const std::int64_t over_ns = monotonic_ns() + (core::Duration::milliseconds(300) * (job.rank() + 1)).ns;
    const auto through = [&] { return monotonic_ns() >= over_ns; };
    warm_up_together(job, settings, idle, through, [&] {
        return transport::WarmupProgress{.messages_done = through() ? 7U : 3U, .messages_total = 7};
    });
    job.barrier("a test");
    check(job, through(), "the warm-up has ended before its time");
}

/// Nothing arrives any more at one rank: all ranks learn which, although all answer.
void stuck_warm_up(Job& job) {
    const RunSettings settings = settings_of(job);
    IdleStrategy idle(IdleMode::nap, core::Duration::microseconds(500));
    try {
        warm_up_together(
            job, settings, idle, [&] { return job.rank() != slow_rank; },
            [&] {
                return transport::WarmupProgress{.messages_done = job.rank() == slow_rank ? 3U : 7U,
                                                 .messages_total = 7};
            });
        check(job, false, "the warm-up has ended without a rank");
    } catch (const RankFailed& error) {
        const std::string_view what = error.what();
        check(job, error.rank() == slow_rank, fmt::format("rank {} is named", error.rank()));
        check(job,
              what.find("not through: rank 2 (consumer 0 on host) with 3 of 7 messages") !=
                  std::string_view::npos,
              std::string(what));
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view name = argc > 1 ? argv[1] : "";
    Job job(argc, argv);
    if (job.size() < 4) {
        fmt::print(stderr, "run with 4 ranks or more\n");
        return EXIT_FAILURE;
    }
    if (name == "slow_answers") {
        slow_answers(job);
    } else if (name == "missing_rank") {
        missing_rank(job);
    } else if (name == "complaint") {
        complaint(job);
    } else if (name == "warm_up") {
        warm_up(job);
    } else if (name == "stuck_warm_up") {
        stuck_warm_up(job);
    } else {
        fmt::print(stderr, "no case '{}'\n", name);
        ++failures;
    }
    // What was given up is still under way, so no exchange of the job can be used any more.
    int all_failures = 0;
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
