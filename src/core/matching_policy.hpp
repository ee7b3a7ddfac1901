// Policies for events with an address: a producer can only serve the consumers that its events are for. A
// pair can be served if the producer has a free stream and an event for the consumer, and the consumer has a
// credit.
//
// As long as every pair that could be served is served at once, a new one can only appear where a producer or
// a consumer has changed. So only those are looked at: a consumer with a new credit takes one of the free
// producers that have something for it, a producer that has become free takes one of the consumers, by the
// rule of matching_table.hpp. With "in turn" on both sides this is the matching of iSLIP (N. McKeown, "The
// iSLIP Scheduling Algorithm for Input-Queued Switches", IEEE/ACM Trans. Networking 7(2), 1999), one pair at
// a time.
//
// Cost of a choice: the candidates are the intersection of two sets of bits, (producers + consumers) / 64
// words; rules that compare look at each candidate. Memory: two bits for each producer and consumer, 16
// bytes for each pair. Rejected: a heap of all pairs, in which every change of a consumer moves the pairs of
// all producers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/index_queue.hpp"
#include "core/matching_table.hpp"
#include "core/policy.hpp"
#include "core/traffic_plan.hpp"

namespace weir::core {

class MatchingPolicy final : public Policy {
  public:
    /// `rule` is not `none`.
    MatchingPolicy(std::shared_ptr<const TrafficPlan> traffic, MatchRule rule);

    void update(ProducerId producer, const ProducerStanding& standing) override;
    void update(ConsumerId consumer, const ConsumerStanding& standing) override;
    void update(ProducerId producer, ConsumerId consumer, const Traffic& waiting) override;
    std::optional<Pairing> choose() override;
    [[nodiscard]] bool producer_available() const override { return eligible_producers_ > 0; }
    /// False if credits are there, but none of a consumer that anything could be granted for.
    [[nodiscard]] bool consumer_available() const override;

  private:
    using Bits = std::vector<std::uint64_t>;
    struct Side {
        Side(std::uint32_t nodes, std::uint32_t others);
        [[nodiscard]] std::span<std::uint64_t> partners_of(std::uint32_t node) {
            return std::span(partners).subspan(words * node, words);
        }

        std::size_t words;                ///< for the other side's nodes
        Bits able;                        ///< producers with a stream, consumers with a credit
        Bits partners;                    ///< by node: those of the other side with which something waits
        IndexQueue changed;               ///< nodes that may have become one of a pair that can be served
        std::vector<std::uint32_t> turn;  ///< by node: the partner to look at first
    };
    /// The smaller, the sooner it is served; of equals, in turn.
    using Preference = std::pair<std::int64_t, std::int64_t>;

    [[nodiscard]] std::optional<std::uint32_t> partner_for_consumer(std::uint32_t consumer);
    [[nodiscard]] std::optional<std::uint32_t> partner_for_producer(std::uint32_t producer);
    [[nodiscard]] Preference preference(std::uint32_t producer, std::uint32_t consumer) const;
    [[nodiscard]] std::uint32_t pair(std::uint32_t producer, std::uint32_t consumer) const;
    Pairing take(std::uint32_t producer, std::uint32_t consumer);
    static void set_able(Side& side, std::uint32_t node, bool able);

    std::shared_ptr<const TrafficPlan> traffic_;
    MatchRule rule_;
    Side producers_;
    Side consumers_;
    std::uint32_t eligible_producers_ = 0;
    std::uint32_t consumers_with_credit_ = 0;
    std::vector<std::int64_t> waiting_;       ///< by pair: bytes
    std::vector<std::int64_t> since_;         ///< by pair: number of choices before it was served last
    std::vector<std::uint32_t> occupied_;     ///< by consumer: slots
    std::vector<std::int64_t> credit_since_;  ///< by consumer: number of credits before
    std::int64_t choices_ = 0;
    std::int64_t credits_ = 0;
};

}  // namespace weir::core
