// Datagrams in virtual time: a producer's link takes them one after the other; the switch's port to the
// consumer has a finite buffer and drops what does not fit any more (drop tail). Nothing holds a sender
// back. A datagram is a unit: it is dropped or delivered with all its frames.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"

namespace weir::simulation {

class DatagramNetwork {
  public:
    /// Nodes are numbered as in the simulator: the scheduler, the producers, the consumers.
    DatagramNetwork(const core::Plan& plan, const core::NetworkPlan& network);

    /// The node's link carries this part of its speed from now on; what is under way is not changed. 0:
    /// very slow.
    void set_factor(std::uint32_t node, double factor);

    /// When a datagram with so much payload that is handed over now has left the producer.
    core::Instant leaves_at(core::Instant now, std::uint32_t producer, core::Bytes payload);
    /// One reaches the switch: when the consumer has it, or nothing if it is dropped. In the order of
    /// time.
    std::optional<core::Instant> arrives_at(core::Instant now, std::uint32_t consumer, core::Bytes payload);

  private:
    struct Link {
        core::BitRate full;
        core::BitRate rate;
        core::Instant free_at;  ///< when all that it has taken has left
    };
    [[nodiscard]] core::Bytes on_the_wire(core::Bytes payload) const;

    core::NetworkPlan network_;
    std::vector<Link> links_;
};

}  // namespace weir::simulation
