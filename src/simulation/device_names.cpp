#include "simulation/device_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/assertion.hpp"
#include "core/fabric_layout.hpp"
#include "core/random.hpp"
#include "files/formatting.hpp"

namespace weir::simulation {

using packet::CableIndex;
using packet::LinkIndex;
using packet::NodeIndex;

namespace {}  // namespace

DeviceNames::DeviceNames(const packet::Topology& topology, std::vector<std::string> names,
                         std::vector<std::string> switches)
    : topology_(topology), names_(std::move(names)), switches_(std::move(switches)) {
    WEIR_ASSERT(names_.size() == topology.nodes() && switches_.size() <= names_.size());
}

std::string DeviceNames::link_name(LinkIndex link) const {
    const packet::Topology::Link& ends = topology_.links()[link];
    const std::vector<LinkIndex>& ports = topology_.ports(ends.from);
    const auto between = std::count_if(
        ports.begin(), ports.end(), [&](LinkIndex other) { return topology_.links()[other].to == ends.to; });
    return fmt::format("{}:{}{}", name(ends.from), name(ends.to),
                       between > 1 ? fmt::format("/{}", ends.parallel) : std::string{});
}

std::optional<NodeIndex> DeviceNames::find(std::string_view name) const {
    if (const auto found = std::find(names_.begin(), names_.end(), name); found != names_.end()) {
        return NodeIndex{static_cast<std::uint32_t>(found - names_.begin())};
    }
    if (const auto found = std::find(switches_.begin(), switches_.end(), name); found != switches_.end()) {
        return NodeIndex{static_cast<std::uint32_t>(names_.size() - switches_.size()) +
                         static_cast<std::uint32_t>(found - switches_.begin())};
    }
    return std::nullopt;
}

NodeIndex DeviceNames::known(std::string_view name) const {
    if (const std::optional<NodeIndex> node = find(name)) {
        return *node;
    }
    throw std::invalid_argument(fmt::format("there is no '{}'; there are {}", name, examples()));
}

std::vector<CableIndex> DeviceNames::cables(std::string_view name) const {
    const std::size_t slash = std::min(name.find('/'), name.size());
    const std::string_view ends = name.substr(0, slash);
    const std::size_t colon = ends.find(':');
    if (colon == std::string_view::npos) {
        throw std::invalid_argument(
            fmt::format("'{}' names no link; write both of its ends, as {}", name, link_name(0)));
    }
    const NodeIndex from = known(ends.substr(0, colon));
    const NodeIndex to = known(ends.substr(colon + 1));
    std::vector<CableIndex> found;
    for (const LinkIndex link : topology_.ports(from)) {
        if (topology_.links()[link].to == to) {
            found.push_back(link / 2);
        }
    }
    if (found.empty()) {
        throw std::invalid_argument(
            fmt::format("there is no cable from {} to {}", ends.substr(0, colon), ends.substr(colon + 1)));
    }
    if (slash == name.size()) {
        return found;
    }
    const std::optional<std::uint32_t> number = files::number_in<std::uint32_t>(name.substr(slash + 1));
    if (!number || *number >= found.size()) {
        throw std::invalid_argument(fmt::format("'{}': cables are numbered from 0 to {} there",
                                                name.substr(slash), found.size() - 1));
    }
    return {found[*number]};
}

std::vector<CableIndex> DeviceNames::cables(NodeIndex node) const {
    std::vector<CableIndex> found;
    for (const LinkIndex link : topology_.ports(node)) {
        found.push_back(link / 2);
    }
    return found;
}

std::string DeviceNames::examples() const {
    return fmt::format("{}, ..., {}, and {} to {}", names_.front(), names_.back(), switches_.front(),
                       switches_.back());
}

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
