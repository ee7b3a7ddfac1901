// Which of several equally short ways a packet takes at a switch: ECMP, flowlets, packet spraying, adaptive.
//
// Chosen: two questions, when a flow takes a way anew and which one it takes then. The first way in turn is
// that of ECMP, so flowlets with an endless gap are ECMP, and without a gap packet spraying. The state of a
// flow is that of this switch alone; where the ways change, the next packet takes one of those that are left.
//
// Rejected: ways drawn at random for each packet, whose loads are uneven by the square root of their number;
// a table of flowlets of limited size, as chips have it, in which flows meet by chance.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "core/switch_plan.hpp"
#include "packet/link.hpp"
#include "packet/packet.hpp"
#include "packet/topology.hpp"

namespace weir::packet {

/// What a flow is for hashes: from one host to another one, by their identities (Topology::identity), and
/// the number that it has among flows of these two.
[[nodiscard]] constexpr std::uint64_t path_of(std::uint64_t seed, std::uint32_t from, std::uint32_t to,
                                              std::uint32_t number) {
    return core::Random(seed, core::random_stream(core::RandomPurpose::path, from, to, number)).next();
}

/// ECMP: the place of a flow's way among so many, by a hash of what the flow is.
[[nodiscard]] constexpr std::uint64_t hashed_way(std::uint64_t path, std::uint64_t ways) {
    return core::SplitMix64(path).next() % ways;
}

/// The ways in turn, beginning with the hashed one. After each round the hash chooses anew where to begin:
/// flows that have met on a way do not meet on all the following ones.
[[nodiscard]] constexpr std::uint64_t way_in_turn(std::uint64_t path, std::uint64_t turn,
                                                  std::uint64_t ways) {
    return (hashed_way(path + (turn / ways << 32U), ways) + turn % ways) % ways;
}

/// A packet of which a switch may choose the way.
struct Crossing {
    FlowIndex flow;
    NodeIndex to;
    Priority priority = 0;
    std::uint64_t path = 0;  ///< a hash of what the flow is, and of where this packet of it goes
    Picoseconds now;
    std::span<const LinkIndex> ways;  ///< at least two
};

/// Of one switch.
class Balancer {
  public:
    Balancer() = default;
    Balancer(const Balancer&) = delete;
    Balancer& operator=(const Balancer&) = delete;
    virtual ~Balancer() = default;

    /// One of the packet's ways. `links`: all of the network, by index.
    virtual LinkIndex choose(const Crossing& packet, const std::vector<Link>& links) = 0;
};

std::unique_ptr<Balancer> make_balancer(const core::BalancingPlan& plan);

}  // namespace weir::packet
