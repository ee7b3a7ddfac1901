// Hosts of equal links around one switch, for tests of the packet network.
#pragma once

#include <algorithm>
#include <vector>

#include "packet/packet_network.hpp"

namespace weir::packet {

inline constexpr std::int64_t giga = 1'000'000'000;
inline constexpr Picoseconds microsecond = Picoseconds::nanoseconds(1'000);
inline constexpr Picoseconds millisecond = Picoseconds::nanoseconds(1'000'000);
/// More than any test sends.
inline constexpr core::Bytes endless{4'000'000'000};
/// Acknowledgements and CNPs of plain_nic(): strictly first, lossy, never marked.
inline constexpr Priority urgent = 7;

/// Packets of 1000 B on the wire.
inline core::NicPlan plain_nic() {
    core::NicPlan nic;
    nic.payload = {1000};
    nic.overhead = {0};
    nic.ack_priority = nic.cnp_priority = urgent;
    nic.strict = core::mask_of(urgent);
    return nic;
}

inline core::SwitchPlan plain_switch() {
    core::SwitchPlan settings;
    settings.strict = core::mask_of(urgent);
    return settings;
}

class StarRig {
  public:
    StarRig(std::uint32_t hosts, const core::SwitchPlan& switches, const core::NicPlan& nics,
            std::uint64_t seed = 1, const core::TcpPlan& tcp = {}, std::int64_t rate = 10 * giga)
        : topology(star(std::vector<core::BitRate>(hosts, {rate}), core::Duration::nanoseconds(500))),
          network({.topology = topology, .switches = switches, .nics = nics, .tcp = tcp, .seed = seed}) {}

    FlowIndex stream(std::uint32_t from, std::uint32_t to, Priority priority = 0,
                     PacketNetwork::Protocol protocol = {}) {
        const FlowIndex flow = network.connect({from}, {to}, priority, protocol);
        network.post(network.now(), flow, 0, endless);
        return flow;
    }
    /// Returns all that was reported on the way.
    std::vector<PacketNetwork::Report> run_to(Picoseconds until) {
        std::vector<PacketNetwork::Report> all;
        while (network.next_time() != Picoseconds::never() && network.next_time() <= until) {
            const auto& reports = network.advance(until);
            all.insert(all.end(), reports.begin(), reports.end());
        }
        return all;
    }
    static constexpr LinkIndex up(std::uint32_t host) { return 2 * host; }
    static constexpr LinkIndex down(std::uint32_t host) { return 2 * host + 1; }
    [[nodiscard]] NodeIndex middle() const { return {static_cast<std::uint32_t>(topology.nodes() - 1)}; }
    /// Packets that came in order, of each flow.
    [[nodiscard]] double arrived(FlowIndex flow) const { return network.flow(flow).expected(); }

    Topology topology;
    PacketNetwork network;
};

}  // namespace weir::packet
