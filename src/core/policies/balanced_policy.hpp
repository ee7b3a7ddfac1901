// The default policy. Consumer: the readiest, that is the one with the fewest occupied slots (join the
// shortest queue), of equals the one that was granted the fewest bytes. Producer: the fullest, that is the
// one with the most bytes waiting, of equals the one that was granted the fewest bytes. Remaining ties: the
// lowest index.
//
// Such a rule may pass the same node over indefinitely (a producer with one small event among full ones; a
// consumer that is never the readiest). So a producer that is eligible, or a consumer with a free slot, that
// has not been chosen in the last starvation_factor x N choices (N: all producers or all consumers) is taken
// next, the longest waiting first. As at most N can be overdue at once, none waits for more than
// (starvation_factor + 1) x N choices. Rejected: ageing of the keys, which changes every choice a little and
// bounds nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/index_queue.hpp"
#include "core/indexed_heap.hpp"
#include "core/policy.hpp"

namespace weir::core {

class BalancedPolicy final : public Policy {
  public:
    static constexpr std::uint64_t starvation_factor = 16;

    BalancedPolicy(std::uint32_t producers, std::uint32_t consumers);

    void update(ProducerId producer, const ProducerStanding& standing) override;
    void update(ConsumerId consumer, const ConsumerStanding& standing) override;
    std::optional<Pairing> choose() override;
    [[nodiscard]] bool producer_available() const override { return !producers_.empty(); }
    [[nodiscard]] bool consumer_available() const override { return !consumers_.empty(); }

  private:
    /// Nodes of one role that may be chosen: ordered by preference, and by when they were chosen last (or
    /// became candidates).
    class Candidates {
      public:
        /// The smaller, the sooner it is chosen.
        struct Preference {
            std::int64_t load = 0;
            Bytes granted;
            constexpr auto operator<=>(const Preference&) const = default;
        };

        explicit Candidates(std::uint32_t nodes)
            : by_preference_(nodes), by_age_(nodes), since_(nodes), patience_(starvation_factor * nodes) {}

        [[nodiscard]] bool empty() const { return by_preference_.empty(); }
        void update(std::uint32_t node, Preference preference, std::uint64_t choices);
        void erase(std::uint32_t node);
        /// The node for the choice that `choices` others came before.
        std::uint32_t choose(std::uint64_t choices);

      private:
        IndexedHeap<Preference> by_preference_;
        IndexQueue by_age_;
        std::vector<std::uint64_t> since_;  ///< by node: number of choices before it entered by_age_
        std::uint64_t patience_;
    };

    Candidates producers_;
    Candidates consumers_;
    std::uint64_t choices_ = 0;
};

}  // namespace weir::core
