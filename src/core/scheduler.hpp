// The scheduler as a state machine: credits and offers in, grants out. It owns the mechanism (who holds which
// credit, how many transfers a producer has, when the run may end); a Policy decides who is served next. Per
// rank it keeps counts and bytes, per slot its state; nothing per event, so its memory is O(ranks x slots)
// and a decision costs what the policy costs, O(log ranks).
//
// Pattern `build`: an event can be granted when every producer has offered its fragment, and is granted
// to all of them (initiation `pull`: to the consumer, which asks them). The policy chooses the consumer.
//
// Addressed events: offers are per consumer, so there is an account for each pair of a producer and a
// consumer between which the traffic plan has transfers.
//
// --on-failure continue (scheduler_recovery.cpp): a consumer that is lost is taken out, and is taken in again
// with a new epoch when something is heard of it. Whether an event is done is decided here alone: it is when
// its Done comes before its consumer is lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/actions.hpp"
#include "core/indexed_heap.hpp"
#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "core/policy.hpp"
#include "core/ring_queue.hpp"
#include "core/units.hpp"

namespace weir::core {

/// Pattern `build`: what all producers have offered. An event is there when every one of them has offered its
/// fragment; generation is over when every one has reported it.
class CommonOffers {
  public:
    explicit CommonOffers(std::uint32_t producers) : producers_(producers), least_(producers) {
        for (std::uint32_t producer = 0; producer < producers; ++producer) {
            least_.update(producer, 0);
        }
    }

    /// The producer has offered `more`, which makes `events` fragments since the start.
    void add(ProducerId producer, const Traffic& more, std::uint64_t events) {
        fragments_ += more;
        most_ = std::max(most_, events);
        least_.update(producer.value, events);
    }
    /// The producer has only so many of the events that it offered, and will have no others.
    void limit(ProducerId producer, std::uint64_t events) { least_.update(producer.value, events); }
    /// One more producer has made its last offer. True: that was the last one.
    bool end_one() { return ++ended_ == producers_; }

    /// Events of which every producer has offered a fragment.
    [[nodiscard]] std::uint64_t events() const { return least_.key(least_.top()); }
    /// Events of which some producer has offered a fragment.
    [[nodiscard]] std::uint64_t begun_events() const { return most_; }
    /// Sum over all fragments.
    [[nodiscard]] Bytes bytes() const { return fragments_.bytes; }
    /// The mean size of an event; not before the first offer.
    [[nodiscard]] Bytes mean_event() const {
        return {fragments_.bytes.count / static_cast<std::int64_t>(fragments_.events) *
                static_cast<std::int64_t>(producers_)};
    }

  private:
    std::uint32_t producers_;
    IndexedHeap<std::uint64_t> least_;  ///< producers by offered events
    std::uint64_t most_ = 0;
    Traffic fragments_;  ///< offered
    std::uint32_t ended_ = 0;
};

// More functions: one state machine, whose steps share the accounts of producers, consumers and pairs.
class Scheduler {
  public:
    /// How long after all producers have drained, and after any event that arrives later, one may still be
    /// missing before the run is closed without it. What was sent may wait in TCP: five retransmission
    /// time-outs of 200 ms, each twice the one before, take 6.2 s.
    static constexpr Duration last_done_grace = Duration::seconds(10);
    /// How long after the end of the drain, and after any later sign of progress, a producer may still have
    /// transfers under way. Four times what the fullest node needs for what it can have under way if each
    /// producer sends at this rate (or the shaped one, if that is lower), 10 to 60 s: a transfer that is cut
    /// off cannot be accounted for, so only one that hangs is. 60 s with policy `none`: the scheduler sees no
    /// progress.
    [[nodiscard]] static Duration drain_grace(const Plan& plan, BitRate of_producer);
    /// At the planned rate.
    [[nodiscard]] static Duration drain_grace(const Plan& plan) { return drain_grace(plan, plan.rate); }
    /// At the lowest rate.
    [[nodiscard]] static Duration longest_drain_grace(const Plan& plan) { return drain_grace(plan, {}); }

    /// `completing`: all producers have drained, and the last events are not done yet.
    enum class State : std::uint8_t { running, completing, closing, closed };

    /// `policy` is nullptr exactly when the plan's policy is `none`.
    Scheduler(const Plan& plan, std::unique_ptr<Policy> policy);

    void on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out);
    /// The result of an event has arrived from consumer `from` as a whole; its credit comes behind it.
    void on_result(NodeId from, const SendResult& result, Actions& out);
    void on_time(Instant now, Actions& out);
    [[nodiscard]] Instant next_deadline() const;

