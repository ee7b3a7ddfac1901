#include "cli/simulate_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cli/explanation.hpp"
#include "cli/prepare_run.hpp"
#include "cli/progress.hpp"
#include "cli/run_directory.hpp"
#include "cli/simulation_setup.hpp"
#include "config/role_assignment.hpp"
#include "files/formatting.hpp"
#include "host/signals.hpp"
#include "job/grouped_runs.hpp"
#include "participant/exit_status.hpp"
#include "show/groups_record.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::cli {

namespace {

using config::RunRequest;

/// What the workers share. A group belongs to the worker that took its number.
class SimulatedGroups {
  public:
    SimulatedGroups(const RunRequest& asked, std::uint32_t jobs, simulation::Explain explain)
        : asked_(asked),
          explain_(explain),
          groups_(config::number_of_groups(asked)),
          record_({}, config::group_directories(groups_)),
          jobs_(std::min(jobs, groups_)),
          progress_(groups_),
          errors_(groups_) {}

    int run() {
        // Before anything is written: what one group refuses, all do.
        RunRequest first = config::request_of_group(asked_, 0);
        const simulation::SimulatedRun checked = simulated_run(first);
        check_simulation_memory(checked.run.plan, jobs_);
        record_ = {create_run_directory(asked_.out, std::time(nullptr), record_.group_directories),
                   record_.group_directories};
        host::install_signal_handlers();
        simulation::work_on_threads(jobs_, [this] { work(); }, [this] { show_progress(); });
        return report();
    }

  private:
    void work() {
        for (;;) {
            const std::uint32_t group = next_.fetch_add(1);
            if (group >= groups_ || host::caught_signal() != 0) {
                break;
            }
            simulate(group);
        }
        working_.fetch_sub(1);
    }

    void simulate(std::uint32_t group) {
        RunRequest request = config::request_of_group(asked_, group);
        simulation::SimulatedRun simulated = simulated_run(request);
        simulated.run.directory = record_.directory + "/" + record_.group_directories[group];
        const core::Plan& plan = simulated.run.plan;
        const double length = (plan.warmup + plan.duration).in_seconds();
        // The other workers have the other cores.
        Explanation explanation(simulated, explain_, 1, false);
        const simulation::SimulationResult result = simulation::simulate(
            simulated, {.second = {},
                        .interruption =
                            [&](core::Instant now) {
                                const double done = ((now - core::Instant{}) + plan.warmup).in_seconds();
                                progress_[group].store(std::min(1.0, done / length),
                                                       std::memory_order_relaxed);
                                return host::caught_signal();
                            },
                        .causes = [&](const show::RunRecord& record) { return explanation.causes(record); }});
        progress_[group].store(1, std::memory_order_relaxed);
        const nlohmann::ordered_json run = show::to_json(result.record);
        if (group == 0) {
            record_.describe(run);
        }
        record_.groups[group] = record_.entry(group, run, result.exit_status);
        if (!result.cannot_write.empty()) {
            errors_[group].push_back(result.cannot_write);
        }
        errors_[group].insert(errors_[group].end(), result.unmet_requirements.begin(),
                              result.unmet_requirements.end());
    }

    void show_progress() {
        ProgressLine progress(asked_.output == config::OutputForm::text);
        while (working_.load() > 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (const auto seconds = progress.due()) {
                const double done = std::accumulate(progress_.begin(), progress_.end(), 0.0);
                progress.show(
                    fmt::format("{} of {} groups simulated, {} left", files::percent(done / groups_), groups_,
                                files::rough_time(done > 0 ? *seconds * (groups_ - done) / done : 0)));
            }
        }
        progress.clear();
    }

    int report() {
        const int status = job::publish(record_, live_form(asked_.output), "weir simulate");
        for (std::uint32_t group = 0; group < groups_; ++group) {
            for (const std::string& line : errors_[group]) {
                fmt::print(stderr, "weir simulate: group {}: {}\n", group, line);
            }
        }
        return host::caught_signal() != 0 ? participant::exit_signal_base + host::caught_signal() : status;
    }

    const RunRequest& asked_;
    simulation::Explain explain_;
    std::uint32_t groups_;
    show::GroupsRecord record_;
    std::uint32_t jobs_;
    std::atomic<std::uint32_t> next_{0};
    std::atomic<std::uint32_t> working_{jobs_};
    std::vector<std::atomic<double>> progress_;  ///< of each group, 0 to 1
    std::vector<std::vector<std::string>> errors_;
};

}  // namespace

int simulate_groups(const RunRequest& asked, std::uint32_t jobs, simulation::Explain explain) {
    return SimulatedGroups(asked, jobs, explain).run();
}

}  // namespace weir::cli
