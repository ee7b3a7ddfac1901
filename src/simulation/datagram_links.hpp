// Datagrams in virtual time: a producer's link takes them one after the other; the switch's port to the
// consumer has a finite buffer and drops what does not fit any more (drop tail). Nothing holds a sender
// back. A datagram is a unit: it is dropped or delivered with all its frames.
//
// A link is a queue and how much of its first datagram has moved, in bit nanoseconds, so that a change of
// its speed holds for all that is queued, and no time is lost between datagrams. Rejected: the instant at
// which the queue will be empty; it is wrong as soon as the speed changes, and after a link that stood
// still it never comes.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/indexed_heap.hpp"
#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"
#include "core/units.hpp"
#include "simulation/fair_shares.hpp"

namespace weir::simulation {

class DatagramLinks {
  public:
    /// Nodes are numbered as in the simulator: the scheduler, the producers, the consumers. Datagrams have
    /// numbers of the caller's. Without datagrams in the plan nothing may be put in.
    DatagramLinks(const core::Plan& plan, const core::NetworkPlan& network);

    /// The node's link carries this part of its speed from now on; 0: nothing, until that is changed.
    void set_factor(core::Instant now, std::uint32_t node, double factor);

    /// The producer's link takes a datagram with so much payload.
    void hand_over(core::Instant now, std::uint32_t producer, std::uint32_t datagram, core::Bytes payload);
    /// It has reached the port to the consumer. False: it is dropped.
    [[nodiscard]] bool reach_port(core::Instant now, std::uint32_t consumer, std::uint32_t datagram,
                                  core::Bytes payload);

    /// When the next datagram has passed its link.
    [[nodiscard]] core::Instant next_end() const {
        return ends_.empty() ? core::Instant::never() : core::Instant{ends_.key(ends_.top())};
    }
    struct Passed {
        std::uint32_t node = 0;  ///< whose link
        std::uint32_t datagram = 0;
    };
    /// Removes the one whose end next_end() is; of several the one of the lowest node.
    Passed pop_next();

  private:
    struct Queued {
        std::uint32_t datagram = 0;
        core::Bytes bytes;  ///< on the wire
    };
    struct Link {
        core::BitRate full;
        core::BitRate rate;
        core::RingQueue<Queued> queue{std::numeric_limits<std::size_t>::max()};
        core::Bytes queued{};      ///< sum of the queue
        BitNanoseconds moved = 0;  ///< of the first in the queue, until `since`
        core::Instant since{};
    };
    [[nodiscard]] core::Bytes on_the_wire(core::Bytes payload) const;
    [[nodiscard]] static BitNanoseconds moved_by(const Link& link, core::Instant now) {
        return link.moved + static_cast<BitNanoseconds>(link.rate.bits_per_second) * (now - link.since).ns;
    }
    void put(core::Instant now, std::uint32_t node, const Queued& queued);
    void set_end(std::uint32_t node);

    core::NetworkPlan network_;
    std::vector<Link> links_;
    core::IndexedHeap<std::int64_t> ends_;  ///< links that carry something, by the end of their first, in ns
};

}  // namespace weir::simulation
