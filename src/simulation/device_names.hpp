// Hosts, switches and cables of a simulated fabric: how they are connected, their names (in switch/NAME.csv
// and hosts/NAME.csv, and as a user writes them), and how flows are hashed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric_layout.hpp"
#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "packet/failure.hpp"
#include "packet/topology.hpp"
#include "simulation/network.hpp"

namespace weir::simulation {

class DeviceNames {
  public:
    /// `names`: of each node. `switches`: other names of the switches, which are the last nodes. `topology`
    /// must outlive this.
    DeviceNames(const packet::Topology& topology, std::vector<std::string> names,
                std::vector<std::string> switches);

    /// "switch-0", "consumer-3", "scheduler", "host-2.nic1".
    [[nodiscard]] const std::string& name(packet::NodeIndex node) const { return names_[node.value]; }
    /// "switch-0:switch-2", from where it begins to where it ends; of several parallel ones with "/1".
    [[nodiscard]] std::string link_name(packet::LinkIndex link) const;
    /// Also "leaf-0". Nothing: there is none of this name.
    [[nodiscard]] std::optional<packet::NodeIndex> find(std::string_view name) const;
    /// "leaf-0:spine-1", in either order: all cables between two devices; with "/1" the second of them.
    /// Throws std::invalid_argument with what is wrong and what would be right.
    [[nodiscard]] std::vector<packet::CableIndex> cables(std::string_view name) const;
    /// All of a device.
    [[nodiscard]] std::vector<packet::CableIndex> cables(packet::NodeIndex node) const;
    /// An example of each kind of name, for messages.
    [[nodiscard]] std::string examples() const;

  private:
    [[nodiscard]] packet::NodeIndex known(std::string_view name) const;

    const packet::Topology& topology_;
    std::vector<std::string> names_;  ///< by node
    std::vector<std::string> switches_;
};

/// Ports of the placement are the first nodes. A NIC draws random numbers as the first node of its host does,
/// a further NIC as none.
packet::Topology topology_of(const core::Plan& plan, const core::NetworkPlan& network,
                             const core::Placement& placement);

/// `topology` is that of the others.
DeviceNames device_names(const packet::Topology& topology, const core::NetworkPlan& network,
                         const core::Placement& placement);

/// By which number a flow between two ranks is hashed, `number` among those of its pair: where hosts have
/// several ranks, pairs have numbers apart.
std::uint32_t hashed_number(const core::Placement& placement, const NodeRow& row, FlatNode from, FlatNode to,
                            std::uint32_t number);

}  // namespace weir::simulation
