// Watches a simulation and objects when a rule of the protocol is broken. Written from the rules
// (src/README.md, "The protocol as built"; core/messages.hpp), not from the scheduler's code: it gets
// messages, chunks and observations, and keeps accounts of its own.
//
//   events      generated in order; sent to one slot of one consumer, granted to their producer; every byte
//               arrives once and no byte that was not sent; delivered once or lost, at the end one of the
//               two; lost only when it is generated (overflow `drop`, or as many wait as can) or when the
//               time to drain is over
//   fragments   pattern `build`: all of an event go to one slot, each from its producer; pull: only what was
//               asked for is sent, and no more is asked for at a time than allowed
//   credits     given only with receives posted, spent only when the scheduler has them, one at a time: the
//               credit of a slot is in exactly one place
//   grants      to a producer that offered an event and has a stream free; never after the run was closed
//   diligence   the scheduler leaves no event waiting that it has a credit for (round-robin: a credit of the
//               consumer whose turn it is)
//   policy      token: in the order of the credits; round-robin: in turn; balanced: the consumer with the
//               fewest occupied slots, and of equally large events the one that was granted the fewest, or
//               one that has waited long; no node waits for more than a bound
//   deadlines   the sets that producers call late are those of which something was left (set_oracle.hpp)
//   occupancy   what a producer says it holds is what was generated and has neither left nor been lost
//   latencies   nothing took less than no time
//   addresses   addressed events go to their consumers, and what waits is granted as soon as it can be
//               (address_checker.hpp)
//   order       no transfer begins before what it waits for has arrived (address_checker.hpp)
//   lives       --on-failure continue: a consumer that was lost has nothing any more, and what comes from or
//               for an earlier life of it changes nothing; an event is delivered exactly once, or every
//               further delivery was named as doubtful when it was taken back (checker_lives.cpp)
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/actions.hpp"
#include "core/plan.hpp"
#include "core/policies/policy_table.hpp"
#include "core/ring_queue.hpp"
#include "core/units.hpp"
#include "simulation/address_checker.hpp"
#include "simulation/set_oracle.hpp"

namespace weir::simulation {

// More functions: one for each kind of message, of who sends it and of who has read it.
class Checker {
  public:
    /// `in_order`: what a producer sends a consumer arrives in that order.
    explicit Checker(const core::Plan& plan, bool in_order = true);

    // What a node does.
    void place_opened(core::ConsumerId consumer, core::PlaceId opened);
    void chunk_handed_over(core::ProducerId producer, const core::SendChunk& sent);
    void consumer_died(core::ConsumerId consumer) { consumers_[consumer.value].joined = false; }
    void message_sent(core::NodeId from, const core::SendMessage& message);
    void observed(core::Instant now, core::NodeId node, const core::Observation& observation) {
        using Kind = core::Observation::Kind;
        const Kind kind = observation.kind;
        if (observation.elapsed < core::Duration{}) {
            object("event {} of producer {} waited for {} ns, less than no time",
                   observation.event.sequence(), observation.event.producer().value, observation.elapsed.ns);
        }
        if (kind == Kind::generated || kind == Kind::dropped || kind == Kind::left_over ||
            kind == Kind::received || kind == Kind::given_up) {
            event_changed(now, node, observation);
        } else if (kind == Kind::consumer_lost || kind == Kind::consumer_admitted ||
                   kind == Kind::taken_back) {
            life_changed(node, observation);
        }
        if (dependencies_) {
            check_dependencies(now, node, observation);
        }
    }
    /// After a producer's turn: what it says it holds.
    void backlog_claimed(core::ProducerId producer, core::Bytes backlog);
    /// After a turn of the scheduler.
    void scheduler_decided();

    // What the network does.
    void message_taken(core::Instant now, core::NodeId from, core::NodeId to,
                       const core::ControlMessage& message);
    void chunk_left(core::Instant now, core::ProducerId producer, const core::ChunkDescription& chunk);
    void chunk_dropped(core::ProducerId producer, const core::ChunkDescription& chunk);
    void chunk_arrived(core::ConsumerId consumer, core::PlaceId into, const core::ChunkDescription& chunk);

    /// The protocol has come to its end everywhere. Producers report that so many sets are over,
    /// and that so many of them were late.
    void all_finished(std::uint64_t sets, std::uint64_t late_sets);

    /// The first rule that was broken, with who and what.
    [[nodiscard]] const std::optional<std::string>& objection() const { return objection_; }

