#include "runtime/run_ending.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "participant/exit_status.hpp"
#include "runtime/common_clock.hpp"
#include "runtime/signals.hpp"
#include "telemetry/final_summary.hpp"

namespace weir::runtime {

using participant::exit_failed;
using participant::exit_signal_base;

namespace {

/// How long the deputy looks whether the scheduler's rank, which it cannot hear, has said it all. As long as
/// the news of a file takes over NFS, if that goes well; and mpirun kills a second after its SIGTERM.
constexpr auto deputy_waits = core::Duration::milliseconds(700);
/// How long ranks that do not speak leave those that do the time for it; mpirun ends the job at the first
/// rank that goes.
constexpr auto others_wait = std::chrono::milliseconds(1500);
constexpr auto roll_patience = core::Duration::seconds(3);
constexpr auto complaint_patience = core::Duration::seconds(3);

}  // namespace

int deputy_of(const RunSettings& settings) {
    const int scheduler = settings.roles.scheduler_rank();
    const std::string& host = settings.places[static_cast<std::size_t>(scheduler)].host;
    for (int rank = 0; rank < settings.roles.ranks(); ++rank) {
        if (settings.places[static_cast<std::size_t>(rank)].host != host) {
            return rank;
        }
    }
    return scheduler == 0 ? 1 : 0;
}

RunEnding::RunEnding(const Parts& parts) : parts_(parts) {}

bool RunEnding::leads() const {
    return parts_.job.rank() == parts_.settings.roles.scheduler_rank();
}

std::string RunEnding::write_record(const telemetry::RunRecord& record) const {
    const auto error = telemetry::write_run_json(parts_.settings.directory + "/run.json", record);
    return error ? error->message() : std::string{};
}

void RunEnding::print_summary(const telemetry::RunRecord& record) const {
    switch (parts_.settings.output) {
        case telemetry::LiveForm::text:
            fmt::print("\n{}", telemetry::final_summary_text(record, parts_.colours));
            break;
        case telemetry::LiveForm::json:
            fmt::print("{}\n", telemetry::final_summary_json(record));
            break;
        case telemetry::LiveForm::quiet:
            break;
    }
    std::fflush(stdout);
}

telemetry::Failure RunEnding::failure_of(int rank, const std::string& what) const {
    return {.what = what,
            .rank = rank,
            .role = telemetry::node_text(parts_.settings.roles.node(rank)),
            .host = parts_.settings.places[static_cast<std::size_t>(rank)].host};
}

telemetry::RunRecord RunEnding::broken_off(const LoopEnd& end) const {
    return end.kind == LoopEnd::Kind::interrupted
               ? parts_.report.interrupted(parts_.collector.get(), end.signal)
               : parts_.report.failed(parts_.collector.get(), end.failure);
}

void RunEnding::prepare_for_abort(int silent) {
    const int self = parts_.job.rank();
    std::string what = fmt::format("{} was ended by abort(), as MPI libraries do that lose a peer",
                                   rank_text(parts_.settings, self));
    if (silent >= 0) {
        what += fmt::format("; {} was not heard any more", rank_text(parts_.settings, silent));
    }
    AbortMessage::Content message{.text = fmt::format("weir run: {}\n", what), .descriptor = STDERR_FILENO};
    if (leads()) {
        message.path = parts_.settings.directory + "/run.json";
        message.file = telemetry::run_json_text(
            parts_.report.failed(parts_.collector.get(), failure_of(silent >= 0 ? silent : self, what)));
    }
    abort_message_.set(std::move(message));
}

void RunEnding::note_signal(int number) const {
    static_cast<void>(write_record(parts_.report.interrupted(parts_.collector.get(), number)));
}

telemetry::RunRecord RunEnding::tell(const LoopEnd& end) {
    // Say it first: whoever sent the signal may not leave the time to write.
    if (end.kind != LoopEnd::Kind::interrupted) {
        fmt::print(stderr, "weir run: {}\n", end.failure.what);
    }
    has_ended();
    telemetry::RunRecord record = broken_off(end);
    const std::string cannot_write = write_record(record);
    if (!cannot_write.empty()) {
        fmt::print(stderr, "weir run: {}\n", cannot_write);
    }
    return record;
}

void RunEnding::speak_for_the_scheduler(const LoopEnd& end) {
    // The scheduler's rank may be there, and this one cut off: then its word counts. Where it is known to be
    // gone, or the job is being killed, there is nothing to wait for.
    const std::string path = parts_.settings.directory + "/run.json";
    const std::int64_t deadline_ns = monotonic_ns() + deputy_waits.ns;
    const auto gone = parts_.watch.gone();
    const bool is_gone = gone && *gone == parts_.settings.roles.scheduler_rank();
    while (!is_gone && caught_signal() == 0 && monotonic_ns() < deadline_ns) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (const auto how = telemetry::how_it_ended(path)) {
        // Repeated, because what is said on a host that is cut off reaches nobody.
        fmt::print(stderr, "weir run: {}\n", how->empty() ? end.failure.what : *how);
    } else {
        static_cast<void>(tell(end));
    }
}

void RunEnding::early(const LoopEnd& end, RankLoop& loop) {
    parts_.watchdog.enter("end", core::Duration::seconds(10));
    const bool interrupted = end.kind == LoopEnd::Kind::interrupted;
    const int status = end.kind == LoopEnd::Kind::told ? end.status
                       : interrupted                   ? exit_signal_base + end.signal
                                                       : exit_failed;
    if (end.kind == LoopEnd::Kind::failed || interrupted) {
        print_summary(tell(end));
        loop.tell_all_to_leave(status);
    } else if (end.kind == LoopEnd::Kind::scheduler_lost && parts_.job.rank() == deputy_of(parts_.settings)) {
        speak_for_the_scheduler(end);
    } else if (end.kind == LoopEnd::Kind::scheduler_lost) {
        std::this_thread::sleep_for(others_wait);
    }
    if (end.kind == LoopEnd::Kind::failed || end.kind == LoopEnd::Kind::scheduler_lost) {
        // A rank that hangs or was stopped does not leave by itself.
        Job::abort(status);
    }
    Job::leave(status);
}

void RunEnding::signalled(int number) {
    LoopEnd end{.kind = LoopEnd::Kind::interrupted, .signal = number, .failure = {}};
    // mpirun answers the death of a rank with SIGTERM to the others: look whether that is what happened.
    if (const auto gone = parts_.watch.gone()) {
        end.kind = LoopEnd::Kind::failed;
        end.failure = failure_of(*gone, fmt::format("{} is gone: its process does not exist any more",
                                                    rank_text(parts_.settings, *gone)));
    }
    const bool scheduler_gone = end.failure.rank == parts_.settings.roles.scheduler_rank();
    if (leads()) {
        print_summary(tell(end));
    } else if (scheduler_gone && parts_.job.rank() == deputy_of(parts_.settings)) {
        speak_for_the_scheduler(end);
    } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    Job::leave(end.kind == LoopEnd::Kind::failed ? exit_failed : exit_signal_base + number);
}

telemetry::Failure RunEnding::judge_roll(const Job::Roll& roll, const std::string& why) const {
    constexpr std::size_t most_named = 4;
    const int self = parts_.job.rank();
    const std::string own_name = rank_text(parts_.settings, self);
    const std::vector<int>& missing = roll.missing;
    if (missing.empty()) {
        return failure_of(self, fmt::format("{} {}, although all ranks answer now: they are too slow, or the "
                                            "network loses what they send (`weir check` probes it)",
                                            own_name, why));
    }
    if (std::ssize(missing) + 1 == parts_.settings.roles.ranks() && missing.size() > 1) {
        return failure_of(self, fmt::format("{} reaches no other rank any more; it {}", own_name, why));
    }
    std::string names;
    for (std::size_t i = 0; i < std::min(missing.size(), most_named); ++i) {
        names += (i == 0 ? "" : ", ") + rank_text(parts_.settings, missing[i]);
    }
    if (missing.size() > most_named) {
        names += fmt::format(" and {} more", missing.size() - most_named);
    }
    return failure_of(missing.front(), fmt::format("{} {} not answer; {} {}", names,
                                                   missing.size() == 1 ? "does" : "do", own_name, why));
}

void RunEnding::unanswered(const ExchangeTimeout& error) {
    parts_.watchdog.enter("end", core::Duration::seconds(20));
    const Job::Roll roll = parts_.job.call_roll(roll_patience, [] { return caught_signal() != 0; });
    LoopEnd end{.kind = LoopEnd::Kind::failed, .status = exit_failed, .failure = {}};
    if (leads()) {
        end.failure = judge_roll(roll, error.what());
        print_summary(tell(end));
    } else if (roll.leader_answers) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(2 * roll_patience.ns));
    } else {
        const int scheduler = parts_.settings.roles.scheduler_rank();
        end.failure = failure_of(
            scheduler, fmt::format("{} does not answer; {} {}", rank_text(parts_.settings, scheduler),
                                   rank_text(parts_.settings, parts_.job.rank()), error.what()));
        if (parts_.job.rank() == deputy_of(parts_.settings)) {
            speak_for_the_scheduler(end);
        } else {
            std::this_thread::sleep_for(others_wait);
        }
    }
    Job::abort(exit_failed);
}

void RunEnding::failed(int rank, const std::string& what) {
    parts_.watchdog.enter("end", core::Duration::seconds(20));
    const LoopEnd end{
        .kind = LoopEnd::Kind::failed, .status = exit_failed, .failure = failure_of(rank, what)};
    if (leads()) {
        print_summary(tell(end));
    } else {
        // If the scheduler's rank hears it, it says it and ends this one meanwhile.
        parts_.job.complain(rank, what, complaint_patience);
        fmt::print(stderr, "weir run: {}\n", what);
    }
    Job::abort(exit_failed);
}

void RunEnding::failed_itself(const std::string& why, int peer) {
    const int self = parts_.job.rank();
    const bool of_peer = peer >= 0 && peer < parts_.settings.roles.ranks() && peer != self;
    failed(of_peer ? peer : self, fmt::format("{}{}: {}", rank_text(parts_.settings, self),
                                              of_peer ? fmt::format(" and {} cannot talk to each other",
                                                                    rank_text(parts_.settings, peer))
                                                      : std::string{},
                                              why));
}

}  // namespace weir::runtime
