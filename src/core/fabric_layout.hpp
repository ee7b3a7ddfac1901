// The switches, ports and cables of a simulated network: what TopologyPlan asks for, worked out, and what
// follows from it without a simulation: oversubscription, and the bandwidth between its halves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/placement.hpp"

namespace weir::core {

struct FabricLayout {
    /// A NIC's cable to its leaf.
    struct Port {
        std::uint32_t host = 0;
        std::uint32_t leaf = 0;  ///< a switch
        BitRate rate;
        Duration delay;
    };
    /// Between two switches.
    struct Cable {
        std::uint32_t lower = 0;
        std::uint32_t upper = 0;
        BitRate rate;
        Duration delay;
    };
    std::vector<SwitchName> switches;  ///< leaves, spines, cores. Of three tiers, spines pod by pod
    std::vector<Port> ports;           ///< as Placement numbers them
    std::vector<Cable> cables;
    std::uint32_t shared_out = 0;  ///< Placement::shared_out()

    [[nodiscard]] bool has(Tier tier) const;
};

/// `network` must be possible, as for Placement.
FabricLayout fabric_layout(const NetworkPlan& network, const Placement& placement);

/// "leaf-3", "spine-0", "core-1".
std::string switch_text(SwitchName name);

/// What a switch of this tier could get from below over what it can pass on upwards, of the switch where this
/// is most; 0: there is nothing above. Above 1 the tier is oversubscribed.
double oversubscription(const FabricLayout& layout, Tier tier);

struct BisectionBandwidth {
    BitRate bandwidth;  ///< of the network between the first half of the hosts and the others, each way
    BitRate of_hosts;   ///< what the links of the smaller half carry
};
/// The largest flow from one half to the other (Ford and Fulkerson, 1956; Edmonds and Karp, 1972), with the
/// hosts that leaves share, in their order.
BisectionBandwidth bisection(const FabricLayout& layout);

/// Links between switches on the way from one leaf to another one.
struct SwitchHops {
    std::uint32_t uplinks = 0;
    std::uint32_t core_links = 0;
};
SwitchHops hops_between(const TopologyPlan& plan, std::uint32_t from_leaf, std::uint32_t to_leaf);

/// Delay of a cable whose lower end is of this tier.
Duration cable_delay(const NetworkPlan& network, Tier lower);

/// Of all cables from one port to another one.
Duration way_delay(const NetworkPlan& network, const FabricLayout& layout, const Placement::Ports& way);

}  // namespace weir::core
