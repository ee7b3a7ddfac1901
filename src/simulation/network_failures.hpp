// Disturbances of the network itself: the failures of a packet network that they stand for, and whether they
// can be simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "packet/failure.hpp"
#include "packet/packet_network.hpp"
#include "record/parallel_links.hpp"
#include "record/switch_counters.hpp"
#include "simulation/device_names.hpp"
#include "simulation/disturbance.hpp"

namespace weir::simulation {

/// Of a disturbance with is_of_network(). Throws std::invalid_argument with what is wrong: names of devices
/// that do not exist, a rate above that of the link.
packet::FabricFailure failure_of(const Disturbance& disturbance, const packet::Topology& topology,
                                 const DeviceNames& names);

/// Refuses what cannot be simulated: a network without packets, names of nothing, a storm without flow
/// control, hosts that a cut leaves without a way to others, unless the disturbance has `disconnects`.
/// Throws std::invalid_argument with the disturbance and what would be right.
void check_network_failures(const core::Plan& plan, const core::NetworkPlan& network,
                            std::span<const Disturbance> disturbances);

/// With flow control, whether routes allow a deadlock: a sentence for each time at which cuts make them do
/// so, or for the network as it is.
std::vector<std::string> possible_deadlocks(const core::Plan& plan, const core::NetworkPlan& network,
                                            std::span<const Disturbance> disturbances);

/// The failures of a packet network that were asked for: what they are called there and what they cost.
class FailureAccount {
  public:
    /// All but the plan must outlive this. `begin`: when the clock of the packets is 0.
    FailureAccount(const packet::Topology& topology, packet::PacketNetwork& network, const DeviceNames& names,
                   const core::NetworkPlan& plan, core::Instant begin);

    /// Begins or ends a disturbance of the network, by its number.
    void set(core::Instant now, std::uint32_t number, const Disturbance& disturbance, bool on);
    /// At the end of each row of switches, with what parallel links carried in it.
    void close_row(core::Instant begin, core::Instant now, const record::ParallelLinkLoads& loads);
    /// Up to now.
    [[nodiscard]] record::NetworkFailures report(core::Instant now) const;

  private:
    struct Asked {
        std::uint32_t failure = 0;  ///< in the network
        std::string text;
        std::vector<packet::CableIndex> cables{};
        core::Instant begin;
        std::optional<core::Instant> end{};
    };
    [[nodiscard]] core::Instant instant(packet::Picoseconds at) const {
        return begin_ + (at.instant() - core::Instant{});
    }
    [[nodiscard]] record::SwitchEvent event_of(const packet::NetworkEvent& event) const;
    /// Groups of parallel links that have one of these.
    [[nodiscard]] std::vector<std::size_t> groups_with(const std::vector<packet::CableIndex>& cables) const;
    void look_at_routes();
    void follow_routes(packet::CableIndex cable, std::size_t group, core::Instant begin, core::Instant now);

    const packet::Topology& topology_;
    packet::PacketNetwork& network_;
    const DeviceNames& names_;
    bool watchdog_;
    core::Instant begin_;
    std::map<std::uint32_t, Asked> asked_;  ///< by number of the disturbance
    // By group of parallel links, as SwitchedCounters::parallel_links() has them, and link.
    std::vector<std::vector<packet::CableIndex>> cables_;
    std::vector<std::vector<bool>> routed_;  ///< at the beginning of the present row
    record::EvenLoads even_loads_;
};

}  // namespace weir::simulation
