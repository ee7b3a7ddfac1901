#include "cli/run_command.hpp"

#include <cstdio>
#include <stdexcept>
#include <string>

#include "cli/dry_run.hpp"
#include "cli/execute_run.hpp"
#include "cli/launcher.hpp"
#include "config/checks.hpp"
#include "config/groups.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"
#include "config/usage_error.hpp"
#include "participant/exit_status.hpp"
#include "transport/disturbing_transport.hpp"
#include "transport/ucx_availability.hpp"

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

/// Where the launcher gives the number of ranks and their order decides on roles, the layout is known before
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
            config::check_run_directory(request.out);
        }
    }
}

}  // namespace

int run_command(const std::vector<config::GivenOption>& options) {
    config::RunRequest request = config::resolve(options);
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
    return execute_run(request);
}

}  // namespace weir::cli
