#include "simulation/switched_topology.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/fabric_layout.hpp"
#include "core/random.hpp"

namespace weir::simulation {

packet::Topology topology_of(const core::Plan& plan, const core::NetworkPlan& network,
                             const core::Placement& placement) {
    packet::Topology topology = packet::built(core::fabric_layout(network, placement));
    const NodeRow row{plan.producers, plan.consumers};
    constexpr std::uint32_t no_node = 3U << 29U;  // roles are 0 to 2
    for (const core::Placement::Host& host : placement.hosts()) {
        for (std::uint32_t port = host.first_port; port < host.first_port + host.nics; ++port) {
            const bool of_node = port == host.first_port && !host.ranks.empty();
            topology.set_identity({port}, of_node ? row.identity(host.ranks.front()) : no_node | port);
        }
    }
    return topology;
}

std::uint32_t hashed_number(const core::Placement& placement, const NodeRow& row, FlatNode from, FlatNode to,
                            std::uint32_t number) {
    const auto is_alone = [&](FlatNode node) {
        return placement.hosts()[placement.host_of(node)].ranks.size() == 1;
    };
    if (is_alone(from) && is_alone(to)) {
        return number;
    }
    return static_cast<std::uint32_t>(
        core::random_stream(core::RandomPurpose::path, row.identity(from), row.identity(to), number));
}

DeviceNames device_names(const packet::Topology& topology, const core::NetworkPlan& network,
                         const core::Placement& placement) {
    std::vector<std::string> names;
    std::vector<std::string> switches;
    for (std::uint32_t index = 0; index < placement.hosts().size(); ++index) {
        const core::Placement::Host& host = placement.hosts()[index];
        for (std::uint32_t nic = 0; nic < host.nics; ++nic) {
            names.push_back(placement.name(index) + (host.nics > 1 ? fmt::format(".nic{}", nic) : ""));
        }
    }
    for (const core::SwitchName name : core::fabric_layout(network, placement).switches) {
        names.push_back(fmt::format("switch-{}", switches.size()));
        switches.push_back(core::switch_text(name));
    }
    return {topology, std::move(names), std::move(switches)};
}

}  // namespace weir::simulation
