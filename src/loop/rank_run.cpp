#include "loop/rank_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "host/process.hpp"
#include "host/signals.hpp"
#include "loop/rank_run_parts.hpp"
#include "participant/exit_status.hpp"

namespace weir::loop {

namespace {

/// Thrown out of a wait before or after the measurement when a signal has come.
struct Signalled {
    int number = 0;
};

}  // namespace

int RankRun::run() {
    job_.set_waiting_hook([this] {
        watchdog_.alive();
        transport_.make_progress();
        if (host::caught_signal() != 0) {
            throw Signalled{host::caught_signal()};
        }
    });
    try {
        return prepare() ? measure() : participant::exit_failed;
    } catch (const Signalled& signal) {
        ending_.end_exchange_by_signal(signal.number);
    } catch (const job::ExchangeTimeout& error) {
        ending_.end_exchange(error);
    } catch (const job::RanksSilent& error) {
        ending_.end_exchange({.kind = ending::Evidence::Kind::exchange_timeout,
                              .rank = is_leader_ ? -1 : error.ranks().front(),
                              .text = error.what(),
                              .missing = error.ranks()});
    } catch (const job::RankGone& error) {
        ending_.end_exchange({.kind = ending::Evidence::Kind::process_gone,
                              .rank = error.rank(),
                              .hint = why_gone(job_.news(), processes_, error.rank())});
    } catch (const job::RankFailed& error) {
        ending_.end_exchange(
            {.kind = ending::Evidence::Kind::cannot_continue, .rank = error.rank(), .text = error.what()});
    } catch (const transport::TransportError& error) {
        ending_.end_exchange({.kind = ending::Evidence::Kind::network_failed,
                              .rank = error.peer().value,
                              .text = error.what()});
    } catch (const std::exception& error) {
        ending_.end_exchange(
            {.kind = ending::Evidence::Kind::cannot_continue,
             .rank = job_.rank(),
             .text = fmt::format("{}: {}", rank_text(settings_, job_.rank()), error.what())});
    }
}

int RankRun::measure() {
    const host::Start start = agree_on_start();
    job::HeartbeatClock clock = make_clock(start);
    const core::Instant begin = job_.returning_life()
                                    ? std::max(clock.clock().now(), core::Instant{} - settings_.plan.warmup)
                                    : core::Instant{} - settings_.plan.warmup;
    if (!open_outputs(start, clock.clock(), begin)) {
        return transport_.end_in_order(participant::exit_failed);
    }
    if (settings_.plan.outlives_consumers) {
        std::vector<bool> outlived;
        outlived.reserve(static_cast<std::size_t>(job_.size()));
        for (int rank = 0; rank < job_.size(); ++rank) {
            outlived.push_back(outlives(rank));
        }
        job_.outlive(std::move(outlived));
    }
    if (job_.returning_life()) {
        job_.come_back(transport_.address());
    }
    RankLoop* loop_of_rows = nullptr;
    participant::RowOutput output(
        &log_, [&](const record::LiveSample& report) { loop_of_rows->send_report(report); },
        burst_log_.is_open() ? &burst_log_ : nullptr);
    node_.emplace(participant::make_node(settings_.plan, self_, begin, latencies_, output));
    RankLoop loop({.settings = settings_,
                   .rank = job_.rank(),
                   .transport = transport_.transport(),
                   .node = *node_,
                   .clock = clock,
                   .idle = idle_,
                   .processes = processes_,
                   .detector = detector_,
                   .watchdog = watchdog_,
                   .output = output,
                   .collector = collector_.get(),
                   .on_signal = [this](int number) { ending_.record_signal(number); },
                   .on_missed = [this](int rank) { ending_.prepare_for_abort(rank); },
                   .on_clock =
                       [this](const host::CommonClock& steered) {
                           if (sampler_) {
                               sampler_->follow(steered);
                           }
                       },
                   .on_look =
                       [this] {
                           if (is_leader_ && settings_.groups != nullptr) {
                               settings_.groups->look();
                           }
                       },
                   .news = job_.news(),
                   .returns = job_.returning_life().has_value(),
                   .on_loss =
                       [this](const std::string& line) {
                           if (is_leader_) {
                               print_line("weir run: " + line);
                           }
                       }});
    loop_of_rows = &loop;
    const ending::RunEnd end = run_loop(loop, clock.clock(), begin);
    if (end.kind != ending::RunEnd::Kind::complete) {
        this->end(end, loop);
    }
    job_.set_silence_limit(settings_.silence_timeout);
    if (sampler_) {
        host_counters_ = record::encode_host(sampler_->stop(clock.clock().now()));
    }
    return record_run(loop, clock);
}

bool RankRun::outlives(int rank) const {
    return settings_.plan.outlives_consumers && settings_.roles.node(rank).role == core::Role::consumer;
}

/// A consumer that the run outlives begins again, unless it was ordered to leave.
void RankRun::end(const ending::RunEnd& end, RankLoop& loop) {
    const bool leaves = end.kind == ending::RunEnd::Kind::leave ||
                        end.kind == ending::RunEnd::Kind::interrupted || end.signal != 0;
    if (outlives(job_.rank()) && !leaves) {
        static_cast<void>(log_.close());
        static_cast<void>(burst_log_.close());
        job_.begin_again();
    }
    ending_.end(end, [&loop](int status) { loop.order_all_to_leave(status); });
}

ending::RunEnd RankRun::run_loop(RankLoop& loop, const host::CommonClock& clock, core::Instant begin) {
    while (clock.now() < begin) {
        watchdog_.alive();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    const core::Duration late = clock.now() - begin;
    // Less than this is the grain of sleeping, not a late rank.
    started_late_ = late > core::Duration::milliseconds(20) ? late : core::Duration{};
    job_.set_silence_limit({});  // the loop has heartbeats
    watchdog_.enter("measurement", settings_.silence_timeout + core::Duration::seconds(2));
    return loop.run();
}

int run_rank(job::Job& job, MPI_Comm comm, job::Watchdog& watchdog, const job::RunSettings& settings) {
    return RankRun(job, comm, watchdog, settings).run();
}

// The part of RankRun after the measurement: every rank's account, and the record of the run on the leader.

/// Nothing but small messages from here on: a rank that does not come is not coming.
void RankRun::expect_small_messages(const char* phase) {
    job_.set_exchange_limit(core::Duration::seconds(8) + core::Duration::milliseconds(50) * job_.size());
    watchdog_.enter(phase, core::Duration::seconds(8));
    watchdog_.set_explanation({});
}

/// From here on this rank may wait for the file system, and the others for this rank. `path`: what it
/// writes; empty: it is one of the others.
void RankRun::expect_file_system(const char* phase, const std::string& path) {
    // First, because the limit of a phase counts from its beginning.
    watchdog_.set_explanation([path] { return path.empty() ? path : "writing " + path; });
    watchdog_.enter(
        phase, ending::RunEnding::record_limit,
        "the file system does not answer; the measurement went to its end, and its rows are there");
    job_.set_exchange_limit(ending::RunEnding::record_limit + core::Duration::seconds(20));
}

/// Some file systems write only when a file is closed. Returns why it cannot be; empty: it can.
std::string RankRun::close_log() {
    expect_file_system("closing of the rows", log_.path());
    auto error = log_.close();
    if (const auto in_bursts = burst_log_.close(); in_bursts && !error) {
        error = in_bursts;
    }
    job_.barrier("closing of the rows");
    return error ? error->message() : std::string{};
}

participant::RankAccount RankRun::make_account(const RankLoop& loop, const job::HeartbeatClock& clock) {
    expect_small_messages("clock measurement");
    participant::RankAccount mine;
    static_cast<participant::NodeAccount&>(mine) = (*node_)->account();
    mine.latencies = latencies_;
    const job::ClockOffset clock_at_end = job::measure_clock_offset(job_, settings_.leader_rank());
    mine.clock_error_ns = clock.error_bound_ns(host::monotonic_ns(), clock_at_end);
    if (!is_leader_) {
        const job::ClockDrift drift =
            job::clock_drift(clock_at_start_, clock_at_end, host::monotonic_ns() - clock_measured_ns_);
        mine.summary.clock_drift_ppm = drift.ppm;
        mine.summary.clock_drift_error_ppm = drift.error_ppm;
    }
    mine.started_late = started_late_;
    mine.fault_count = loop.fault_count();
    mine.faults = loop.faults();
    mine.host_counters = host_counters_;
    for (const auto& [network, path, connections] : transport_.paths()) {
        mine.ucx_paths += fmt::format("{} {} {}\n", network, connections, path);
    }
    mine.listening = fmt::format("{}", fmt::join(host::listening_sockets(), ", "));
    mine.log_error = close_log();
    return mine;
}

/// Gathers all accounts, and writes the record on the leader. Returns the exit status of the process.
int RankRun::record_run(const RankLoop& loop, const job::HeartbeatClock& clock) {
    const participant::RankAccount mine = make_account(loop, clock);
    expect_small_messages("account");
    job_.gather(participant::encode_account(mine), settings_.leader_rank(), "gathering of the accounts",
                [&](int rank, std::span<const std::byte> bytes) {
                    const auto account = participant::decode_account(bytes);
                    if (!account) {
                        throw job::JobError(
                            fmt::format("the account of {} cannot be read", rank_text(settings_, rank)));
                    }
                    report_.add(rank, *account);
                });

    expect_file_system("record of the run", {});
    int status = is_leader_ ? write_record(loop) : participant::exit_ok;
    status = std::stoi(job_.broadcast(std::to_string(status), settings_.leader_rank(), "record of the run"));
    expect_small_messages("end");
    watchdog_.enter("end", transport_.end_limit(status) + core::Duration::seconds(5));
    return transport_.end_in_order(status);
}

void RankRun::add_recovery(const RankLoop& loop) {
    if (!settings_.plan.outlives_consumers) {
        return;
    }
    std::vector<std::pair<core::NodeId, core::Instant>> silences = loop.silences();
    const core::Scheduler& scheduler = node_->scheduler()->state_machine();
    std::vector<core::Instant> silent_since;
    for (const core::Scheduler::Loss& loss : scheduler.losses()) {
        const auto found = std::find_if(silences.begin(), silences.end(), [&](const auto& silence) {
            return silence.first == core::node_of(loss.consumer);
        });
        silent_since.push_back(found == silences.end() ? loss.lost_at : found->second);
        if (found != silences.end()) {
            silences.erase(found);
        }
    }
    report_.add_recovery(scheduler, silent_since, recovery_watch_);
    report_.add_ended_lives(*collector_);
}

/// The leader, when it has all accounts. Returns the exit status.
int RankRun::write_record(const RankLoop& loop) {
    collector_->finish();
    add_recovery(loop);
    expect_file_system(
        "record of the run",
        settings_.directory + (settings_.plan.lossy() ? "/traffic.csv or datagrams.csv" : "/traffic.csv"));
    if (const auto error = report_.write_traffic()) {
        fmt::print(stderr, "{}: {}\n", settings_.command, error->message());
    }
    expect_file_system("record of the run", settings_.directory + "/run.json");
    show::RunRecord record = report_.complete(*collector_);
    int status = report_.exit_status(record);
    ending_.remove_abort_message();
    std::string cannot_write = ending_.write_record(record, status);
    // What is measured is safe before anything is simulated.
    expect_file_system("record of the run", settings_.directory + "/run.json");
    if (cannot_write.empty() && report_.explain(record, settings_.causes)) {
        cannot_write = ending_.write_record(record, status);
    }
    if (!cannot_write.empty()) {
        fmt::print(stderr, "{}: {}; the verdict was: {}\n", settings_.command, cannot_write,
                   record.verdict.text);
        status = participant::exit_failed;
    }
    ending_.print_summary(record);
    for (const std::string& unmet : report_.unmet_requirements(record)) {
        fmt::print(stderr, "{}: {}\n", settings_.command, unmet);
    }
    return status;
}

}  // namespace weir::loop
