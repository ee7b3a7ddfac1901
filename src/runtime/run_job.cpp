#include "runtime/run_job.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "participant/exit_status.hpp"
#include "participant/rank_account.hpp"
#include "participant/rank_node.hpp"
#include "participant/run_report.hpp"
#include "runtime/clock_sync.hpp"
#include "runtime/common_clock.hpp"
#include "runtime/counter_sampler.hpp"
#include "runtime/heartbeat_clock.hpp"
#include "runtime/rank_loop.hpp"
#include "runtime/run_ending.hpp"
#include "runtime/run_transport.hpp"
#include "runtime/signals.hpp"
#include "runtime/terminal.hpp"
#include "telemetry/csv_log.hpp"
#include "telemetry/final_summary.hpp"
#include "telemetry/live_view.hpp"
#include "telemetry/plan_text.hpp"
#include "telemetry/second_collector.hpp"
#include "telemetry/text.hpp"

namespace weir::runtime {

using participant::exit_failed;
using participant::exit_ok;
using participant::RankAccount;
using participant::RowOutput;

namespace {

/// How long a file system may take to let a finished run write down what it found: servers of network file
/// systems stall for a minute and more when they fail over.
constexpr auto record_limit = core::Duration::seconds(120);

/// Thrown out of a wait before or after the measurement when a signal has come.
struct Signalled {
    int number = 0;
};

/// When all ranks are ready: their loops begin at `begin`, second 0 follows the warm-up.
struct Start {
    std::int64_t second_zero_ns = 0;       ///< on the leader's monotonic clock
    std::int64_t second_zero_unix_ns = 0;  ///< label only
};

class JobRun {
  public:
    JobRun(Job& job, Watchdog& watchdog, const RunSettings& settings)
        : job_(job),
          watchdog_(watchdog),
          settings_(settings),
          self_(settings.roles.node(job.rank())),
          is_leader_(job.rank() == settings.leader_rank()),
          terminal_(colours_wanted()),
          processes_(settings.places, job.rank()),
          detector_(settings, job.rank(), processes_.ranks()),
          idle_(make_idle()),
          report_(settings, telemetry::utc_text(wall_clock_ns())),
          transport_(job, watchdog, settings),
          ending_({.job = job,
                   .watchdog = watchdog,
                   .settings = settings,
                   .processes = processes_,
                   .detector = detector_,
                   .report = report_,
                   .collector = collector_,
                   .colours = terminal_}) {
        job.set_leader(settings.leader_rank());
    }

    int run();

  private:
    IdleStrategy make_idle() const;
    bool go_on(const std::string& objection, const char* what);
    std::string prepare();
    Start agree_on_start();
    int measure();
    [[nodiscard]] HeartbeatClock make_clock(const Start& start) const;
    int account(const RankLoop& loop, const HeartbeatClock& clock, core::Duration started_late);
    void expect_small_messages(const char* phase);
    void enter_record(const char* phase, const std::string& path);
    std::string close_log();
    int write_record();
    void say(std::string_view line) const;
    void say_what_starts() const;

    Job& job_;
    Watchdog& watchdog_;
    const RunSettings& settings_;
    core::NodeId self_;
    bool is_leader_;
    bool terminal_;
    ProcessWatch processes_;
    FailureDetector detector_;
    IdleStrategy idle_;
    participant::RunReport report_;

