#include "cli/simulation_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "cli/describe.hpp"
#include "cli/forecast.hpp"
#include "config/passes.hpp"
#include "config/quantities.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"
#include "config/switch_description.hpp"
#include "config/switch_keys.hpp"
#include "config/usage_error.hpp"
#include "core/fabric_layout.hpp"
#include "files/formatting.hpp"
#include "files/json.hpp"
#include "host/control_group.hpp"
#include "simulation/network_failures.hpp"
#include "weir_version.hpp"

namespace weir::cli {

namespace {

using config::RunRequest;
using config::UsageError;

/// Ranks in their order, as `weir run` would be started: by counts or by host lists, else a small example.
core::RoleMap assign(RunRequest& request) {
    config::RoleRequest roles = request.roles;
    if (roles.role) {
        throw UsageError(
            "--role: not for a simulation, which runs all roles; use --producers and "
            "--consumers");
    }
    const auto count = [](std::uint32_t& ranks, const std::vector<std::string>& hosts, std::uint32_t per_host,
                          std::uint32_t fallback) {
        if (!hosts.empty()) {
            ranks = static_cast<std::uint32_t>(hosts.size()) * std::max(per_host, 1U);
        } else if (ranks == 0) {
            ranks = fallback;
        }
    };
    count(roles.producers, roles.producer_hosts, roles.producers_per_host, 3);
    count(roles.consumers, roles.consumer_hosts, roles.consumers_per_host, 4);
    roles.producer_hosts.clear();
    roles.consumer_hosts.clear();
    roles.scheduler_host.clear();
    roles.producers_per_host = roles.consumers_per_host = 0;
    const std::vector<std::string> nowhere(1 + std::size_t{roles.producers} + roles.consumers);
    core::RoleMap map = config::assign_roles(roles, nowhere);
    config::apply_layout(request, map);
    return map;
}

std::vector<simulation::Disturbance> disturbances_of(const RunRequest& request) {
    std::vector<simulation::Disturbance> disturbances;
    for (const std::string& text : request.faults) {
        try {
            disturbances.push_back(
                simulation::parse_disturbance(text, config::parse_duration, config::parse_rate));
        } catch (const std::exception& error) {
            throw UsageError(fmt::format("--fault: {}", error.what()));
        }
        if (simulation::is_of_network(disturbances.back().kind)) {
            continue;
        }
        const core::NodeId node = disturbances.back().node;
        const std::uint32_t nodes = node.role == core::Role::producer   ? request.plan.producers
                                    : node.role == core::Role::consumer ? request.plan.consumers
                                                                        : 1;
        if (node.index >= nodes) {
            throw UsageError(fmt::format("--fault: '{}': there is no {} {}; write an index from 0 to {}",
                                         text, core::role_name(node.role), node.index, nodes - 1));
        }
        using Kind = simulation::Disturbance::Kind;
        const Kind kind = disturbances.back().kind;
        if (kind == Kind::drift && request.plan.shaping.kind != core::ShapingKind::in_step) {
            throw UsageError(fmt::format("--fault: '{}': a clock that drifts needs --shaping in-step", text));
        }
        const bool returns = kind == Kind::die && disturbances.back().length != core::Duration::max();
        if ((kind == Kind::cut || returns) && !request.plan.outlives_consumers) {
            throw UsageError(fmt::format("--fault: '{}': needs --on-failure continue", text));
        }
        if (kind == Kind::flood && !request.plan.lossy()) {
            throw UsageError(fmt::format("--fault: '{}': a flood needs --transport datagram", text));
        }
    }
    try {
        simulation::check_network_failures(request.plan, request.network, disturbances);
    } catch (const std::invalid_argument& error) {
        throw UsageError(fmt::format("--fault: {}", error.what()));
    }
    return disturbances;
}

/// All settings of the network that have a meaning in its model, by sections, as a file would have them.
nlohmann::ordered_json description_of_switch(const RunRequest& request) {
    nlohmann::ordered_json json{{"name", request.packets.switch_name}};
    for (const config::SwitchKey& key : config::switch_keys()) {
        if (request.network.fluid_fabric && !config::fluid_takes(key.section, key.name)) {
            continue;
        }
        json[std::string(key.section)][std::string(key.name)] = config::value_text(key, request.switches);
    }
    if (request.network.fluid_fabric) {
        return json;  // it has no classes
    }
    for (const config::ClassDescription& one : request.switches.classes) {
        for (const config::ClassKey& key : config::class_keys()) {
            json["class." + one.name][std::string(key.name)] = key.text(one, request.network.fabric);
        }
    }
    return json;
}

/// A JSON object, for run.json.
std::string environment_of(const RunRequest& request) {
    // Nothing of this machine: the same seed gives the same file everywhere.
    nlohmann::ordered_json environment;
    environment["world"] = "simulation";
    environment["weir_version"] = std::string(build_info::version);
    environment["weir_commit"] = std::string(build_info::git_commit);
    if (!request.scenario.empty()) {
        environment["scenario"] = request.scenario;
    }
    if (core::has_fabric(request.network)) {
        environment[request.network.fluid_fabric ? "fluid_network" : "packet_network"] =
            description_of_switch(request);
    }
    return files::json_text(environment);
}

/// The switch of each rank's host, where each host has one NIC.
void name_leaves(const RunRequest& request, std::vector<record::RankHost>& hosts) {
    const core::TopologyPlan& topology = request.network.fabric.topology;
    if (topology.nics > 1) {
        return;
    }
    if (!core::has_fabric(request.network) || topology.kind == core::TopologyKind::star) {
        for (record::RankHost& host : hosts) {
            host.leaf = "switch-0";
        }
        return;
    }
    const core::Placement placement(request.network, request.plan.producers, request.plan.consumers,
                                    request.plan.seed);
    const core::FabricLayout layout = core::fabric_layout(request.network, placement);
    for (std::uint32_t rank = 0; rank < hosts.size(); ++rank) {
        const core::Placement::Host& host = placement.hosts()[placement.host_of(rank)];
        hosts[rank].leaf = core::switch_text(layout.switches[layout.ports[host.first_port].leaf]);
    }
}

}  // namespace

simulation::SimulatedRun simulated_run(RunRequest& request) {
    simulation::SimulatedRun simulated;
    participant::RunDescription& run = simulated.run;
    run.roles = assign(request);
    describe(request, run);
    run.rank_hosts.resize(static_cast<std::size_t>(run.roles.ranks()));
    name_leaves(request, run.rank_hosts);
    run.environment = environment_of(request);
    simulated.network = request.network;
    simulated.records_network = request.counters;
    simulated.switch_row_length = request.packets.row_length;
    simulated.disturbances = disturbances_of(request);
    simulated.silence_timeout = request.silence_timeout;
    return simulated;
}

void check_simulation_memory(const core::Plan& plan, std::uint32_t at_a_time) {
    const double need = simulation_memory_bytes(plan) * at_a_time;
    const auto [available, by_group] = host::available_memory();
    if (available.count == 0 || need <= static_cast<double>(available.count)) {
        return;
    }
    const std::string shortage =
        fmt::format("need about {} of memory to simulate, and {} are available{}", files::bytes_text(need),
                    files::readable(available), host::limit_hint(by_group));
    throw UsageError(
        at_a_time > 1
            ? fmt::format("--groups: {} groups at a time {}; give --jobs a smaller number", at_a_time,
                          shortage)
            : fmt::format("--consumers: {} producers and {} consumers with {} slots {}; use fewer of them",
                          plan.producers, plan.consumers, plan.slots, shortage));
}

}  // namespace weir::cli