    /// --on-failure continue: nothing was heard of this consumer for too long. It is taken out.
    void on_consumer_lost(Instant now, ConsumerId consumer, Actions& out);
    /// Once each time that a consumer was taken out.
    struct Loss {
        ConsumerId consumer;
        Instant lost_at;
        std::optional<Instant> back_at{};  ///< it was taken in again
        std::uint32_t revoked = 0;         ///< grants for it that were not done
        std::uint32_t unprocessed = 0;     ///< events that were done, but perhaps not processed
    };
    [[nodiscard]] const std::vector<Loss>& losses() const { return losses_; }
    /// What was done by consumers in lives that ended with their loss; it stands in no ledger.
    [[nodiscard]] const Tally& done_by_lost() const { return done_by_lost_; }
    /// What a consumer has done in its present life, whether or not that was too late.
    [[nodiscard]] Tally done_in_this_life(ConsumerId consumer) const;
    /// Said to be done when the run was closed already, and in the ledgers of their consumers: the producers
    /// have lost these events, by name.
    [[nodiscard]] Tally done_too_late() const;
    /// Messages from earlier lives of consumers.
    [[nodiscard]] std::uint64_t refused_messages() const { return refused_messages_; }

    /// Ends the run before its time: no more grants, everyone reports what it has.
    void finish(Actions& out);

    [[nodiscard]] State state() const { return state_; }
    /// All ledgers are in; valid from then on.
    [[nodiscard]] bool closed() const { return state_ == State::closed; }
    /// Sum of the ledgers of all producers and consumers, as reported.
    [[nodiscard]] const Ledger& reported() const { return reported_; }
    /// What consumers said was done, event by event (policy `none`: empty).
    [[nodiscard]] const Tally& done() const { return done_; }

    /// Results of events that arrived.
    [[nodiscard]] const Tally& results() const { return results_; }

    /// Events that were offered when no consumer had a credit for them (round-robin: not the one in
    /// turn).
    [[nodiscard]] std::uint64_t events_without_credit() const { return events_without_credit_; }
    /// Events offered (pattern `build`: by all producers) and not granted; credits that can be spent.
    [[nodiscard]] std::uint64_t waiting_events() const { return waiting_events_; }
    [[nodiscard]] std::uint64_t free_slots() const { return free_slots_; }
    [[nodiscard]] bool producer_available() const { return policy_ && policy_->producer_available(); }
    [[nodiscard]] bool consumer_available() const { return policy_ && policy_->consumer_available(); }
    /// Time up to `now` in which a producer could have been served and no consumer had a credit.
    [[nodiscard]] Duration no_credit_time(Instant now) const;
    /// Events granted since the start.
    [[nodiscard]] std::uint64_t granted_events() const { return granted_events_; }
    /// Events granted and not done.
    [[nodiscard]] std::uint64_t outstanding() const { return outstanding_; }
    [[nodiscard]] bool has_drained(ProducerId producer) const {
        return producers_.at(producer.value).drained;
    }
    [[nodiscard]] bool has_reported(NodeId node) const;

  private:
    enum class SlotState : std::uint8_t { held_by_consumer, free, granted };
    struct Slot {
        SlotState state = SlotState::held_by_consumer;
        bool occupied = false;       ///< granted, and the credit is not back
        std::uint32_t producer = 0;  ///< while occupied
        Bytes estimate;              ///< size assumed when it was granted
        Bytes result;                ///< arrived, and its credit has not
    };
    struct ProducerAccount {
        Traffic offered;
        Traffic granted;           ///< bytes: estimates of transfers under way included
        std::uint64_t grants = 0;  ///< those included that were revoked since
        std::uint32_t under_way = 0;
        bool last_offer = false;  ///< build: generation is over
        bool drained = false;
        std::uint64_t sent_events = 0;  ///< from its Drained
        std::uint32_t ledger_messages = 0;
    };
    /// Addressed events: of a producer and a consumer.
    struct PairAccount {
        Traffic offered;
        Traffic granted;  ///< bytes: estimates of transfers under way included
    };
    struct ConsumerAccount {
        explicit ConsumerAccount(std::uint32_t slot_count) : slots(slot_count), free(slot_count) {}
        std::vector<Slot> slots;
        RingQueue<std::uint32_t> free;  ///< oldest credit first
        Bytes granted_bytes;
        Epoch epoch = 0;
        bool lost = false;
        Tally done;                         ///< in this life
        Tally done_too_late;                ///< in this life
        std::uint64_t received_events = 0;  ///< policy `none`: from its last Progress
        std::uint32_t ledger_messages = 0;
    };

    // One for each kind of message that a scheduler takes. They return nullptr, or, if nothing was changed
    // because the message cannot be right, what is wrong with it.
    const char* on(Instant now, NodeId from, const Ready& ready, Actions& out);
    const char* on(Instant now, NodeId from, const Offer& offer, Actions& out);
    const char* on(Instant now, NodeId from, const Done& done, Actions& out);
    const char* on(Instant now, NodeId from, const Decline& decline, Actions& out);
    const char* on(Instant now, NodeId from, const Drained& drained, Actions& out);
    const char* on(Instant now, NodeId from, const Progress& progress, Actions& out);
    const char* on(Instant now, NodeId from, const LedgerPart& part, Actions& out);
    template <typename Other>
    const char* on(Instant /*now*/, NodeId /*from*/, const Other& /*message*/, Actions& /*out*/) {
        return "a message that a scheduler does not take";
    }
    [[nodiscard]] bool is_producer(NodeId node) const {
        return node.role == Role::producer && node.index < producers_.size();
    }
    [[nodiscard]] bool is_consumer(NodeId node) const {
        return node.role == Role::consumer && node.index < consumers_.size();
    }