    RunTransport transport_;
    telemetry::CsvLog log_;
    telemetry::Latencies latencies_;
    ClockOffset clock_at_start_;
    std::int64_t clock_measured_ns_ = 0;
    std::unique_ptr<telemetry::LiveView> live_;
    std::unique_ptr<telemetry::SecondCollector> collector_;
    std::optional<participant::RankNode> node_;
    std::unique_ptr<CounterSampler> sampler_;  ///< on the rank that records its host's counters
    std::string host_counters_;
    RunEnding ending_;  ///< refers to the others
};

IdleStrategy JobRun::make_idle() const {
    const HostLoad load =
        load_of(settings_.places[static_cast<std::size_t>(job_.rank())].host, settings_.places);
    const core::Duration nap = choose_nap(load.ranks, load.cores);
    if (settings_.idle_mode) {
        return {*settings_.idle_mode, nap};
    }
    return {choose_idle_mode(load.ranks, load.cores), nap, choose_patience(load.ranks, load.cores)};
}

void JobRun::say(std::string_view line) const {
    if (settings_.output != telemetry::LiveForm::text) {
        return;
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

void JobRun::say_what_starts() const {
    const core::Plan& plan = settings_.plan;
    say(fmt::format("weir run: {} for {}, run directory {}", telemetry::load_text(plan),
                    telemetry::readable(plan.duration), settings_.directory));
    for (const std::string& line : telemetry::last_set_lines(plan)) {
        say("weir run: " + line);
    }
    std::string nap;
    if (idle_.mode() == IdleMode::nap) {
        nap = fmt::format(" for {} to {}", telemetry::readable(idle_.nap()),
                          telemetry::readable(idle_.longest_nap()));
        if (idle_.patience() > core::Duration{}) {
            nap += " after " + telemetry::readable(idle_.patience());
        }
    }
    const HostLoad load =
        load_of(settings_.places[static_cast<std::size_t>(job_.rank())].host, settings_.places);
    say(fmt::format("weir run: idle ranks {}{} ({} ranks on {} cores of {}; --idle changes it)",
                    idle_mode_name(idle_.mode()), nap, load.ranks, load.cores,
                    settings_.places[static_cast<std::size_t>(job_.rank())].host));
}

/// Whether all ranks can go on; otherwise one of them says why not.
bool JobRun::go_on(const std::string& objection, const char* what) {
    const auto objections = job_.objections(objection, what);
    if (objections.empty()) {
        return true;
    }
    const Objection& first = objections.front();
    const std::string text = fmt::format(
        "{}: {}{}", rank_text(settings_, first.rank), first.text,
        objections.size() > 1 ? fmt::format(" (and {} more ranks)", objections.size() - 1) : std::string{});
    if (is_leader_) {
        fmt::print(stderr, "weir run: {}\n", text);
        static_cast<void>(
            ending_.write_record(report_.failed(nullptr, failure_of(settings_, first.rank, text))));
    }
    return false;
}

/// Makes what only this rank can: directory, buffers. Returns why it cannot.
std::string JobRun::prepare() {
    std::error_code error;
    std::filesystem::create_directories(settings_.directory + "/ranks", error);
    if (error) {
        return fmt::format("cannot create {}/ranks: {}", settings_.directory, error.message());
    }
    if (is_leader_) {
        return ending_.write_record(report_.at_start());
    }
    return {};
}

Start JobRun::agree_on_start() {
    Start start;
    if (is_leader_) {
        // Far enough ahead that the news reaches every rank before: exchanges take longer with more ranks.
        const auto margin = core::Duration::milliseconds(300) + core::Duration::milliseconds(5) * job_.size();
        const std::int64_t ahead_ns = (margin + settings_.plan.warmup).ns;
        start = {monotonic_ns() + ahead_ns, wall_clock_ns() + ahead_ns};
    }
    const std::string text =
        job_.broadcast(fmt::format("{} {}", start.second_zero_ns, start.second_zero_unix_ns),
                       settings_.leader_rank(), "agreement on the start");
    const auto space = text.find(' ');
    return {std::stoll(text.substr(0, space)), std::stoll(text.substr(space + 1))};
}

int JobRun::run() {
    job_.set_waiting_hook([this] {
        watchdog_.alive();
        if (caught_signal() != 0) {
            throw Signalled{caught_signal()};
        }
    });
    try {
        watchdog_.enter("preparation", core::Duration::seconds(120));
        if (is_leader_) {
            say_what_starts();
        }
        if (!go_on(prepare(), "preparation of the run directory")) {
            return exit_failed;
        }
        ending_.prepare_for_abort(-1);
        const auto agree = [this](const std::string& objection, const char* what) {
            return go_on(objection, what);
        };
        if (!transport_.make(agree)) {
            return exit_failed;
        }
        if (settings_.records_hosts && records_its_host(job_.rank(), settings_.places)) {
            sampler_ = std::make_unique<CounterSampler>(
                CounterSampler::Task{.run_directory = settings_.directory,
                                     .host = settings_.places[static_cast<std::size_t>(job_.rank())].host,
                                     .duration = settings_.plan.duration});
        }
        transport_.warm_up(idle_);
        clock_at_start_ = measure_clock_offset(job_, settings_.leader_rank());
        clock_measured_ns_ = monotonic_ns();
        return measure();
    } catch (const Signalled& signal) {
        ending_.end_exchange_by_signal(signal.number);
    } catch (const ExchangeTimeout& error) {
        ending_.end_exchange(error);
    } catch (const RankFailed& error) {
        ending_.end_exchange(
            {.kind = Evidence::Kind::cannot_continue, .rank = error.rank(), .text = error.what()});
    } catch (const transport::TransportError& error) {
        ending_.end_exchange(
            {.kind = Evidence::Kind::network_failed, .rank = error.peer().value, .text = error.what()});
    } catch (const std::exception& error) {
        ending_.end_exchange(
            {.kind = Evidence::Kind::cannot_continue,
             .rank = job_.rank(),
             .text = fmt::format("{}: {}", rank_text(settings_, job_.rank()), error.what())});
    }
}

int JobRun::measure() {
    const Start start = agree_on_start();
    HeartbeatClock heartbeat_clock = make_clock(start);
    const CommonClock& clock = heartbeat_clock.clock();
    const core::Instant begin = core::Instant{} - settings_.plan.warmup;

    const std::string path =
        settings_.directory + "/ranks/" + telemetry::rank_file_name(job_.rank(), self_.role);
    const auto cannot_open = log_.open(path, self_.role, start.second_zero_unix_ns);
    if (!go_on(cannot_open ? cannot_open->message() : std::string{}, "opening of the logs")) {
        return transport_.end_in_order(exit_failed);
    }
    if (sampler_) {
        sampler_->begin({.clock = clock, .begin = begin, .second_zero_unix_ns = start.second_zero_unix_ns});
    }
    if (is_leader_) {
        live_ = std::make_unique<telemetry::LiveView>(settings_.plan, settings_.output, terminal_,
                                                      [](std::string_view line) {
                                                          fmt::print("{}\n", line);
                                                          std::fflush(stdout);
                                                      });
        collector_ = std::make_unique<telemetry::SecondCollector>(
            settings_.plan, [this](const telemetry::ClusterSecond& second) { live_->show(second); });
    }
    RankLoop* loop_of_rows = nullptr;
    RowOutput output(&log_,
                     [&](const telemetry::SecondReport& report) { loop_of_rows->send_report(report); });
    node_.emplace(participant::make_node(settings_.plan, self_, begin, latencies_, output));
    RankLoop loop({.settings = settings_,
                   .rank = job_.rank(),
                   .transport = transport_.transport(),
                   .node = *node_,
                   .clock = heartbeat_clock,
                   .idle = idle_,
                   .processes = processes_,
                   .detector = detector_,
                   .watchdog = watchdog_,
                   .output = output,
                   .collector = collector_.get(),
                   .on_signal = [this](int number) { ending_.record_signal(number); },
                   .on_missed = [this](int rank) { ending_.prepare_for_abort(rank); },
                   .on_clock =
                       [this](const CommonClock& steered) {
                           if (sampler_) {
                               sampler_->follow(steered);
                           }
                       }});
    loop_of_rows = &loop;

    while (clock.now() < begin) {
        watchdog_.alive();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    const core::Duration late = clock.now() - begin;
    // Less than this is the grain of sleeping, not a late rank.
    constexpr auto noticeably = core::Duration::milliseconds(20);

    watchdog_.enter("measurement", settings_.silence_timeout + core::Duration::seconds(2));
    const RunEnd end = loop.run();
    if (end.kind != RunEnd::Kind::complete) {
        ending_.end(end, &loop);
    }
    if (sampler_) {
        host_counters_ = telemetry::encode_host(sampler_->stop(clock.now()));
    }
    expect_small_messages("clock measurement");
    return account(loop, heartbeat_clock, late > noticeably ? late : core::Duration{});
}

/// Nothing but small messages from here on: a rank that does not come is not coming.
void JobRun::expect_small_messages(const char* phase) {
    job_.set_exchange_limit(core::Duration::seconds(8) + core::Duration::milliseconds(50) * job_.size());
    watchdog_.enter(phase, core::Duration::seconds(8));
    watchdog_.set_explanation({});
}

/// From here on this rank may wait for the file system, and the others for this rank. `path`: what it
/// writes; empty: it is one of the others.
void JobRun::enter_record(const char* phase, const std::string& path) {
    // First, because the limit of a phase counts from its beginning.
    watchdog_.set_explanation([path] { return path.empty() ? path : "writing " + path; });
    watchdog_.enter(
        phase, record_limit,
        "the file system does not answer; the measurement went to its end, and its rows are there");
    job_.set_exchange_limit(record_limit + core::Duration::seconds(20));
}

/// Some file systems write only when a file is closed. Returns why it cannot be; empty: it can.
std::string JobRun::close_log() {
    enter_record("closing of the rows", log_.path());
    const auto error = log_.close();
    job_.barrier("closing of the rows");
    return error ? error->message() : std::string{};
}

HeartbeatClock JobRun::make_clock(const Start& start) const {
    const CommonClock clock(start.second_zero_ns + clock_at_start_.offset_ns);
    if (is_leader_) {
        return {clock, job_.size()};
    }
    const auto& leader = settings_.places[static_cast<std::size_t>(settings_.leader_rank())];
    const bool same_clock = settings_.places[static_cast<std::size_t>(job_.rank())].host == leader.host;
    return {clock, clock_at_start_, clock_measured_ns_, same_clock};
}

int JobRun::account(const RankLoop& loop, const HeartbeatClock& clock, core::Duration started_late) {
    RankAccount mine;
    static_cast<participant::NodeAccount&>(mine) = (*node_)->account();
    mine.latencies = latencies_;
    const ClockOffset clock_at_end = measure_clock_offset(job_, settings_.leader_rank());
    mine.clock_error_ns = clock.error_bound_ns(monotonic_ns(), clock_at_end);
    if (job_.rank() != settings_.leader_rank()) {
        const ClockDrift drift =
            clock_drift(clock_at_start_, clock_at_end, monotonic_ns() - clock_measured_ns_);
        mine.summary.clock_drift_ppm = drift.ppm;
        mine.summary.clock_drift_error_ppm = drift.error_ppm;
    }
    mine.started_late = started_late;
    mine.fault_count = loop.fault_count();
    mine.faults = loop.faults();
    mine.host_counters = host_counters_;
    mine.log_error = close_log();
    expect_small_messages("account");
    job_.gather(
        participant::encode_account(mine), settings_.leader_rank(), "gathering of the accounts",
        [&](int rank, std::span<const std::byte> bytes) {
            const auto account = participant::decode_account(bytes);
            if (!account) {
                throw JobError(fmt::format("the account of {} cannot be read", rank_text(settings_, rank)));
            }
            report_.add(rank, *account);
        });

    enter_record("record of the run", {});
    int status = is_leader_ ? write_record() : exit_ok;
    status = std::stoi(job_.broadcast(std::to_string(status), settings_.leader_rank(), "record of the run"));
    expect_small_messages("end");
    return transport_.end_in_order(status);
}

/// The leader, when it has all accounts. Returns the exit status.
int JobRun::write_record() {
    collector_->finish();
    enter_record(
        "record of the run",
        settings_.directory + (settings_.plan.lossy() ? "/traffic.csv or datagrams.csv" : "/traffic.csv"));
    if (const auto error = report_.write_traffic()) {
        fmt::print(stderr, "weir run: {}\n", error->message());
    }
    enter_record("record of the run", settings_.directory + "/run.json");
    const telemetry::RunRecord record = report_.complete(*collector_);
    int status = report_.exit_status(record);
    ending_.remove_abort_message();
    const std::string cannot_write = ending_.write_record(record);
    if (!cannot_write.empty()) {
        fmt::print(stderr, "weir run: {}; the verdict was: {}\n", cannot_write, record.verdict.text);
        status = exit_failed;
    }
    ending_.print_summary(record);
    for (const std::string& unmet : report_.unmet_requirements(record)) {
        fmt::print(stderr, "weir run: {}\n", unmet);
    }
    return status;
}

}  // namespace

int run_job(Job& job, Watchdog& watchdog, const RunSettings& settings) {
    return JobRun(job, watchdog, settings).run();
}

}  // namespace weir::runtime
