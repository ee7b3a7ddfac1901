// Hosts, switches and cables of a packet network by their names: as in switch/NAME.csv and hosts/NAME.csv,
// and as a user writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "packet/failure.hpp"
#include "packet/topology.hpp"

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

}  // namespace weir::simulation
