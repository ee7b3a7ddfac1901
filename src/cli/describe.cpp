#include "cli/describe.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "config/option_table.hpp"

namespace weir::cli {

namespace {

core::Pressure of_request(const config::RunRequest& request, std::uint32_t consumers_per_port) {
    return request.simulated
               ? core::simulated_pressure(request.plan, request.network, !request.faults.empty())
               : core::measured_pressure(request.plan, consumers_per_port, request.acts_at);
}

/// The most consumers on one host; 1 where hosts are not known.
std::uint32_t most_on_a_host(const participant::RunDescription& run) {
    std::map<std::string, std::uint32_t> consumers;
    std::uint32_t most = 1;
    for (std::size_t rank = 0; rank < run.rank_hosts.size(); ++rank) {
        const std::string& host = run.rank_hosts[rank].host;
        if (!host.empty() && run.roles.node(static_cast<int>(rank)).role == core::Role::consumer) {
            most = std::max(most, ++consumers[host]);
        }
    }
    return most;
}

}  // namespace

void describe(const config::RunRequest& request, participant::RunDescription& run) {
    run.plan = request.plan;
    run.require_sustained = request.require.sustained;
    run.socket_buffer = request.socket_buffer;
    run.require_on_time = request.require.on_time;
    run.require_lossless = request.require.lossless;
    run.labels = request.tags;
    if (!request.label.empty()) {
        run.labels.insert(run.labels.begin(), {"label", request.label});
    }
    for (const auto& option : config::plan_values(request)) {
        run.plan_options.emplace_back(option.name, option.value);
    }
    run.pressure = pressure_of(request, run);
}

std::optional<core::Pressure> pressure_of(const config::RunRequest& request) {
    if (request.plan.producers == 0 || request.plan.consumers == 0) {
        return std::nullopt;
    }
    return of_request(request, std::max(request.roles.consumers_per_host, 1U));
}

core::Pressure pressure_of(const config::RunRequest& request, const participant::RunDescription& run) {
    return of_request(request, most_on_a_host(run));
}

}  // namespace weir::cli
