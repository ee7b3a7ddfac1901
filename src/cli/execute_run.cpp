#include "cli/execute_run.hpp"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <optional>

#include "cli/assertion_report.hpp"
#include "cli/execute_groups.hpp"
#include "cli/launcher.hpp"
#include "cli/prepare_run.hpp"
#include "cli/start_job.hpp"
#include "config/groups.hpp"
#include "config/usage_error.hpp"
#include "participant/exit_status.hpp"
#include "runtime/mpi_job.hpp"
#include "runtime/run_job.hpp"
#include "runtime/signals.hpp"
#include "runtime/watchdog.hpp"

namespace weir::cli {

int execute_run(const config::RunRequest& asked) {
    report_assertions();
    runtime::Watchdog watchdog("weir run", fmt::format("rank {}", launched_as().rank.value_or(0)));
    StartedJob started;
    try {
        started = start_job(asked, watchdog);
    } catch (const runtime::JobOver&) {
        return participant::exit_failed;
    } catch (const runtime::JobError& error) {
        fmt::print(stderr, "weir run: {}\n", error.what());
        return participant::exit_failed;
    }
    const config::RunRequest& request = started.request;
    const std::unique_ptr<runtime::Job>& job = started.job;
    runtime::install_signal_handlers();
    watchdog.enter("introduction", runtime::Job::initial_exchange_limit + core::Duration::seconds(30));
    job->set_waiting_hook([&] {
        watchdog.alive();
        if (runtime::caught_signal() != 0) {
            runtime::Job::leave(participant::exit_signal_base + runtime::caught_signal());
        }
    });
    if (config::number_of_groups(request) > 1) {
        // Without MPI there are no groups.
        return execute_groups(dynamic_cast<runtime::MpiJob&>(*job), request, watchdog);
    }
    std::optional<runtime::RunSettings> settings;
    try {
        settings = prepare_run(*job, request);
        settings->directory = make_run_directory(*job, request, settings->leader_rank());
    } catch (const config::UsageError& error) {
        // Every rank has seen the same input and throws the same: one of them says it.
        if (job->rank() == 0) {
            fmt::print(stderr, "weir run: {}\n", error.what());
        }
        job->barrier("refusal");
        return participant::exit_usage;
    } catch (const runtime::ExchangeTimeout& error) {
        end_before_the_layout(*job, error);
    } catch (const std::exception& error) {
        fmt::print(stderr, "weir run: rank {}: {}\n", job->rank(), error.what());
        job->abort(participant::exit_failed);
    }
    return runtime::run_job(*job, started.communicator, watchdog, *settings);
}

}  // namespace weir::cli
