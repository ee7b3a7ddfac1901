// Failures of the cables, switches and NICs of a PacketNetwork, what each of them cost, and what the switches
// did about them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "packet/link.hpp"
#include "packet/packet.hpp"
#include "packet/topology.hpp"

namespace weir::packet {

/// Both directions of a cable: links 2 x cable and 2 x cable + 1.
using CableIndex = std::uint32_t;

struct FabricFailure {
    enum class Kind : std::uint8_t {
        cut,     ///< the cables carry nothing; what is on them or waits for them is lost
        slow,    ///< the cables carry `share` of their rate
        errors,  ///< the cables lose `share` of their packets, at random
        storm,   ///< the host pauses its switch
    };
    Kind kind = Kind::cut;
    std::vector<CableIndex> cables{};  ///< a switch that dies: all of its cables
    NodeIndex host{};                  ///< storm
    double share = 0;
};

/// Packets that a failure lost. Each is counted once, for the first of the failures that last.
struct FailureCosts {
    Carried on_links;     ///< under way on a cable when it was cut
    Carried in_queues;    ///< that waited for it then
    Carried sent_to_cut;  ///< that came for it before routes had converged
    Carried without_way;  ///< for hosts to which there was no way
    Carried by_errors;
    /// Gaps of delivery. Of a connection that lost data: from the last packet that came in order before the
    /// missing one until that one came. Of a sender of datagrams and a receiver: until a later one came.
    std::uint64_t gaps = 0;
    std::uint64_t open_gaps = 0;  ///< of them: that have not ended
    Picoseconds longest_gap;

    [[nodiscard]] Carried lost() const {
        Carried all;
        for (const Carried& some : {on_links, in_queues, sent_to_cut, without_way, by_errors}) {
            all += some;
        }
        return all;
    }
};

/// Packets of a link that were lost and did not lack room.
struct LinkLosses {
    CarriedByPriority on_link;  ///< after they were sent
    Carried before_link;        ///< in its queue, or on coming to it
};

/// What watchdogs of switches did.
struct WatchdogCounts {
    std::uint64_t detected = 0;  ///< queues that were paused for too long
    std::uint64_t restored = 0;
    Carried dropped;
};

/// Something that happened to switches as a consequence.
struct NetworkEvent {
    enum class Kind : std::uint8_t {
        converged,  ///< routes follow a failure, or its end
        detected,   ///< a watchdog found a queue paused for too long
        restored,   ///< it treats the queue as usual again
        deadlocked,
        resolved,  ///< a deadlock has ended
    };
    static constexpr std::size_t most_kept = 10'000;
    static constexpr LinkIndex no_link = std::numeric_limits<LinkIndex>::max();
    Kind kind = Kind::converged;
    Picoseconds at;
    LinkIndex link = no_link;  ///< detected, restored: to the peer that paused
    Priority priority = 0;
    std::vector<LinkIndex> cycle{};  ///< deadlocked: links that wait for each other, in a circle
};

/// Links between switches that may have to wait for each other in a circle, in the order in which packets
/// take them; empty: there is no such circle. Without the cables marked in `unused`, by number; empty: with
/// all. Hosts send to all others.
std::vector<LinkIndex> buffer_cycle(const Topology& topology, const std::vector<bool>& unused = {});

}  // namespace weir::packet
