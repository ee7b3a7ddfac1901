// Grants that a producer has received and not yet used. `assigned`: first come, first served. `barrel`:
// consumers in turn, and every producer begins with another one, so that producers that were granted the
// same consumers at the same time do not all send to the same one (barrel shifting). With policy `none` and
// addressed events a grant may wait long for an event, so consumers are served in turn there too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ids.hpp"
#include "core/messages.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"
#include "core/units.hpp"

namespace weir::core {

struct WaitingGrant {
    Grant grant;
    Instant received_at;
};

class GrantQueue {
  public:
    GrantQueue(const Plan& plan, ProducerId producer);

    [[nodiscard]] bool empty() const { return size_ == 0; }
    /// Whether as many grants for the consumer wait as it has slots: no more can be right.
    [[nodiscard]] bool full(ConsumerId consumer) const;
    void push(const WaitingGrant& waiting);
    /// Not when empty. In turn: O(consumers / 64).
    WaitingGrant pop();
    /// The next grant, in turn, for one of these consumers (bit c: consumer c); nothing if there is none.
    /// Only with policy `none` and addressed events.
    std::optional<WaitingGrant> pop_for(std::span<const std::uint64_t> consumers);
    /// Drops the consumer's grants. O(waiting).
    void erase(ConsumerId consumer);

  private:
    WaitingGrant pop_from(std::uint32_t consumer);

    std::uint32_t consumers_;
    std::size_t size_ = 0;
    std::vector<RingQueue<WaitingGrant>> queues_;  ///< in turn: by consumer; else one
    std::vector<std::uint64_t> waiting_;           ///< in turn, bit c: there is a grant for consumer c
    std::uint32_t turn_;                           ///< in turn: the consumer to look at first
};

}  // namespace weir::core
