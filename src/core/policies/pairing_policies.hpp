// Policies for events that may go to any consumer: the default one, which knows the load, and three without
// that knowledge, each the baseline of an idea: token, round-robin and random.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/indexed_heap.hpp"
#include "core/policy.hpp"
#include "core/random.hpp"
#include "core/ring_queue.hpp"

namespace weir::core {

/// The default policy. Consumer: the readiest, that is the one with the fewest occupied slots (join the
/// shortest queue), of equals the one that was granted the fewest bytes. Producer: the fullest, that is the
/// one with the most bytes waiting, of equals the one that was granted the fewest bytes. Remaining ties: the
/// lowest index.
///
/// Such a rule may pass the same node over indefinitely (a producer with one small event among full ones; a
/// consumer that is never the readiest). So a producer that is eligible, or a consumer with a free slot, that
/// has not been chosen in the last starvation_factor x N choices (N: all producers or all consumers) is taken
/// next, the longest waiting first. As at most N can be overdue at once, none waits for more than
/// (starvation_factor + 1) x N choices. Rejected: ageing of the keys, which changes every choice a little and
/// bounds nothing.
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

/// First come, first served on both sides. Every slot of a consumer that becomes free is a token; tokens are
/// spent in the order in which they came. Producers are served in the order in which they became able to
/// send; after a grant a producer that can send more goes to the back. Known from event builders in which
/// free builders queue at a supervisor; it needs no knowledge of load, and gives a fast consumer more events
/// because it returns its tokens sooner. Tokens are kept one by one, not counted per consumer, because their
/// order is the rule.
class TokenPolicy final : public Policy {
  public:
    /// No consumer ever has more than `slots` free slots.
    TokenPolicy(std::uint32_t producers, std::uint32_t consumers, std::uint32_t slots);

    void update(ProducerId producer, const ProducerStanding& standing) override;
    /// A rise of free_slots since the last update brings new tokens. A fall must be due to a grant that
    /// choose() asked for (choose() takes the token, not this function), or the consumer is not present.
    void update(ConsumerId consumer, const ConsumerStanding& standing) override;
    std::optional<Pairing> choose() override;
    [[nodiscard]] bool producer_available() const override { return !producers_.empty(); }
    [[nodiscard]] bool consumer_available() const override { return !tokens_.empty(); }

  private:
    void remove_tokens(ConsumerId consumer);

    IndexQueue producers_;

    RingQueue<ConsumerId> tokens_;
    std::vector<std::uint32_t> tokens_of_;  ///< by consumer: how many of the queued tokens are its own
};

/// Consumers in strict turn 0, 1, 2, ..., 0, 1, ..., whether or not they are ready: when the next one has no
/// free slot, all wait for it. This head-of-line blocking is what the policy is there to show
/// (destination assignment without feedback: LHCb note 2002-049). A consumer that was lost has no turn.
/// Producers also take turns, but those that have nothing to send are skipped.
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

/// Blind choice: any consumer with a free slot and any eligible producer, all equally likely, whatever their
/// load. The baseline that a policy with knowledge has to beat. Not weighted by free slots: that would
/// already be a kind of balancing.
class RandomPolicy final : public Policy {
  public:
    RandomPolicy(std::uint32_t producers, std::uint32_t consumers, Random random);

    void update(ProducerId producer, const ProducerStanding& standing) override;
    void update(ConsumerId consumer, const ConsumerStanding& standing) override;
    std::optional<Pairing> choose() override;
    [[nodiscard]] bool producer_available() const override { return !producers_.empty(); }
    [[nodiscard]] bool consumer_available() const override { return !consumers_.empty(); }

  private:
    /// A set of indices from which one can be drawn in constant time: an array without gaps and the place of
    /// every index in it.
    class IndexSet {
      public:
        explicit IndexSet(std::uint32_t capacity) : places_(capacity, absent) { members_.reserve(capacity); }

        [[nodiscard]] bool empty() const { return members_.empty(); }
        void set(std::uint32_t index, bool member);
        [[nodiscard]] std::uint32_t draw(Random& random) const {
            return members_[random.below(members_.size())];
        }

      private:
        static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

        std::vector<std::uint32_t> members_;
        std::vector<std::uint32_t> places_;  ///< by index: where in members_, or absent
    };

    IndexSet producers_;
    IndexSet consumers_;
    Random random_;
};

}  // namespace weir::core
