// How hosts and switches of a simulated network are connected, and which ranks sit on which host, as a user
// asks for it. core/placement.hpp and core/fabric_layout.hpp work out what follows from it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/units.hpp"

namespace weir::core {

enum class TopologyKind : std::uint8_t {
    star,            ///< one switch
    leaf_spine,      ///< every leaf has cables to every spine
    three_tier,      ///< pods of leaves and spines, and cores above them
    rail_optimized,  ///< leaf and spine, with each NIC of a host at a leaf of its own
};

/// Switches by what they connect, and cables by the lower of their ends.
enum class Tier : std::uint8_t { host, leaf, spine, core };

struct SwitchName {
    Tier tier = Tier::leaf;
    std::uint32_t index = 0;
    bool operator==(const SwitchName&) const = default;
};

/// All cables between two switches, where they have a speed of their own.
struct OwnCables {
    SwitchName lower;
    SwitchName upper;
    BitRate rate;
    bool operator==(const OwnCables&) const = default;
};

struct TopologyPlan {
    TopologyKind kind = TopologyKind::star;
    std::uint32_t leaves = 2;  ///< in all; they share the hosts evenly, the first ones to the first leaf
    std::uint32_t spines = 1;  ///< three tiers: of each pod
    BitRate uplink_rate{100'000'000'000};
    std::uint32_t uplinks = 1;  ///< cables from each leaf to each spine (of its pod)
    // Three tiers: spine number s of every pod has cables to the cores of plane s, cores / spines of them.
    std::uint32_t pods = 2;
    std::uint32_t cores = 1;
    BitRate core_rate{100'000'000'000};
    std::uint32_t core_links = 1;  ///< cables from a spine to each core of its plane
    // Delay of a cable, one way; 0: half of the network's latency.
    Duration host_delay{};
    Duration uplink_delay{};
    Duration core_delay{};
    std::uint32_t hosts = 0;  ///< 0: as many as the ranks need
    std::uint32_t nics = 1;   ///< of each host; each has its cable to a leaf
    std::vector<OwnCables> own_cables{};
    bool operator==(const TopologyPlan&) const = default;
};

enum class PlacementKind : std::uint8_t {
    rows,  ///< the scheduler, the producers, the consumers, a host for each: as a fluid without hosts has it
    by_worker,  ///< producer i and consumer i on one host
    by_rail,    ///< by worker, as many on a host as it has NICs, a NIC for each
    listed,     ///< as `hosts` says
    random,     ///< workers, or ranks if there are more of one role, on hosts that are drawn
};

struct PlacementPlan {
    PlacementKind kind = PlacementKind::rows;
    std::uint32_t per_host = 1;          ///< ranks (rows) or workers on a host; by rail: as many as NICs
    std::vector<std::uint32_t> hosts{};  ///< listed: of each worker, or of each producer and each consumer
    bool scheduler_shares = false;       ///< it sits on host 0, and not on one of its own; rows: never
    std::uint32_t seed = 0;              ///< random; 0: that of the run
    // Between ranks of one host.
    BitRate memory_rate{200'000'000'000};
    Duration memory_delay = Duration::nanoseconds(500);
    bool operator==(const PlacementPlan&) const = default;
};

}  // namespace weir::core
