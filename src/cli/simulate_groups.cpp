#include "cli/simulate_groups.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/explanation.hpp"
#include "cli/forecast.hpp"
#include "cli/simulation_setup.hpp"
#include "config/checks.hpp"
#include "config/groups.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"
#include "participant/exit_status.hpp"
#include "runtime/signals.hpp"
#include "runtime/terminal.hpp"
#include "simulation/simulated_run.hpp"
#include "telemetry/job_record.hpp"

namespace weir::cli {

namespace {

using config::RunRequest;

/// What the workers share. A group belongs to the worker that took its number.
class SimulatedJob {
  public:
    SimulatedJob(const RunRequest& job, std::uint32_t jobs, simulation::Explain explain)
        : job_(job),
          explain_(explain),
          groups_(config::number_of_groups(job)),
          directories_(config::group_directories(groups_)),
          jobs_(std::min(jobs, groups_)),
          progress_(groups_),
          entries_(groups_),
          errors_(groups_) {}

    int run() {
        // Before anything is written: what one group refuses, all do.
        RunRequest first = config::request_of_group(job_, 0);
        const simulation::SimulatedRun checked = simulated_run(first);
        check_memory(checked.run.plan);
        record_.directory = config::create_run_directory(job_.out, std::time(nullptr), directories_);
        runtime::install_signal_handlers();
        simulation::work_on_threads(jobs_, [this] { work(); }, [this] { show_progress(); });
        return report();
    }

  private:
    void check_memory(const core::Plan& plan) const {
        const double need = simulation_memory_bytes(plan) * jobs_;
        const auto available = static_cast<double>(config::available_memory().count);
        if (available > 0 && need > available) {
            throw config::UsageError(fmt::format(
                "--groups: {} groups at a time need about {} of memory to simulate, and {} are available; "
                "give --jobs a smaller number",
                jobs_, bytes_text(need), config::rounded_text(config::available_memory())));
        }
    }

    void work() {
        for (;;) {
            const std::uint32_t group = next_.fetch_add(1);
            if (group >= groups_ || runtime::caught_signal() != 0) {
                break;
            }
            simulate(group);
        }
        working_.fetch_sub(1);
    }

    void simulate(std::uint32_t group) {
        RunRequest request = config::request_of_group(job_, group);
        simulation::SimulatedRun simulated = simulated_run(request);
        simulated.run.directory = record_.directory + "/" + directories_[group];
        const core::Plan& plan = simulated.run.plan;
        const double length = (plan.warmup + plan.duration).in_seconds();
        // The other workers have the other cores.
        Explanation explanation(simulated, explain_, 1, false);
        const simulation::SimulationResult result = simulation::simulate(
            simulated,
            {.second = {},
             .interruption =
                 [&](core::Instant now) {
                     const double done = ((now - core::Instant{}) + plan.warmup).in_seconds();
                     progress_[group].store(std::min(1.0, done / length), std::memory_order_relaxed);
                     return runtime::caught_signal();
                 },
             .causes = [&](const telemetry::RunRecord& record) { return explanation.causes(record); }});
        progress_[group].store(1, std::memory_order_relaxed);
        nlohmann::ordered_json run = telemetry::to_json(result.record);
        if (group == 0) {
            first_run_ = {
                {"plan", run["plan"]}, {"labels", run["labels"]}, {"environment", run["environment"]}};
        }
        entries_[group] = telemetry::group_entry(group, directories_[group], run, result.exit_status);
        if (!result.cannot_write.empty()) {
            errors_[group].push_back(result.cannot_write);
        }
        errors_[group].insert(errors_[group].end(), result.unmet_requirements.begin(),
                              result.unmet_requirements.end());
    }

    void show_progress() {
        using Clock = std::chrono::steady_clock;
        const bool wanted = job_.output == config::OutputForm::text;
        const bool terminal = isatty(STDERR_FILENO) != 0;
        const Clock::time_point start = Clock::now();
        Clock::time_point shown = start;
        bool written = false;
        while (working_.load() > 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            const auto period = terminal ? std::chrono::milliseconds(500) : std::chrono::seconds(10);
            if (!wanted || Clock::now() - shown < period) {
                continue;
            }
            shown = Clock::now();
            double done = 0;
            for (const auto& one : progress_) {
                done += one.load(std::memory_order_relaxed);
            }
            const double seconds = std::chrono::duration<double>(shown - start).count();
            fmt::print(stderr, "{}weir simulate: {:.0f} % of {} groups simulated, {:.0f} s left{}",
                       terminal ? "\r" : "", 100 * done / groups_, groups_,
                       done > 0 ? seconds * (groups_ - done) / done : 0, terminal ? "\x1b[K" : "\n");
            std::fflush(stderr);
            written = terminal;
        }
        if (written) {
            fmt::print(stderr, "\r\x1b[K");
        }
    }

    int report() {
        for (std::uint32_t group = 0; group < groups_; ++group) {
            if (entries_[group].json.is_null()) {
                entries_[group] = telemetry::missing_group(group, directories_[group]);
            }
        }
        record_.groups = std::move(entries_);
        record_.describe(first_run_, groups_);
        int status = telemetry::exit_status_of(record_);
        if (const auto error = telemetry::write_job_json(record_.directory + "/run.json", record_)) {
            fmt::print(stderr, "weir simulate: {}\n", error->message());
            status = participant::exit_failed;
        }
        if (job_.output == config::OutputForm::text) {
            fmt::print("{}", telemetry::job_summary_text(record_, runtime::colours_wanted()));
        } else if (job_.output == config::OutputForm::json) {
            fmt::print("{}\n", telemetry::job_summary_json(record_));
        }
        std::fflush(stdout);
        for (std::uint32_t group = 0; group < groups_; ++group) {
            for (const std::string& line : errors_[group]) {
                fmt::print(stderr, "weir simulate: group {}: {}\n", group, line);
            }
        }
        return runtime::caught_signal() != 0 ? participant::exit_signal_base + runtime::caught_signal()
                                             : status;
    }

    const RunRequest& job_;
    simulation::Explain explain_;
    std::uint32_t groups_;
    std::vector<std::string> directories_;
    std::uint32_t jobs_;
    std::atomic<std::uint32_t> next_{0};
    std::atomic<std::uint32_t> working_{jobs_};
    std::vector<std::atomic<double>> progress_;  ///< of each group, 0 to 1
    nlohmann::ordered_json first_run_;           ///< what describes group 0
    std::vector<telemetry::GroupEntry> entries_;
    std::vector<std::vector<std::string>> errors_;
    telemetry::JobRecord record_;
};

}  // namespace

int simulate_groups(const RunRequest& job, std::uint32_t jobs, simulation::Explain explain) {
    return SimulatedJob(job, jobs, explain).run();
}

}  // namespace weir::cli
