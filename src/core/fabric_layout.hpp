// The switches, ports and cables of a simulated network: what TopologyPlan asks for, worked out, and what
// follows from it without a simulation: oversubscription, and the bandwidth between its halves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/network_plan.hpp"
#include "core/units.hpp"

namespace weir::core {

// Which rank sits on which host of a simulated network, and by which NICs two ranks reach each other: what
// PlacementPlan asks for, worked out. Ranks that share a host share its NICs in both directions; what they
// send each other stays in the host.
//
// Ranks are numbered in one row: the scheduler, the producers, the consumers. Hosts are numbered in the order
// in which leaves have them, and ports (one for each NIC) in the order of hosts.
//
// Chosen: a NIC is a port of its own, so the network below has nothing to do with hosts of several. Rejected:
// to choose a NIC for each packet, which reorders.

/// What is put on hosts one after the other: workers, or ranks (rows, with the scheduler; random, if there
/// are more of one role).
struct PlacedUnits {
    bool workers = false;
    std::uint32_t count = 0;
    std::uint32_t per_host = 1;
    [[nodiscard]] std::uint32_t hosts() const { return (count + per_host - 1) / per_host; }
};
/// Of a list: as many hosts as it names.
PlacedUnits placed_units(const FabricPlan& fabric, std::uint32_t producers, std::uint32_t consumers);

class Placement {
  public:
    struct Host {
        std::vector<std::uint32_t> ranks;  ///< in ascending order; may be empty
        BitRate rate;                      ///< of each NIC: that of its fastest rank's link
        std::uint32_t nics = 1;
        std::uint32_t first_port = 0;
    };
    struct Ports {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        bool operator==(const Ports&) const = default;
    };

    /// What is asked for must be possible: config refuses the rest.
    Placement(const NetworkPlan& network, std::uint32_t producers, std::uint32_t consumers,
              std::uint64_t seed);

    [[nodiscard]] const std::vector<Host>& hosts() const { return hosts_; }
    /// Hosts that leaves share evenly: all, but for one of the scheduler alone at the end.
    [[nodiscard]] std::uint32_t shared_out() const { return shared_out_; }
    [[nodiscard]] std::uint32_t ports() const { return hosts_.back().first_port + hosts_.back().nics; }
    [[nodiscard]] std::uint32_t host_of(std::uint32_t rank) const { return host_of_[rank]; }
    [[nodiscard]] bool on_one_host(std::uint32_t a, std::uint32_t b) const {
        return host_of_[a] == host_of_[b];
    }
    /// By which NICs a flow between ranks of two hosts goes. By rail: those of the sender's rail on both
    /// sides, the first ones to and from the scheduler. Else drawn for each side by seed, ranks and `number`.
    [[nodiscard]] Ports ports(std::uint32_t from, std::uint32_t to, std::uint32_t number) const;
    /// The hosts to which a host sends traffic of others (BackgroundPlan), in ascending order: if it has a
    /// producer, all others with consumers.
    [[nodiscard]] std::vector<std::uint32_t> receivers_of_others(std::uint32_t host) const;
    /// "consumer-3" or "scheduler" of its only rank, "worker-3" of producer and consumer 3, else "host-7".
    [[nodiscard]] std::string name(std::uint32_t host) const;
    /// The most producers (consumers) on one host.
    [[nodiscard]] std::uint32_t most_producers() const { return most(1, producers_); }
    [[nodiscard]] std::uint32_t most_consumers() const { return most(1 + producers_, consumers_); }

  private:
    [[nodiscard]] NodeId node_of(std::uint32_t rank) const;
    void place(const FabricPlan& fabric);
    void put(const PlacedUnits& units, std::uint32_t unit, std::uint32_t place);
    void put_rank(std::uint32_t rank, std::uint32_t host, std::uint32_t rail);
    [[nodiscard]] bool has(Role role, std::uint32_t host) const;
    [[nodiscard]] std::uint32_t most(std::uint32_t first, std::uint32_t count) const;

    std::uint32_t producers_;
    std::uint32_t consumers_;
    std::uint64_t seed_;
    bool by_rail_;
    std::uint32_t shared_out_ = 0;
    std::vector<Host> hosts_;
    std::vector<std::uint32_t> host_of_;  ///< by rank
    std::vector<std::uint32_t> rail_of_;  ///< by rank
};

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
