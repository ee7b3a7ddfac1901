// `weir simulate`: a run in virtual time.
#include "cli/command_functions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>

#include "cli/assertion_report.hpp"
#include "cli/dry_run.hpp"
#include "cli/explanation.hpp"
#include "cli/forecast.hpp"
#include "cli/simulate_groups.hpp"
#include "cli/simulation_setup.hpp"
#include "config/checks.hpp"
#include "config/groups.hpp"
#include "config/quantities.hpp"
#include "config/resolve.hpp"
#include "config/usage_error.hpp"
#include "participant/exit_status.hpp"
#include "runtime/signals.hpp"
#include "runtime/terminal.hpp"
#include "simulation/simulated_run.hpp"
#include "telemetry/final_summary.hpp"
#include "telemetry/formatting.hpp"
#include "telemetry/live_view.hpp"

namespace weir::cli {

namespace {

using config::RunRequest;
using config::UsageError;

/// One line that is written over on a terminal, or a line now and then where there is none. To stderr.
class Progress {
  public:
    Progress(const core::Plan& plan, bool wanted)
        : wanted_(wanted),
          terminal_(isatty(STDERR_FILENO) != 0),
          begin_(core::Instant{} - plan.warmup),
          end_({plan.duration.ns}),
          start_(Clock::now()),
          shown_(start_) {}

    void at(core::Instant now) {
        // The clock of the machine is looked at now and then only.
        if (!wanted_ || ++calls_ % 16 != 0) {
            return;
        }
        const Clock::time_point wall = Clock::now();
        if (wall - shown_ < (terminal_ ? std::chrono::milliseconds(500) : std::chrono::milliseconds(10000))) {
            return;
        }
        shown_ = wall;
        const double seconds = std::chrono::duration<double>(wall - start_).count();
        fmt::print(stderr, "{}weir simulate: {}{}", terminal_ ? "\r" : "", text_at(now, seconds),
                   terminal_ ? "\x1b[K" : "\n");
        std::fflush(stderr);
        written_ = true;
    }

    void clear() const {
        if (written_ && terminal_) {
            fmt::print(stderr, "\r\x1b[K");
            std::fflush(stderr);
        }
    }

  private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] std::string text_at(core::Instant now, double wall_seconds) const {
        if (now >= end_) {
            return fmt::format("all data generated; {} of simulated time to drain so far",
                               config::rounded_text(now - end_));
        }
        const double done = (now - begin_).in_seconds();
        const double all = (end_ - begin_).in_seconds();
        return fmt::format("{:.0f} % of {} simulated, {:.3g} times real time, {:.0f} s left",
                           100 * done / all, config::rounded_text(end_ - begin_), done / wall_seconds,
                           done > 0 ? wall_seconds * (all - done) / done : 0);
    }

    bool wanted_;
    bool terminal_;
    core::Instant begin_;
    core::Instant end_;
    Clock::time_point start_;
    Clock::time_point shown_;
    std::uint64_t calls_ = 0;
    bool written_ = false;
};

void make_directory(const RunRequest& request, participant::RunDescription& run) {
    const std::string directory =
        request.out.empty() ? config::unused_run_directory(std::time(nullptr)) : request.out;
    config::create_run_directory(directory);
    run.directory = std::filesystem::absolute(directory).string();
}

int carry_out(const RunRequest& request, const simulation::SimulatedRun& simulated,
              Explanation& explanation) {
    const bool text = request.output == config::OutputForm::text;
    const bool terminal = runtime::colours_wanted();
    Progress progress(simulated.run.plan, text);
    telemetry::LiveView live(
        simulated.run.plan,
        request.output == config::OutputForm::json ? telemetry::LiveForm::json : telemetry::LiveForm::quiet,
        terminal, [](std::string_view line) {
            fmt::print("{}\n", line);
            std::fflush(stdout);
        });
    runtime::install_signal_handlers();
    const simulation::SimulationResult result = simulation::simulate(
        simulated, {.second = [&](const telemetry::ClusterSecond& second) { live.show(second); },
                    .interruption =
                        [&](core::Instant now) {
                            progress.at(now);
                            return runtime::caught_signal();
                        },
                    .causes =
                        [&](const telemetry::RunRecord& record) {
                            progress.clear();
                            return explanation.causes(record);
                        }});
    progress.clear();
    if (!result.cannot_write.empty()) {
        fmt::print(stderr, "weir simulate: {}\n", result.cannot_write);
    } else if (result.record.status == telemetry::RunStatus::failed && result.record.failure) {
        fmt::print(stderr, "weir simulate: {}\n", result.record.failure->what);
    }
    if (text) {
        fmt::print("{}", telemetry::final_summary_text(result.record, terminal));
    } else if (request.output == config::OutputForm::json) {
        fmt::print("{}\n", telemetry::final_summary_json(result.record));
    }
    std::fflush(stdout);
    if (text && !explanation.account().empty()) {
        fmt::print(stderr, "weir simulate: {}\n", explanation.account());
    }
    for (const std::string& unmet : result.unmet_requirements) {
        fmt::print(stderr, "weir simulate: {}\n", unmet);
    }
    return explanation.interrupted() ? participant::exit_signal_base + runtime::caught_signal()
                                     : result.exit_status;
}

std::uint32_t jobs_of(const CommandLine& line) {
    return static_cast<std::uint32_t>(line.jobs.value_or(std::max(1U, std::thread::hardware_concurrency())));
}

}  // namespace

int simulate_command(const CommandLine& line) {
    report_assertions();
    RunRequest request = config::resolve(line.options, true);
    const simulation::Explain explain = parse_explain(line.explain, request.output);
    if (!request.injections.empty()) {
        throw UsageError("--inject: is for `weir run`; a simulation has --fault");
    }
    const bool has_groups = config::number_of_groups(request) > 1;
    if (line.jobs && !has_groups && explain == simulation::Explain::off) {
        throw UsageError("--jobs: needs --groups or --explain; one simulation uses one core");
    }
    if (has_groups && !request.dry_run) {
        return simulate_groups(request, jobs_of(line), explain);
    }
    simulation::SimulatedRun simulated = simulated_run(request);
    if (request.dry_run) {
        const std::string text =
            request.output == config::OutputForm::json ? dry_run_json(request) : dry_run_text(request);
        std::fputs(text.c_str(), stdout);
        return participant::exit_ok;
    }
    check_simulation_memory(simulated.run.plan);
    make_directory(request, simulated.run);
    Explanation explanation(simulated, explain, jobs_of(line), request.output == config::OutputForm::text);
    return carry_out(request, simulated, explanation);
}

}  // namespace weir::cli
