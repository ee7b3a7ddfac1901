// The part of RankRun until all ranks are ready to measure: run directory, transport, warm-up, clocks, logs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "files/formatting.hpp"
#include "host/host_facts.hpp"
#include "job/grouped_runs.hpp"
#include "job/mpi_choice.hpp"
#include "loop/rank_run_parts.hpp"
#include "participant/exit_status.hpp"
#include "show/plan_text.hpp"

namespace weir::loop {

host::HostLoad RankRun::host_load() const {
    host::HostLoad load = host::load_of(host_, settings_.locations);
    load.ranks = std::max(load.ranks, settings_.job_ranks_here);
    return load;
}

host::IdleStrategy RankRun::make_idle() const {
    const host::HostLoad load = host_load();
    const core::Duration nap = host::choose_nap(load.ranks, load.cores);
    host::IdleStrategy idle = settings_.idle_mode
                                  ? host::IdleStrategy(*settings_.idle_mode, nap)
                                  : host::IdleStrategy(host::choose_idle_mode(load.ranks, load.cores), nap,
                                                       host::choose_patience(load.ranks, load.cores));
    if (settings_.engine.engine == core::Engine::mpi) {
        // Open MPI's MPI_Testsome looks first and makes progress then: what came is found by the next turn.
        idle.yield_after(job::calls_yield() ? 0 : 2);
    }
    return idle;
}

void RankRun::print_line(std::string_view line) const {
    if (settings_.output != show::LiveForm::text) {
        return;
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

void RankRun::print_plan() const {
    const core::Plan& plan = settings_.plan;
    print_line(fmt::format("weir run: {} for {}, run directory {}", show::load_text(plan),
                           files::exact(plan.duration), settings_.directory));
    for (const std::string& line : settings_.told_apart) {
        print_line("weir run: " + line);
    }
    for (const std::string& line : show::last_set_lines(plan)) {
        print_line("weir run: " + line);
    }
    std::string nap;
    if (idle_.mode() == host::IdleMode::nap) {
        nap =
            fmt::format(" for {} to {}", files::readable(idle_.nap()), files::readable(idle_.longest_nap()));
        if (idle_.patience() > core::Duration{}) {
            nap += " after " + files::readable(idle_.patience());
        }
    }
    const host::HostLoad load = host_load();
    print_line(fmt::format("weir run: idle ranks {}{} ({} ranks on {} cores of {}; --idle changes it)",
                           host::idle_mode_name(idle_.mode()), nap, load.ranks, load.cores, host_));
}

bool RankRun::all_can_go_on(const std::string& objection, const char* what) {
    const auto first = job_.first_objection(objection, what);
    if (!first) {
        return true;
    }
    const std::string text =
        fmt::format("{}: {}{}", rank_text(settings_, first->rank), first->text,
                    first->others > 0 ? fmt::format(" (and {} more ranks)", first->others) : std::string{});
    if (is_leader_) {
        fmt::print(stderr, "{}: {}\n", settings_.command, text);
        const auto record = report_.failed(nullptr, ending::failure_of(settings_, first->rank, text));
        static_cast<void>(ending_.write_record(record, participant::exit_failed));
    }
    return false;
}

/// Returns why it cannot; empty: it could.
std::string RankRun::make_directory() {
    for (const char* part : {"ranks", "bursts"}) {
        std::error_code error;
        if (part == std::string_view("ranks") || settings_.plan.row_interval.ns > 0) {
            std::filesystem::create_directories(fmt::format("{}/{}", settings_.directory, part), error);
        }
        if (error) {
            return fmt::format("cannot create {}/{}: {}", settings_.directory, part, error.message());
        }
    }
    if (is_leader_) {
        keep_record();  // before there is a record that has not ended
        return ending_.write_only(report_.at_start());
    }
    return {};
}

void RankRun::keep_record() {
    const auto end_of = [this](int rank) {
        return ending::failure_of(settings_, rank, ending::process_gone_text(settings_, rank));
    };
    std::vector<job::KeptProcess> ranks;
    for (const int rank : processes_.ranks()) {
        ranks.push_back(
            {static_cast<pid_t>(settings_.locations[static_cast<std::size_t>(rank)].pid), end_of(rank)});
    }
    const pid_t launcher = getppid();
    const show::Failure launcher_gone{
        .what =
            fmt::format("the launcher (process {} on {}) is gone, and the ranks with it", launcher, host_),
        .host = host_};
    keeper_.keep_run(std::filesystem::absolute(settings_.directory).string(), end_of(job_.rank()),
                     {launcher, launcher_gone}, ranks);
}

/// False: some rank cannot, and the leader has printed why.
bool RankRun::prepare() {
    watchdog_.enter("preparation", core::Duration::seconds(120));
    job_.set_silence_limit(settings_.silence_timeout);
    if (is_leader_) {
        print_plan();
    }
    if (!all_can_go_on(make_directory(), "preparation of the run directory")) {
        return false;
    }
    ending_.prepare_for_abort(-1);
    const auto agree = [this](const std::string& objection, const char* what) {
        return all_can_go_on(objection, what);
    };
    if (!transport_.make(agree)) {
        return false;
    }
    if (const auto life = job_.returning_life()) {
        return prepare_to_return(*life);
    }
    if (settings_.records_hosts && records_its_host(job_.rank(), settings_.locations)) {
        sampler_ = std::make_unique<CounterSampler>(
            CounterSampler::Task{.run_directory = settings_.directory,
                                 .host = host_,
                                 .duration = settings_.plan.duration,
                                 .by_ucx = settings_.engine.engine == core::Engine::ucx});
    }
    transport_.warm_up(idle_, [this](const std::string& line) {
        if (is_leader_) {
            print_line("weir run: " + line);
        }
    });
    clock_at_start_ = job::measure_clock_offset(job_, settings_.leader_rank());
    clock_measured_ns_ = host::monotonic_ns();
    return true;
}

/// In the place of a rank that was lost: no rank warms up with this one.
bool RankRun::prepare_to_return(std::uint32_t life) {
    transport_.returns(life);
    clock_measured_ns_ = host::monotonic_ns();
    if (host_ != settings_.host_of(settings_.leader_rank())) {  // else both have one clock
        clock_at_start_.offset_ns = job_.compare_clocks(clock_at_start_.error_ns);
    }
    return true;
}

host::Start RankRun::agree_on_start() {
    host::Start start;
    if (is_leader_) {
        // Far enough ahead that the news reaches every rank before: exchanges take longer with more ranks.
        const auto margin = core::Duration::milliseconds(300) + core::Duration::milliseconds(5) * job_.size();
        const std::int64_t ahead_ns = (margin + settings_.plan.warmup).ns;
        start = {host::monotonic_ns() + ahead_ns, host::wall_clock_ns() + ahead_ns};
        if (settings_.groups != nullptr) {
            start = settings_.groups->agree_on_start(core::Duration{ahead_ns},
                                                     [this] { job_.call_waiting_hook(); });
        }
    }
    if (settings_.groups != nullptr) {
        job_.set_exchange_limit(job::GroupedRuns::start_limit + job::Job::initial_exchange_limit);
    }
    const std::string text =
        job_.broadcast(fmt::format("{} {}", start.second_zero_ns, start.second_zero_unix_ns),
                       settings_.leader_rank(), "agreement on the start");
    const auto space = text.find(' ');
    return {std::stoll(text.substr(0, space)), std::stoll(text.substr(space + 1))};
}

job::HeartbeatClock RankRun::make_clock(const host::Start& start) const {
    const host::CommonClock clock(start.second_zero_ns + clock_at_start_.offset_ns);
    if (is_leader_) {
        return {clock, job_.size()};
    }
    const bool same_clock = host_ == settings_.host_of(settings_.leader_rank());
    return {clock, clock_at_start_, clock_measured_ns_, same_clock};
}

/// Returns why it cannot; empty: it could.
std::string RankRun::open_logs(std::int64_t second_zero_unix_ns) {
    using Writing = record::CsvLog::Writing;
    const Writing writing = job_.returning_life() ? Writing::row_by_row_at_the_end : Writing::row_by_row;
    const std::string name = record::rank_file_name(job_.rank(), self_.role);
    auto error = log_.open(settings_.directory + "/ranks/" + name, self_.role, second_zero_unix_ns, writing);
    if (!error && settings_.plan.row_interval.ns > 0) {
        error = burst_log_.open(settings_.directory + "/bursts/" + name, record::burst_csv_header(self_.role),
                                writing);
    }
    return error ? error->message() : std::string{};
}

/// Opens the logs, and on the leader the live lines. False: some rank cannot, and the leader has printed why.
bool RankRun::open_outputs(const host::Start& start, const host::CommonClock& clock, core::Instant begin) {
    if (!all_can_go_on(open_logs(start.second_zero_unix_ns), "opening of the logs")) {
        return false;
    }
    if (sampler_) {
        sampler_->begin({.clock = clock, .begin = begin, .second_zero_unix_ns = start.second_zero_unix_ns});
    }
    if (is_leader_) {
        live_ = std::make_unique<show::LiveView>(settings_.plan, settings_.output, colours_,
                                                 [](std::string_view line) {
                                                     fmt::print("{}\n", line);
                                                     std::fflush(stdout);
                                                 });
        collector_ = std::make_unique<record::SecondCollector>(settings_.plan,
                                                               [this](const record::ClusterSecond& second) {
                                                                   live_->show(second);
                                                                   if (settings_.groups != nullptr) {
                                                                       settings_.groups->show(second);
                                                                   }
                                                                   recovery_watch_.add(second);
                                                               });
    }
    return true;
}

}  // namespace weir::loop
