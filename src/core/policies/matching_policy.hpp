// Policies for events with an address: a producer can only serve the consumers that its events are for. A
// pair can be served if the producer has a free stream and an event for the consumer, and the consumer has a
// credit.
//
// A new pair that can be served appears only where a producer or a consumer has changed, so only those are
// looked at. As in iSLIP (N. McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches", IEEE/ACM
// Trans. Networking 7(2), 1999) the consumer asks a producer, the producer accepts one of the consumers that
// could have it, and turns move on with what is accepted only. Without the second step whoever finished last
// is served for ever, because the message that ends a transfer frees its stream and its slot together.
//
// Fair rules (policy_table.hpp) go in rounds: each node serves first the partners that are due, by its
// rule; if none of them can be served it begins a new round, in which all that wait are due. What was granted
// while the producer had nothing for others, at most a grant for each of its streams, is set off against the
// rounds that follow: offers come one by one, and the first would take all streams. Of those that are due the
// consumer with the fewest occupied slots comes first, so that few links are idle.
//
// A pair whose two ends are never free together would wait beside others that always are. So with four slots
// or more a consumer keeps one credit for a pair that is late, which has had four events less than its share
// at both of its ends, until the producer's next stream is free: one for each producer at a time. Whoever is
// not limited at one end gets its share at the other, which is max-min fairness. Share: each event that a
// node serves counts for all its partners that wait, in equal parts. A kept credit is idle for a while, so
// that with fewer slots a link would be, too: there nothing is kept, and only what follows holds.
//
// Whatever the rule, a pair that was passed over in 16 to 32 grants of its producer for each of its
// consumers, and of its consumer for each of its producers, is overdue, and its consumer serves only overdue
// pairs. Bound: while a pair waits, its producer or its consumer serves others at most 33 times for each
// partner that it has.
//
// Cost of a choice: sets of bits are intersected, (producers + consumers) / 64 words; rules that compare look
// at each candidate. Memory: twelve bits for each producer and consumer, and about 56 bytes for each pair of
// the traffic plan. Rejected: a heap of all pairs, in which every change of a consumer moves the pairs of all
// producers; exact order by the last service, which costs a walk over all partners; and a credit kept for
// whoever is due, which made an even all-to-all with one stream and slot take 1.41 times the ideal time
// instead of 1.22.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/bits.hpp"
#include "core/indexed_heap.hpp"
#include "core/policies/policy_table.hpp"
#include "core/policy.hpp"
#include "core/traffic_plan.hpp"

namespace weir::core {

class MatchingPolicy final : public Policy {
  public:
    /// `rule` is not `none`; `streams`: of each producer; `slots`: of each consumer.
    MatchingPolicy(std::shared_ptr<const TrafficPlan> traffic, MatchRule rule, std::uint32_t streams,
                   std::uint32_t slots);

    void update(ProducerId producer, const ProducerStanding& standing) override;
    void update(ConsumerId consumer, const ConsumerStanding& standing) override;
    void update(ProducerId producer, ConsumerId consumer, const Traffic& waiting) override;
    std::optional<Pairing> choose() override;
    [[nodiscard]] bool producer_available() const override { return eligible_producers_ > 0; }
    /// False if credits are there, but none of a consumer that anything could be granted for.
    [[nodiscard]] bool consumer_available() const override;

  private:
    static constexpr std::uint32_t none = 0xffffffffU;
    using Bits = std::vector<std::uint64_t>;
    using BitRow = std::span<std::uint64_t>;
    /// A set of pairs, by both of its sides.
    struct PairSet {
        PairSet(std::uint32_t producers, std::uint32_t consumers);
        [[nodiscard]] BitRow of_producer(std::uint32_t producer) {
            return BitRow(by_producer).subspan(consumer_words * producer, consumer_words);
        }
        [[nodiscard]] BitRow of_consumer(std::uint32_t consumer) {
            return BitRow(by_consumer).subspan(producer_words * consumer, producer_words);
        }
        void insert(std::uint32_t producer, std::uint32_t consumer);
        void erase(std::uint32_t producer, std::uint32_t consumer);
        [[nodiscard]] bool contains(std::uint32_t producer, std::uint32_t consumer) {
            return has_bit(of_producer(producer), consumer);
        }