    // --on-failure continue.
    /// Whether the message is one of a consumer that is there, in this life. Else it is refused, and answered
    /// if that is how the consumer is heard again.
    bool is_from_this_life(Instant now, NodeId from, const ControlMessage& message, Actions& out);
    void take_out(Instant now, ConsumerId consumer, Actions& out);
    void revoke_grants(ConsumerId consumer, Loss& loss, Actions& out);
    void admit(Instant now, ConsumerId consumer, Actions& out);
    void count_done(ConsumerId consumer, const Done& done, Actions& out);
    void close_if_all_reported();

    void update_common_offers();
    template <typename Message>
    void send_producers(const Message& message, Actions& out) const {
        for (std::uint32_t producer = 0; producer < producers_.size(); ++producer) {
            out.messages.emplace_back(node_of(ProducerId{producer}), message);
        }
    }
    [[nodiscard]] bool can_follow(const ProducerAccount& producer, const Traffic& offered) const;
    const char* on_addressed(ProducerId from, const Offer& offer);
    void forget_waiting(ProducerId producer);
    /// What the producer has offered for this consumer, in all if events have no address, and was not
    /// granted.
    [[nodiscard]] PairAccount* pair_account(Pairing pair);
    void update_policy(Pairing pair);
    [[nodiscard]] bool is_possible(const Done& done) const;
    /// Whether the event in the slot can be one of this producer.
    [[nodiscard]] bool is_from(const Slot& slot, ProducerId producer) const {
        return plan_.builds() ? producer.value < producers_.size() : producer.value == slot.producer;
    }
    void add_credit(ConsumerId consumer, SlotId slot);
    /// Whether the result that goes ahead of the credit of `slot` has arrived. It is used up with that.
    bool claim_result(ConsumerId consumer, SlotId slot, std::uint32_t result_bytes);
    void return_grant(ConsumerId consumer, SlotId id, Bytes actual);
    void grant_all(Actions& out);
    void grant(Pairing pair, Actions& out);
    void send_grant(Pairing pair, SlotId slot, std::uint64_t number, Actions& out) const;
    [[nodiscard]] Bytes estimate_waiting(const Traffic& waiting) const;
    void update_policy(ProducerId producer);
    void update_policy(ConsumerId consumer);
    void account_time(Instant now);
    void tick(Instant now, Actions& out);
    /// After a sign of progress.
    void put_off_end(Instant now);
    /// Whether transfers that are still under way hang. The network may carry less than the planned rate:
    /// then they have the time that they need at the rate that was seen.
    [[nodiscard]] bool drain_is_over(Instant now);
    void finish_if_complete(Actions& out);
    static void violation(NodeId from, const char* detail, Actions& out);
    /// What the policy takes for a producer. Pattern `build`: all of them together are one.
    [[nodiscard]] ProducerAccount& source(std::uint32_t index) {
        return plan_.builds() ? together_ : producers_[index];
    }

    Plan plan_;
    std::unique_ptr<Policy> policy_;
    std::uint32_t under_way_limit_;  ///< of a source
    std::uint64_t most_events_;      ///< of a producer, see plan.hpp
    Bytes most_bytes_;               ///< of a producer
    std::vector<ProducerAccount> producers_;
    ProducerAccount together_;                   ///< build: offered by all, granted, under way
    std::optional<CommonOffers> common_offers_;  ///< build
    std::vector<PairAccount> pairs_;             ///< addressed events, by number of the pair
    std::vector<ConsumerAccount> consumers_;
    State state_ = State::running;
    std::uint64_t waiting_events_ = 0;
    std::uint64_t free_slots_ = 0;
    std::uint64_t granted_events_ = 0;
    std::uint64_t outstanding_ = 0;
    std::uint32_t drained_producers_ = 0;
    std::uint32_t complete_reports_ = 0;
    std::uint32_t missing_reports_ = 0;  ///< of consumers that were lost before they had reported
    std::vector<Loss> losses_;
    Tally done_by_lost_;
    std::uint64_t refused_messages_ = 0;
    Instant complete_until_ = Instant::never();
    Duration drain_grace_;
    Instant progress_at_;  ///< the end of the drain, or the last sign of progress after it
    Instant drain_until_;
    Instant next_tick_ = Instant::never();  ///< shaping `in_step`
    Instant accounted_until_;
    Duration no_credit_;
    bool short_of_credits_ = false;
    std::uint64_t events_without_credit_ = 0;
    Tally done_;
    Tally results_;
    Ledger reported_;
};

}  // namespace weir::core
