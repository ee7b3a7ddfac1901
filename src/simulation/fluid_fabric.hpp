// The fabric of a fluid network: which links a transfer between two ranks takes and how much of it each, what
// they carry, and what failures make of both. The same hosts, cables and ways as packet by packet
// (device_names.hpp): with ECMP the way that the same hash gives; where packets are spread, equal parts
// on all ways. Without packets nothing is lost: what a cut link would carry waits until routes have
// converged.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/fabric_layout.hpp"
#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"
#include "packet/failure.hpp"
#include "packet/topology.hpp"
#include "simulation/device_names.hpp"
#include "simulation/disturbance.hpp"
#include "simulation/fair_shares.hpp"
#include "simulation/network.hpp"

namespace weir::simulation {

class FluidFabric {
  public:
    /// `network` has a fabric (core::has_fabric).
    FluidFabric(const core::Plan& plan, const core::NetworkPlan& network);
    FluidFabric(const FluidFabric&) = delete;
    FluidFabric& operator=(const FluidFabric&) = delete;
    ~FluidFabric() = default;

    /// Payload rates of both directions of each cable, and of the memory of each host, by LinkId.
    [[nodiscard]] std::vector<core::BitRate> capacities() const;
    [[nodiscard]] core::BitRate capacity(LinkId link) const;

    /// By the routes of now; empty: there is no way. Ranks of one host have its memory.
    [[nodiscard]] std::vector<PathLink> path(FlatNode from, FlatNode to);

    /// From when bytes have moved until they are there: the delays of cables, or that of a host's memory.
    [[nodiscard]] core::Duration delay(FlatNode from, FlatNode to) const;

    /// The links of a rank's host carry `factor` of what they should, of several ranks the least. Returns
    /// those whose capacity may have changed, as set_failed() does.
    std::vector<LinkId> set_link(FlatNode node, double factor);
    /// A disturbance of the network begins or ends, by its number.
    std::vector<LinkId> set_failed(std::uint32_t number, const Disturbance& disturbance, bool on);
    /// A convergence time after set_failed(), once for each call: routes follow what it has cut or mended.
    /// False: nothing.
    bool converge();
    [[nodiscard]] core::Duration convergence() const { return convergence_; }

  private:
    struct Rerouted {
        std::vector<packet::CableIndex> cables;
        bool cut = false;
    };
    [[nodiscard]] bool is_cut(packet::CableIndex cable) const;
    [[nodiscard]] double factor(packet::CableIndex cable) const;
    [[nodiscard]] LinkId memory_of(std::uint32_t host) const {
        return {static_cast<std::uint32_t>(topology_.links().size()) + host};
    }
    [[nodiscard]] const std::vector<packet::LinkIndex>& ways(packet::NodeIndex from, packet::NodeIndex to);

    NodeRow row_;
    core::NetworkPlan plan_;
    std::uint64_t seed_;
    core::Duration convergence_;
    core::Placement placement_;
    core::FabricLayout layout_;
    packet::Topology topology_;
    DeviceNames names_;
    std::map<std::uint32_t, packet::FabricFailure> failures_;  ///< that last, by the disturbance's number
    std::vector<double> factors_of_ranks_;
    std::vector<double> factors_of_hosts_;
    core::RingQueue<Rerouted> unrouted_;
    std::vector<bool> unused_;  ///< cables, by the routes of now
    /// To each port from each node, as they are asked for.
    std::map<std::uint32_t, std::vector<std::vector<packet::LinkIndex>>> ways_;
};

}  // namespace weir::simulation
