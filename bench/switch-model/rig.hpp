// Networks of the cases: hosts around one switch, with packets of 1000 B and no headers unless said
// otherwise.
#pragma once

#include <algorithm>
#include <vector>

#include "packet/packet_network.hpp"

namespace weir::switch_model {

using packet::FlowIndex;
using packet::LinkIndex;
using packet::PacketNetwork;
using packet::Picoseconds;

inline constexpr std::int64_t giga = 1'000'000'000;
inline constexpr Picoseconds microsecond = Picoseconds::nanoseconds(1'000);
inline constexpr Picoseconds millisecond = Picoseconds::nanoseconds(1'000'000);
/// More than any case sends.
inline constexpr core::Bytes endless{4'000'000'000};
/// Acknowledgements and CNPs: strictly first.
inline constexpr core::Priority urgent = 7;

core::NicPlan plain_nic();
/// A pool that is never full.
core::SwitchPlan plain_switch();

class Rig {
  public:
    /// Hosts are nodes 0, 1, ...
    Rig(packet::Topology topology, const core::SwitchPlan& switches, const core::NicPlan& nics,
        const core::TcpPlan& tcp = {}, std::uint64_t seed = 1);
    /// A star of equal links. `loop`: there and back, without queues.
    Rig(std::uint32_t hosts, std::int64_t rate, core::Duration loop, const core::SwitchPlan& switches,
        const core::NicPlan& nics, const core::TcpPlan& tcp = {}, std::uint64_t seed = 1);

    /// A flow that always has something to send, from now on.
    FlowIndex stream(std::uint32_t from, std::uint32_t to, PacketNetwork::Protocol protocol = {}) {
        return stream(from, to, network_.now(), protocol);
    }
    /// The same, from `begin` on: not before the flows that are there.
    FlowIndex stream(std::uint32_t from, std::uint32_t to, Picoseconds begin,
                     PacketNetwork::Protocol protocol = {});
    void run_to(Picoseconds until);

    [[nodiscard]] PacketNetwork& network() { return network_; }
    /// In a star: the link from a host to the switch, and the one back.
    [[nodiscard]] static LinkIndex up(std::uint32_t host) { return 2 * host; }
    [[nodiscard]] static LinkIndex down(std::uint32_t host) { return 2 * host + 1; }
    [[nodiscard]] const packet::LinkCounts& counts(LinkIndex link) { return network_.counts(link, 0); }
    /// Packets of a flow that have arrived in order.
    [[nodiscard]] double arrived(FlowIndex flow) { return network_.flow(flow).expected(); }

  private:
    packet::Topology topology_;
    PacketNetwork network_;
};

/// Packets of each flow that arrive in order, from now until then.
std::vector<double> arrivals(Rig& rig, const std::vector<FlowIndex>& flows, Picoseconds until);

/// The middle one; of an even number the upper one of two.
double median(std::vector<double> values);
/// Jain's: 1 if all are equal, 1/n if one has everything.
double fairness_index(const std::vector<double>& values);

}  // namespace weir::switch_model
