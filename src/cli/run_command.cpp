// `weir run`: from options to a request that is complete, then dry run or the real one.
#include "cli/command_functions.hpp"

#include <fmt/format.h>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/assertion_report.hpp"
#include "cli/dry_run.hpp"
#include "cli/execute_groups.hpp"
#include "cli/explanation.hpp"
#include "cli/launcher.hpp"
#include "cli/prepare_run.hpp"
#include "cli/run_directory.hpp"
#include "cli/start_job.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"
#include "config/usage_error.hpp"
#include "host/signals.hpp"
#include "job/mpi_job.hpp"
#include "job/watchdog.hpp"
#include "loop/make_transport.hpp"
#include "loop/rank_run.hpp"
#include "participant/exit_status.hpp"
#include "transport/disturbing_transport.hpp"

namespace weir::cli {

namespace {

void check_injections(const config::RunRequest& request) {
    for (const std::string& injection : request.injections) {
        try {
            transport::parse_disturbance(injection);
        } catch (const std::invalid_argument& error) {
            throw config::UsageError(std::string("--inject: ") + error.what());
        }
    }
}

void check_engine(const config::RunRequest& request) {
    if (request.engine.engine != core::Engine::ucx) {
        return;
    }
    if (const std::string reason = transport::why_no_ucx(); !reason.empty()) {
        throw config::UsageError("--engine: ucx: " + reason);
    }
}

/// Where the launcher gives the number of ranks and their order gives the roles, the layout is known before
/// MPI starts, and can be refused then. So can a run directory, if the first rank creates it. (Directories of
/// other ranks' hosts may differ.)
void apply_early_layout(config::RunRequest& request, const LaunchedAs& launched) {
    const config::RoleRequest& roles = request.roles;
    const bool by_order = roles.producer_hosts.empty() && roles.consumer_hosts.empty() &&
                          roles.scheduler_host.empty() && request.groups.hosts.empty() && !roles.role &&
                          launched.applications == 1;
    if (launched.size && by_order) {
        const std::vector<std::string> hosts(config::ranks_per_group(request, *launched.size));
        const core::RoleMap map = config::assign_roles(roles, hosts);
        config::apply_layout(request, map);
        if (launched.is_first() && map.scheduler_rank() == 0 && !request.out.empty() && !request.dry_run) {
            check_run_directory(request.out);
        }
    }
}

/// Runs: MPI, roles, the measurement, the report. Returns the exit status (participant/exit_status.hpp).
/// Throws config::UsageError only where every rank throws the same one; report_usage_error() prints it on one
/// rank.
int execute_run(const config::RunRequest& asked, simulation::Explain explain) {
    report_assertions();
    job::Watchdog watchdog("weir run", fmt::format("rank {}", launched_as().rank.value_or(0)));
    StartedJob started;
    try {
        started = start_job(asked, watchdog, "run");
    } catch (const job::JobOver&) {
        return participant::exit_failed;
    } catch (const job::JobError& error) {
        fmt::print(stderr, "weir run: {}\n", error.what());
        return participant::exit_failed;
    }
    const config::RunRequest& request = started.request;
    const std::unique_ptr<job::Job>& job = started.job;
    host::install_signal_handlers();
    watchdog.enter("introduction", job::Job::initial_exchange_limit + core::Duration::seconds(30));
    job->set_waiting_hook([&] {
        watchdog.alive();
        if (host::caught_signal() != 0) {
            job::Job::leave(participant::exit_signal_base + host::caught_signal());
        }
    });
    job->set_silence_limit(request.silence_timeout);
    std::optional<job::RunSettings> settings;
    try {
        if (config::number_of_groups(request) > 1) {
            // Without MPI there are no groups.
            return execute_groups(dynamic_cast<job::MpiJob&>(*job), request, explain, watchdog);
        }
        settings = prepare_run(*job, request);
        settings->directory = make_run_directory(*job, request, settings->leader_rank());
        settings->causes = explain_measured(explain, settings->directory);
    } catch (const config::UsageError& error) {
        // Every rank has read the same input and throws the same: one of them prints it.
        if (job->rank() == 0) {
            fmt::print(stderr, "weir run: {}\n", error.what());
        }
        job->barrier("refusal");
        return participant::exit_usage;
    } catch (const job::ExchangeTimeout& error) {
        end_before_the_layout(*job, request, error);
    } catch (const job::RanksSilent& error) {
        end_before_the_layout(*job, request, error);
    } catch (const std::exception& error) {
        fmt::print(stderr, "weir run: rank {}: {}\n", job->rank(), error.what());
        job->abort(participant::exit_failed);
    }
    return loop::run_rank(*job, started.communicator, watchdog, *settings);
}

}  // namespace

int run_command(const CommandLine& line) {
    config::RunRequest request = config::resolve(line.options);
    const simulation::Explain explain = parse_explain(line.explain, config::OutputForm::text);
    check_injections(request);
    check_engine(request);
    const LaunchedAs launched = launched_as();
    apply_early_layout(request, launched);
    if (request.dry_run) {
        if (launched.is_first()) {
            const std::string text =
                request.output == config::OutputForm::json ? dry_run_json(request) : dry_run_text(request);
            std::fputs(text.c_str(), stdout);
        }
        return participant::exit_ok;
    }
    return execute_run(request, explain);
}

}  // namespace weir::cli
