// Consumers in strict turn 0, 1, 2, ..., 0, 1, ..., whether or not they are ready: when the next one has no
// free slot, all wait for it. This head-of-line blocking is what the policy is there to show
// (destination assignment without feedback: LHCb note 2002-049). A consumer that was lost has no turn.
// Producers also take turns, but those that have nothing to send are skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/indexed_heap.hpp"
#include "core/policy.hpp"

namespace weir::core {

class RoundRobinPolicy final : public Policy {
  public:
    RoundRobinPolicy(std::uint32_t producers, std::uint32_t consumers);

    void update(ProducerId producer, const ProducerStanding& standing) override;
    void update(ConsumerId consumer, const ConsumerStanding& standing) override;
    std::optional<Pairing> choose() override;
    [[nodiscard]] bool producer_available() const override { return !producers_.empty(); }
    /// Whether the consumer whose turn it is has a free slot.
    [[nodiscard]] bool consumer_available() const override { return ready_[next_consumer_]; }

  private:
    /// Goes to the next consumer that is present, if there is one.
    void skip_absent();

    /// Eligible producers by the round in which their turn comes; the heap orders those of one round by
    /// index. Finds the next one after the last without walking over those that cannot send.
    IndexedHeap<std::uint64_t> producers_;
    std::uint64_t round_ = 0;
    std::uint32_t next_producer_ = 0;  ///< lower indices have had their turn in this round

    std::vector<bool> ready_;    ///< by consumer
    std::vector<bool> present_;  ///< by consumer
    std::uint32_t next_consumer_ = 0;
};

}  // namespace weir::core