  private:
    static constexpr std::uint32_t no_place = 0xffffffffU;
    enum class Credit : std::uint8_t { withheld, under_way, at_scheduler, granted, declined };
    enum class Fate : std::uint8_t { waiting, delivered, lost };
    struct Event {
        core::Bytes bytes;
        core::Instant generated;
        core::Bytes handed_over;
        core::Bytes arrived;
        std::uint32_t place = no_place;  ///< flat
        std::uint32_t to = 0;            ///< addressed events: the consumer
        // --on-failure continue.
        std::uint32_t receptions = 0;  ///< by consumers, in any life
        bool done : 1 = false;         ///< the scheduler has accepted its Done
        bool broken : 1 = false;       ///< some delivery of it was broken off
        // All.
        bool retained : 1 = false;  ///< may be asked for again
        bool again : 1 = false;     ///< was
        Fate fate = Fate::waiting;
    };
    static_assert(sizeof(Event) <= 48);  // there may be millions
    /// A delivery that was broken off.
    struct Attempt {
        std::uint32_t place = no_place;
        core::Bytes handed_over;
        core::Bytes arrived;
    };
    /// Room for one fragment; a slot is one for each fragment of an event.
    struct Place {
        Credit credit = Credit::withheld;  ///< of its slot
        bool posted = false;
        std::uint32_t producer = 0;
        bool asked = false;     ///< pull: the consumer has asked the producer
        bool declined = false;  ///< nothing will come into it
        bool carries = false;
        bool delivered = false;  ///< since it was granted
        bool outstanding =
            false;  ///< in the accounts of the scheduler: granted, and neither done nor declined
        core::EventId event;
    };
    void check_dependencies(core::Instant now, core::NodeId node, const core::Observation& observation);
    void event_changed(core::Instant now, core::NodeId node, const core::Observation& observation);
    void event_generated(core::Instant now, core::NodeId node, const core::Observation& observation);
    void event_lost(core::Instant now, core::NodeId node, const core::Observation& observation, Event& event);
    void event_received(core::NodeId node, const core::Observation& observation, Event& event);
    void event_given_up(core::NodeId node, const core::Observation& observation, Event& event);
    [[nodiscard]] bool was_sent_to(const Event& event, core::NodeId consumer) const {
        return event.place != no_place && owner_of(event.place) == consumer.index;
    }
    void enter_place(core::ProducerId producer, const core::SendChunk& sent, std::uint32_t flat_place,
                     Event& event);
    void leave_place(core::EventId id, const Event& event, const char* what);
    void release(core::Instant now, core::EventId event);
    struct ProducerAccount {
        core::RingQueue<Event> events{std::numeric_limits<std::size_t>::max()};  ///< from `first` on
        std::uint64_t first = 0;                                                 ///< sequence number
        core::Bytes backlog;
        std::uint64_t offered = 0;  ///< in the accounts of the scheduler
        std::uint64_t granted = 0;
        std::uint32_t under_way = 0;    ///< in the accounts of the scheduler
        std::uint64_t passed_over = 0;  ///< grants to others while it could have been served
        bool eligible = false;
        bool drained = false;  ///< in the accounts of the scheduler
    };
    struct ConsumerAccount {
        std::uint32_t credits = 0;  ///< at the scheduler
        std::uint64_t granted = 0;
        std::uint64_t available_since = 0;  ///< number of grants before
        std::uint32_t asked = 0;            ///< pull: fragments asked for, neither delivered nor declined
        // --on-failure continue.
        std::vector<std::uint32_t> lives{};    ///< by epoch: the flat number of its first place
        core::Epoch epoch = 0;                 ///< in the accounts of the scheduler
        bool lost = false;                     ///< in the accounts of the scheduler
        core::Epoch own_epoch = 0;             ///< in its own account
        bool joined = true;                    ///< false: a new process that was not taken in yet
        std::vector<std::uint32_t> revoked{};  ///< producers that still need a Revoke
    };
    static constexpr std::uint64_t patience =
        16;  ///< policy balanced: no node is passed over more often per node

