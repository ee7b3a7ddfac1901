// `weir simulate`: a run in virtual time.
#include "cli/command_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>

#include "cli/assertion_report.hpp"
#include "cli/dry_run.hpp"
#include "cli/explanation.hpp"
#include "cli/forecast.hpp"
#include "cli/progress.hpp"
#include "cli/run_directory.hpp"
#include "cli/simulate_groups.hpp"
#include "cli/simulation_setup.hpp"
#include "config/fabric.hpp"
#include "config/passes.hpp"
#include "config/quantities.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"
#include "config/usage_error.hpp"
#include "files/formatting.hpp"
#include "host/process.hpp"
#include "host/signals.hpp"
#include "participant/exit_status.hpp"
#include "show/live_view.hpp"
#include "show/run_record.hpp"
#include "simulation/network_failures.hpp"
#include "simulation/simulated_run.hpp"

namespace weir::cli {

namespace {

using config::RunRequest;
using config::UsageError;

std::string progress_text(const core::Plan& plan, core::Instant now, double wall_seconds) {
    const core::Instant begin = core::Instant{} - plan.warmup;
    const core::Instant end{plan.duration.ns};
    if (now >= end) {
        return fmt::format("all data generated; {} of simulated time to drain so far",
                           files::readable(now - end));
    }
    const double done = (now - begin).in_seconds();
    const double all = (end - begin).in_seconds();
    return fmt::format("{} of {} simulated, {} times real time, {} left", files::percent(done / all),
                       files::exact(end - begin), files::number(done / wall_seconds),
                       files::rough_time(done > 0 ? wall_seconds * (all - done) / done : 0));
}

int carry_out(const RunRequest& request, const simulation::SimulatedRun& simulated,
              Explanation& explanation) {
    const bool text = request.output == config::OutputForm::text;
    const bool terminal = host::colours_wanted();
    ProgressLine progress(text);
    std::uint64_t calls = 0;
    show::LiveView live(
        simulated.run.plan,
        request.output == config::OutputForm::json ? show::LiveForm::json : show::LiveForm::quiet, terminal,
        [](std::string_view line) {
            fmt::print("{}\n", line);
            std::fflush(stdout);
        });
    host::install_signal_handlers();
    const simulation::SimulationResult result = simulation::simulate(
        simulated, {.second = [&](const record::ClusterSecond& second) { live.show(second); },
                    .interruption =
                        [&](core::Instant now) {
                            // The clock of the machine is looked at now and then only.
                            if (const auto seconds = ++calls % 16 == 0 ? progress.due() : std::nullopt) {
                                progress.show(progress_text(simulated.run.plan, now, *seconds));
                            }
                            return host::caught_signal();
                        },
                    .causes =
                        [&](const show::RunRecord& record) {
                            progress.clear();
                            return explanation.causes(record);
                        }});
    progress.clear();
    if (!result.cannot_write.empty()) {
        fmt::print(stderr, "weir simulate: {}\n", result.cannot_write);
    } else if (result.record.status == show::RunStatus::failed && result.record.failure) {
        fmt::print(stderr, "weir simulate: {}\n", result.record.failure->what);
    }
    if (text) {
        fmt::print("{}", show::final_summary_text(result.record, terminal));
    } else if (request.output == config::OutputForm::json) {
        fmt::print("{}\n", show::final_summary_json(result.record));
    }
    std::fflush(stdout);
    if (text && !explanation.account().empty()) {
        fmt::print(stderr, "weir simulate: {}\n", explanation.account());
    }
    for (const std::string& unmet : result.unmet_requirements) {
        fmt::print(stderr, "weir simulate: {}\n", unmet);
    }
    return explanation.interrupted() ? participant::exit_signal_base + host::caught_signal()
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
    if (const std::string inside = config::inside_hosts_text(request); !inside.empty()) {
        fmt::print(stderr, "weir simulate: {}\n", inside);
    }
    if (has_groups && !request.dry_run) {
        return simulate_groups(request, jobs_of(line), explain);
    }
    simulation::SimulatedRun simulated = simulated_run(request);
    if (request.network.fluid_fabric && request.output == config::OutputForm::text) {
        fmt::print(stderr, "weir simulate: {}\n", config::fluid_note);
    }
    for (const std::string& deadlock :
         simulation::possible_deadlocks(simulated.run.plan, simulated.network, simulated.disturbances)) {
        fmt::print(stderr, "weir simulate: {}\n", deadlock);
    }
    if (request.dry_run) {
        const std::string text =
            request.output == config::OutputForm::json ? dry_run_json(request) : dry_run_text(request);
        std::fputs(text.c_str(), stdout);
        return participant::exit_ok;
    }
    check_simulation_memory(simulated.run.plan);
    simulated.run.directory = create_run_directory(request.out, std::time(nullptr));
    Explanation explanation(simulated, explain, jobs_of(line), request.output == config::OutputForm::text);
    return carry_out(request, simulated, explanation);
}

}  // namespace weir::cli
