// How long a transfer takes that has the network to itself, from its first byte at the sender to its last one
// at the receiver: what its slowdown is measured against.
//
// Fluid: the latency (of a fabric, the delays of its cables), and its bytes at the rate at which the slowest
// of its links carries payload; where a fabric spreads it, all ways together count as one link. Packets:
// every switch sends a packet on when it has the whole of it. A packet leaves a link when it is there and the
// one before it has left, which is solved exactly for n full packets and a last one. Where switches spread
// packets over several cables, these share them evenly, which chance may not bring about. Flowlets change
// their way where a link before takes at least the gap for a packet; a sender that pauses makes gaps of its
// own, which are not counted. Of several queue pairs one counts. Clocks are exact and hosts take no
// time, so that a simulated transfer that is alone takes a little longer. Cables with a speed of their own
// count like the others of their tier. Between ranks of one host: at memory's speed.
#pragma once

#include <optional>
#include <vector>

#include "core/fabric_layout.hpp"
#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::core {

class IdealTimes {
  public:
    /// Both are used while this is made only. Chunks are not datagrams.
    IdealTimes(const Plan& plan, const NetworkPlan& network);

    /// `bytes` above 0.
    [[nodiscard]] Duration of(ProducerId from, ConsumerId to, Bytes bytes) const;

  private:
    /// Where packets go, and a fluid with a fabric.
    struct Fabric {
        Placement placement;
        FabricLayout layout;
    };
    [[nodiscard]] Duration of_fluid(std::uint32_t from, std::uint32_t to, Bytes bytes) const;
    [[nodiscard]] Duration of_packets(std::uint32_t from, std::uint32_t to, Bytes bytes) const;

    NetworkPlan network_;
    PacketShape packet_;  ///< packets only
    std::uint32_t producers_;
    std::vector<BitRate> payload_rates_;  ///< of ranks' links: the scheduler, producers, consumers
    std::optional<Fabric> fabric_;
};

// The ideal completion time of phases: what no schedule, no balancing and no congestion control can beat.
//
// The network is cut wherever traffic must pass: at the NICs of each host (by rail: at each NIC), at all
// cables upwards of a leaf, and of a pod. A cut needs the payload that has to pass it in one direction, over
// the rate at which its cables carry payload together, as if they were shared perfectly. The ideal is that of
// the slowest cut. What stays in a host needs the host's memory, one transfer after the other.
//
// With equal cables this is reached but for latencies (max-flow min-cut). Where cables of a tier have speeds
// of their own it is a lower bound: what leaves one leaf quickly may have to enter another one slowly.
// Rejected: an exact maximum concurrent flow, a linear program that differs only there.

/// By phase of the plan's traffic, which is addressed. A fluid without a fabric has the links of ranks only.
std::vector<Duration> ideal_phase_times(const Plan& plan, const NetworkPlan& network);

}  // namespace weir::core