    /// Apart, so that what calls it for every chunk stays small.
    template <typename... Arguments>
    [[gnu::noinline, gnu::cold]] void object(const char* form, const Arguments&... arguments) {
        if (!objection_) {
            objection_ = fmt::format(fmt::runtime(form), arguments...);
        }
    }
    void object_if(const AddressChecker::MaybeObjection& found) {
        if (found && !objection_) {
            objection_ = *found;
        }
    }
    Event* find(core::EventId id) {
        if (id.producer().value >= producers_.size()) {
            return nullptr;
        }
        ProducerAccount& producer = producers_[id.producer().value];
        const std::uint64_t position = id.sequence() - producer.first;  // of those before: beyond all
        return position < producer.events.size() ? &producer.events.at(position) : nullptr;
    }
    /// Events are handed over in order, long after they were generated: a few further on the next is wanted.
    void prefetch_behind(core::EventId id) const {
        const ProducerAccount& producer = producers_[id.producer().value];
        const std::uint64_t position = id.sequence() + 8 - producer.first;
        if (position < producer.events.size()) {
            __builtin_prefetch(&producer.events.at(position));
        }
    }
    [[nodiscard]] std::uint32_t flat(std::uint32_t consumer, core::Epoch epoch, core::PlaceId place) {
        const std::vector<std::uint32_t>& lives = consumers_[consumer].lives;
        if (epoch >= lives.size()) {
            object("something is for life {} of consumer {}, which has had {}", epoch, consumer,
                   lives.size());
            epoch = 0;
        }
        return lives[epoch] + place.value;
    }
    /// The consumer of a place, in whatever life.
    [[nodiscard]] std::uint32_t owner_of(std::uint32_t place) const {
        return owners_[place / plan_.places()];
    }
    /// Where in `kept_` is what the producer sent into the place.
    [[nodiscard]] std::size_t kept_at(std::uint32_t producer, std::uint32_t place) const {
        return std::size_t{place / plan_.fragments_per_event()} * plan_.producers + producer;
    }
    /// What can be granted: a producer; pattern `build`: all of them together.
    ProducerAccount& source(std::uint32_t index) { return plan_.builds() ? together_ : producers_[index]; }
    void move_credit(std::uint32_t place, Credit from, Credit to, const char* what);
    void move_credit_of_slot(std::uint32_t consumer, core::Epoch epoch, core::SlotId slot, Credit from,
                             Credit to, const char* what);
    void check_posted(std::uint32_t consumer, core::Epoch epoch, core::SlotId slot);
    void check_own_epoch(std::uint32_t consumer, core::Epoch epoch);
    void sent(core::NodeId from, core::NodeId to, const core::Ready& ready);
    void sent(core::NodeId from, core::NodeId to, const core::Done& done);
    void sent(core::NodeId from, core::NodeId to, const core::Grant& grant);
    void sent(core::NodeId from, core::NodeId to, const core::Assign& assign);
    void sent(core::NodeId from, core::NodeId to, const core::Decline& decline);
    void sent(core::NodeId from, core::NodeId to, const core::Finish& finish);
    void sent(core::NodeId from, core::NodeId to, const core::Revoke& revoke);
    void sent(core::NodeId from, core::NodeId to, const core::Admit& admit);
    void received_by_producer(core::Instant now, core::NodeId from, core::NodeId to,
                              const core::ControlMessage& message);
    // What the scheduler has read.
    void learned(core::NodeId from, const core::Ready& ready);
    void learned(core::NodeId from, const core::Done& done);
    void learned(core::NodeId from, const core::Decline& decline);
    void learned(core::NodeId from, const core::Offer& offer);
    void learned(core::NodeId from, const core::Drained& drained);
    // Lives.
    /// Whether the scheduler has this life of the consumer behind it.
    [[nodiscard]] bool is_over(std::uint32_t consumer, core::Epoch epoch) const {
        return consumers_[consumer].lost || consumers_[consumer].epoch != epoch;
    }
    void life_changed(core::NodeId node, const core::Observation& observation);
    void lose_consumer(std::uint32_t index);
    void admit_consumer(std::uint32_t index);
    void taken_back(core::NodeId node, const core::Observation& observation);
    void received_in_a_life(core::NodeId node, const core::Observation& observation);
    [[nodiscard]] Attempt* attempt_at(core::EventId event, std::uint32_t place);
    void confirmed(core::Instant now, core::NodeId producer, core::EventId id);
    void check_receptions(core::EventId id, const Event& event);
    void skip_lost();

    void end_request(std::uint32_t place);
    void offers_change(std::uint32_t producer, std::uint64_t before);
    void find_common_offers();
    void credit_comes(std::uint32_t consumer);
    void granted_by_scheduler(std::uint32_t producer, std::uint32_t consumer);
    void check_choice(std::uint32_t consumer);
    void check_balance(std::uint32_t consumer);
    void check_producers_patience();
    void check_consumers_patience();
    void update_eligible(std::uint32_t index);
    void forget_ended(ProducerAccount& producer);

    core::Plan plan_;
    bool chunks_in_order_;
    core::PolicyRow policy_;
    bool equal_events_;
    SetOracle set_oracle_;
    std::optional<AddressChecker> addresses_;  ///< addressed events
    std::optional<DependencyChecker> dependencies_;
    std::vector<ProducerAccount> producers_;
    std::vector<ConsumerAccount> consumers_;
    std::vector<Place> places_;            ///< of all lives
    std::vector<std::uint32_t> owners_{};  ///< by life, in the order of `places_`: the consumer
    std::map<std::uint64_t, std::vector<Attempt>> attempts_{};  ///< by event: those that were broken off
    ProducerAccount together_;                                  ///< build
    std::uint32_t at_common_offers_ = 0;  ///< producers that have offered no more than all together
    /// By slot and producer: what was sent there last, while consumers may ask for it again.
    std::vector<std::optional<core::EventId>> kept_;
    std::vector<std::uint32_t> consumers_by_credits_;  ///< how many consumers have 0, 1, 2, ... credits
    std::deque<std::uint32_t> tokens_;                 ///< rule `first_credit`: whose credit came when
    std::uint32_t turn_ = 0;                           ///< rule `turn`
    std::uint32_t eligible_producers_ = 0;
    std::uint64_t credits_ = 0;
    std::uint64_t grants_ = 0;
    bool declined_ = false;
    bool closed_ = false;
    std::optional<std::string> objection_;
};

}  // namespace weir::simulation
