// The exchanges of ranks outside the measured time when one of them is slow, does not come, or cannot go on:
// who waits for how long, and what is found out. Run with 4 ranks and the name of a case; the exit status is
// the result.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "host/common_clock.hpp"
#include "job/clocks.hpp"
#include "job/mpi_job.hpp"
#include "job/pair_probe.hpp"
#include "loop/run_transport.hpp"
#include "mpi_memory.hpp"
#include "transport/mpi/mpi_transport.hpp"

using namespace weir;
using namespace weir::host;
using namespace weir::job;
using namespace weir::loop;

namespace {

constexpr int slow_rank = 2;
int failures = 0;

void check(const MpiJob& job, bool holds, const std::string& what) {
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
void slow_answers(MpiJob& job) {
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
void missing_rank(MpiJob& job) {
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
              what == "waited 1 s for the other ranks without success: a test" ||
                  what == "was called to the roll: a test" ||
                  (what.starts_with("was notified by rank ") &&
                   what.ends_with("that it waits without success: a test")),
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

/// A rank that cannot go on reports it to the leader, which waits in an exchange.
void failure_notice(MpiJob& job) {
    if (job.rank() == slow_rank) {
        job.send_notice(make_notice(Notice::Kind::failure, 3, 0, std::string(600, 'x')),
                        core::Duration::seconds(1));
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

RunSettings settings_of(const MpiJob& job) {
    RunSettings settings;
    settings.plan.producers = 1;
    settings.plan.consumers = static_cast<std::uint32_t>(job.size() - 2);
    std::vector<core::NodeId> nodes{core::scheduler_node(), {core::Role::producer, 0}};
    std::vector<RankLocation> locations(static_cast<std::size_t>(job.size()), RankLocation{"host", 0, {}, 0});
    for (std::uint32_t index = 0; index < settings.plan.consumers; ++index) {
        nodes.push_back({core::Role::consumer, index});
    }
    settings.roles = core::RoleMap(nodes);
    settings.set_locations(locations);
    settings.silence_timeout = core::Duration::milliseconds(500);
    return settings;
}

/// Ranks that get through the warm-up at different times leave it together.
void warm_up(MpiJob& job) {
    const RunSettings settings = settings_of(job);
    IdleStrategy idle(IdleMode::nap, core::Duration::microseconds(500));
    const std::int64_t over_ns = monotonic_ns() + (core::Duration::milliseconds(300) * (job.rank() + 1)).ns;
    const auto through = [&] { return monotonic_ns() >= over_ns; };
    const auto progress = [&] {
        return transport::WarmupProgress{.messages_done = through() ? 7U : 3U, .messages_total = 7};
    };
    warm_up_together(job, settings, idle, through, progress, [&](const std::string& line) {
        check(job, false, fmt::format("a warm-up of a second has a line: {}", line));
    });
    job.barrier("a test");
    check(job, through(), "the warm-up has ended before its time");
}

/// Nothing arrives any more at one rank: all ranks learn which, although all answer. So do ranks
/// that see a round end later than the others, and whose clocks therefore differ.
void stuck_warm_up(MpiJob& job) {
    const RunSettings settings = settings_of(job);
    IdleStrategy idle(IdleMode::nap, core::Duration::microseconds(500));
    const auto step = [&] {
        sleep_for(core::Duration::milliseconds(3) * job.rank());
        return job.rank() != slow_rank;
    };
    const auto progress = [&] {
        return transport::WarmupProgress{.messages_done = job.rank() == slow_rank ? 3U : 7U,
                                         .messages_total = 7};
    };
    std::string lines;
    try {
        warm_up_together(job, settings, idle, step, progress,
                         [&](const std::string& line) { lines += line + '\n'; });
        check(job, false, "the warm-up has ended without a rank");
    } catch (const RankFailed& error) {
        const std::string_view what = error.what();
        check(job, error.rank() == slow_rank, fmt::format("rank {} is named", error.rank()));
        check(job,
              what.find("not complete: rank 2 (consumer 0 on host) with 3 of 7 messages") !=
                  std::string_view::npos,
              std::string(what));
    }
    // 24 of 28 messages, first after 3 s.
    check(job, lines.starts_with("warm-up of the transport: 86 % of its messages after 3 s, about 1 s left"),
          lines);
}

/// A text that is under way and does not arrive in time: its rank counts as silent, and what MPI writes into
/// later is still there.
void late_text(MpiJob& job) {
    // Too large to be sent before it is asked for.
    constexpr std::size_t length = std::size_t{8} << 20U;
    const std::int64_t late_ns = monotonic_ns() + core::Duration::seconds(3).ns;
    int looks = 0;
    if (job.rank() == slow_rank) {
        job.set_waiting_hook([&] {
            if (++looks == 1) {  // it is announced, and nothing more
                sleep_for(core::Duration{late_ns - monotonic_ns()});
            }
        });
    }
    const auto limit = core::Duration::seconds(job.rank() == slow_rank ? 4 : 1);
    const auto texts =
        job.collect(std::string(length, static_cast<char>('a' + job.rank())), 0, limit, "a test");
    if (job.rank() == 0) {
        check(job, monotonic_ns() < late_ns, "collected for longer than the limit");
        for (int rank = 0; rank < job.size(); ++rank) {
            const auto& text = texts[static_cast<std::size_t>(rank)];
            // A newer UCX fetches what was announced without the sender's help, so the late one may be there.
            check(job, text.has_value() || rank == slow_rank, fmt::format("no text of rank {}", rank));
            check(job, !text || *text == std::string(length, static_cast<char>('a' + rank)),
                  fmt::format("text of rank {} is another one", rank));
        }
    }
    job.set_waiting_hook({});
    job.barrier("a test");  // meanwhile it arrives
}

/// As a producer that answers so many questions of the probe, and is then too late.
void answer_late(MpiJob& job, int consumer, std::size_t round, int answers, core::Duration late) {
    const int tag = static_cast<int>(round) * 4;
    char token = 'x';
    for (int i = 0; i <= answers; ++i) {
        MPI_Recv(&token, 1, MPI_BYTE, consumer, tag, job.communicator(), MPI_STATUS_IGNORE);
        if (i < answers) {
            MPI_Send(&token, 1, MPI_BYTE, consumer, tag + 1, job.communicator());
        }
        if (i + 1 == answers && answers > 1) {
            break;
        }
    }
    sleep_for(late);
    const std::uint64_t messages = 1;
    // What the consumer waited for; nobody receives it.
    MPI_Send(answers > 1 ? static_cast<const void*>(&messages) : &token, answers > 1 ? sizeof messages : 1,
             MPI_BYTE, consumer, answers > 1 ? tag + 3 : tag + 1, job.communicator());
}

/// MPI refuses a receive after others were posted: what these write into is not freed with the object that
/// was to be made.
template <typename Make>
void refuse_a_receive(const MpiJob& job, const Make& make, const char* what) {
    test::fail_receive_after(2);
    try {
        make();
        check(job, false, fmt::format("{} was made without a receive", what));
    } catch (const transport::TransportError&) {
        // As it must be.
    }
    test::fail_receive_after(-1);
}

void refused_receive(MpiJob& job) {
    refuse_a_receive(
        job, [&] { const transport::MpiControl control(job.communicator(), 8, 8); }, "a control");
}

/// A producer whose answers come after the probe has given it up.
void late_probe(MpiJob& job) {
    constexpr int producer = 1;
    constexpr int all_round_trips = 9;
    const RunSettings settings = settings_of(job);
    const host::ProbeRounds rounds(1, 2, core::Duration::milliseconds(10));
    check(job, rounds.count() == 2, "the test is made for two rounds");
    const ProbeLimits limits{.answer = core::Duration::milliseconds(500),
                             .round = core::Duration::seconds(2)};
    if (job.rank() == producer) {
        for (std::size_t round = 0; round < rounds.count(); ++round) {
            job.barrier("a round of the probe");
            const int consumer =
                settings.roles.rank(core::node_of(core::ConsumerId{*rounds.consumer_of(round, 0)}));
            answer_late(job, consumer, round, round == 0 ? 0 : all_round_trips,
                        round == 0 ? limits.answer * 2 : limits.round + limits.answer);
        }
        job.barrier("the end of the probe");
    } else {
        // All wait for the late one at the barriers, for twice the limit of a round.
        const PairProbes probes = probe_pairs(job, settings.roles, settings.locations, rounds, limits);
        check(job, probes.stopped.empty(), probes.stopped);
        for (const host::PairProbe& pair : probes.pairs) {
            check(job, !pair.reached, "a pair without answers was reached");
        }
        check(job, probes.pairs.empty() == probes.mpi_is_clean, "what is left behind is not reported");
    }
}

/// The common clock of one rank, whose own clock gains time by `gain`. All ranks are on one machine, so this
/// host's clock is the truth.
class DriftingClock {
  public:
    DriftingClock(MpiJob& job, double gain)
        : job_(job),
          gain_(gain),
          begin_ns_(monotonic_ns()),
          zero_ns_(std::stoll(job.broadcast(std::to_string(begin_ns_), 0, "a test"))),
          // What a measurement at the start may be wrong by.
          at_start_{local_ns() - monotonic_ns(), 20'000},
          clock_(job.rank() == 0 ? HeartbeatClock(CommonClock(zero_ns_), job.size())
                                 : HeartbeatClock(CommonClock(zero_ns_ + at_start_.offset_ns), at_start_,
                                                  local_ns(), false)),
          next_ns_(begin_ns_),
          before_(clock_.clock().at(local_ns())) {}

    /// Sends a heartbeat if it is time, and receives one if one is there.
    void exchange_heartbeats() {
        const bool leads = job_.rank() == 0;
        if (monotonic_ns() >= next_ns_) {
            next_ns_ += core::Duration::milliseconds(leads ? 100 : 200).ns;
            for (int rank = leads ? 1 : 0; rank < (leads ? job_.size() : 1); ++rank) {
                core::Heartbeat heartbeat{};
                clock_.stamp(heartbeat, rank, local_ns());
                MPI_Send(&heartbeat, sizeof heartbeat, MPI_BYTE, rank, heartbeat_tag, job_.communicator());
            }
        }
        if (const auto arrived = receive()) {
            clock_.receive(arrived->second, arrived->first, local_ns());
        }
    }

    /// The sender and the heartbeat that is there; nothing: none is.
    [[nodiscard]] std::optional<std::pair<int, core::Heartbeat>> receive() {
        int there = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, heartbeat_tag, job_.communicator(), &there, &status);
        if (there == 0) {
            return std::nullopt;
        }
        core::Heartbeat heartbeat;
        MPI_Recv(&heartbeat, sizeof heartbeat, MPI_BYTE, status.MPI_SOURCE, heartbeat_tag,
                 job_.communicator(), MPI_STATUS_IGNORE);
        return std::pair(status.MPI_SOURCE, heartbeat);
    }

    /// Compares the common clock with the truth. False: it went back.
    [[nodiscard]] bool compare() {
        const std::int64_t earliest_ns = monotonic_ns() - zero_ns_;
        const core::Instant now = clock_.clock().at(local_ns());
        const std::int64_t latest_ns = monotonic_ns() - zero_ns_;
        worst_ns_ = std::max({worst_ns_, earliest_ns - now.ns, now.ns - latest_ns});
        return now >= std::exchange(before_, now);
    }

    [[nodiscard]] std::int64_t runs_for_ns() const { return monotonic_ns() - begin_ns_; }
    [[nodiscard]] std::int64_t worst_ns() const { return worst_ns_; }
    [[nodiscard]] std::int64_t bound_ns() const { return clock_.worst_error_ns(); }

  private:
    static constexpr int heartbeat_tag = 77;

    [[nodiscard]] std::int64_t local_ns() const {
        const std::int64_t now_ns = monotonic_ns();
        return now_ns + std::llround(gain_ * static_cast<double>(now_ns - begin_ns_));
    }

    MpiJob& job_;
    double gain_;
    std::int64_t begin_ns_;
    std::int64_t zero_ns_;
    ClockOffset at_start_;
    HeartbeatClock clock_;
    std::int64_t next_ns_;
    std::int64_t worst_ns_ = 0;
    core::Instant before_;
};

/// Clocks of which one is fast: followed by heartbeats, all show the same time.
void drifting_clock(MpiJob& job) {
    constexpr auto lasts = core::Duration::seconds(8);
    const double gain = job.rank() == slow_rank ? 150e-6 : job.rank() == 3 ? -100e-6 : 0;
    DriftingClock clock(job, gain);
    bool went_back = false;
    while (clock.runs_for_ns() < lasts.ns && !went_back) {
        clock.exchange_heartbeats();
        went_back = !clock.compare();
        sleep_for(core::Duration::microseconds(200));
    }
    check(job, !went_back, "the common clock went back");
    fmt::print("rank {}: gains {:.0f} ppm, off by {:.1f} us at most, bound {:.1f} us\n", job.rank(),
               gain * 1e6, static_cast<double>(clock.worst_ns()) * 1e-3,
               static_cast<double>(clock.bound_ns()) * 1e-3);
    check(job, clock.worst_ns() <= clock.bound_ns() + 1000,
          fmt::format("the common clock was off by {} ns, which is more than the bound of {} ns",
                      clock.worst_ns(), clock.bound_ns()));
    // Not followed, it would have been off by this.
    const auto unfollowed_ns = std::llround(std::abs(gain) * static_cast<double>(lasts.ns));
    check(job, gain == 0 || clock.worst_ns() < unfollowed_ns * 7 / 10,
          fmt::format("the common clock was off by {} ns, of {} ns that the clock gained", clock.worst_ns(),
                      unfollowed_ns));
    // Heartbeats that were not received must not reach the next test.
    job.barrier("a test");
    while (clock.receive()) {
    }
}

constexpr std::pair<std::string_view, void (*)(MpiJob&)> cases[] = {
    {"slow_answers", slow_answers}, {"missing_rank", missing_rank},       {"failure_notice", failure_notice},
    {"warm_up", warm_up},           {"stuck_warm_up", stuck_warm_up},     {"late_text", late_text},
    {"late_probe", late_probe},     {"refused_receive", refused_receive}, {"drifting_clock", drifting_clock},
};

}  // namespace

int main(int argc, char** argv) {
    const std::string_view name = argc > 1 ? argv[1] : "";
    MpiJob job(argc, argv);
    if (job.size() < 4) {
        fmt::print(stderr, "run with 4 ranks or more\n");
        return EXIT_FAILURE;
    }
    const auto* const found =
        std::find_if(std::begin(cases), std::end(cases), [&](const auto& one) { return one.first == name; });
    if (found == std::end(cases)) {
        fmt::print(stderr, "no case '{}'\n", name);
        ++failures;
    } else {
        found->second(job);
    }
    const std::string wrong = test::found_wrong_with_mpi_memory();
    check(job, wrong.empty(), wrong);
    // What was given up is still under way, so no exchange of the job can be used any more.
    int all_failures = 0;
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