        std::size_t producer_words;
        std::size_t consumer_words;
        Bits by_producer;
        Bits by_consumer;
    };
    /// What each partner that waits would have got by now, if all had got the same.
    struct Share {
        std::int64_t served = 0;   ///< in parts of an event
        std::int64_t waiting = 0;  ///< partners that wait
    };
    struct Side {
        Side(std::uint32_t nodes, std::uint32_t others);
        Bits able;                           ///< producers with a stream, consumers with a credit for anyone
        IndexQueue changed;                  ///< nodes that may have become one of a pair that can be served
        std::vector<std::uint32_t> turn;     ///< by node: the partner to look at first
        std::vector<std::uint32_t> kept;     ///< by node: the partner that a credit is kept for, or none
        std::vector<std::uint64_t> grants;   ///< by node
        std::vector<std::uint64_t> checked;  ///< by node: grants when it looked for overdue pairs
        std::vector<Share> share;            ///< by node
    };
    /// The smaller, the sooner it is served; of equals, in turn.
    using Preference = std::pair<std::int64_t, std::int64_t>;
    struct PairAge {
        std::uint64_t producer_grants = 0;  ///< when it was served last or began to wait
        std::uint64_t consumer_grants = 0;
        std::int64_t producer_share = 0;  ///< what it has had of its producer, in parts of an event
        std::int64_t consumer_share = 0;
        std::uint32_t ahead = 0;  ///< rounds of its producer that it leaves out
    };

    [[nodiscard]] std::optional<Pairing> choose_for_consumer(std::uint32_t consumer);
    [[nodiscard]] std::optional<std::uint32_t> partner_for_consumer(std::uint32_t consumer);
    [[nodiscard]] std::optional<std::uint32_t> partner_for_producer(std::uint32_t producer);
    /// The best of the candidates by the rule of that side.
    [[nodiscard]] std::optional<std::uint32_t> best_producer(std::uint32_t consumer,
                                                             std::span<const std::uint64_t> candidates) const;
    [[nodiscard]] std::optional<std::uint32_t> best_consumer(std::uint32_t producer,
                                                             std::span<const std::uint64_t> candidates) const;
    void keep_credit(std::uint32_t consumer);
    [[nodiscard]] bool is_late(std::uint32_t producer, std::uint32_t consumer) const;
    static void advance(Share& node, std::int64_t& partner);
    void drop_credit_kept_for(std::uint32_t producer);
    [[nodiscard]] bool has_overdue(std::uint32_t consumer);
    void find_overdue_of_producer(std::uint32_t producer);
    void find_overdue_of_consumer(std::uint32_t consumer);
    void set_consumer_able(std::uint32_t consumer);
    [[nodiscard]] Preference preference(std::uint32_t producer, std::uint32_t consumer) const;
    [[nodiscard]] std::uint32_t pair(std::uint32_t producer, std::uint32_t consumer) const;
    Pairing take(std::uint32_t producer, std::uint32_t consumer);
    void set_ahead(std::uint32_t producer, std::uint32_t consumer, std::uint32_t rounds);
    void begin_round_of_producer(std::uint32_t producer, std::uint32_t served);
    void begin_to_wait(std::uint32_t producer, std::uint32_t consumer);
    void end_to_wait(std::uint32_t producer, std::uint32_t consumer);
    static void set_able(Side& side, std::uint32_t node, bool able);

    std::shared_ptr<const TrafficPlan> traffic_;
    MatchRule rule_;
    bool fair_;
    std::uint32_t most_ahead_;
    bool keeps_credits_;
    Side producers_;
    Side consumers_;
    PairSet waits_;
    PairSet due_to_producer_;  ///< fair rules: in the producer's round
    PairSet due_to_consumer_;
    PairSet overdue_to_producer_;
    PairSet overdue_to_consumer_;
    PairSet not_ahead_;
    Bits with_credit_;  ///< consumers, also those whose credit is kept for a producer
    Bits candidates_;   ///< while one is chosen
    std::uint32_t eligible_producers_ = 0;
    std::uint32_t consumers_with_credit_ = 0;
    std::vector<std::int64_t> waiting_;       ///< by pair: bytes
    std::vector<std::int64_t> since_;         ///< by pair: number of choices before it was served last
    std::vector<PairAge> ages_;               ///< by pair
    std::vector<std::uint32_t> free_;         ///< by consumer: credits
    std::vector<std::uint32_t> occupied_;     ///< by consumer: slots
    std::vector<std::int64_t> credit_since_;  ///< by consumer: number of credits before
    std::int64_t choices_ = 0;
    std::int64_t credits_ = 0;
};

}  // namespace weir::core
