// Grants that a producer has received and not yet used. `assigned`: first come, first served. `barrel`:
// consumers in turn, and every producer begins with another one, so that producers that were granted the
// same consumers at the same time do not all send to the same one (barrel shifting).
#pragma once

#include <cstddef>
#include <cstdint>
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
    /// Not when empty. `barrel`: O(consumers / 64).
    WaitingGrant pop();
    /// Drops the consumer's grants. O(waiting).
    void erase(ConsumerId consumer);

  private:
    [[nodiscard]] std::uint32_t next_consumer() const;

    std::uint32_t consumers_;
    std::size_t size_ = 0;
    std::vector<RingQueue<WaitingGrant>> queues_;  ///< `barrel`: by consumer; else one
    std::vector<std::uint64_t> waiting_;           ///< `barrel`, bit c: there is a grant for consumer c
    std::uint32_t turn_;                           ///< `barrel`: the consumer to look at first
};

}  // namespace weir::core
