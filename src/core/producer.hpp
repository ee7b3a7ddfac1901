// The producer as a state machine: generates events when they are due, offers them, and sends each one as
// chunks when it is granted. Choice: events are granted in the order of their generation, so a grant names a
// slot and not an event, and the scheduler needs no memory per event. Rejected: grants by event id (they
// would let a scheduler pick by size, at the price of per-event state on both sides).
//
// Pattern `build`: what a producer generates are its fragments of events 0, 1, 2, ..., and a grant names
// the event's number, because all producers are granted the same event. A fragment that is not there (it
// was dropped at overflow, or given up at the end of the drain) is declined to the consumer that waits
// for it.
//
// Addressed events wait in a queue for each consumer and are offered by consumer; a grant is for the oldest
// event for its consumer. With policy `none` consumers grant before there is an event, so a grant without an
// event does not hold up those behind it.
//
// A transport that loses chunks: when the last chunk of a fragment has left, a `sent` message informs the
// consumer about what should have come. If consumers request again, a fragment counts as backlog until it is
// `taken`. With --on-failure continue every event does, until the scheduler confirms it
// (producer_recovery.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/actions.hpp"
#include "core/event_generator.hpp"
#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "core/producer_parts.hpp"
#include "core/waiting_events.hpp"

namespace weir::core {

/// What a producer's streams are doing; the three add up to the plan's number of streams.
struct StreamUse {
    std::uint32_t transferring = 0;
    std::uint32_t waiting_for_grant = 0;  ///< an event is there, a grant is not
    std::uint32_t waiting_for_data = 0;
    bool operator==(const StreamUse&) const = default;
};

/// Events of one producer that were lost, by name: sequence numbers first to last. `on_the_way`: sent,
/// but a consumer gave them up.
struct LostRange {
    enum class Reason : std::uint8_t { overflow, undelivered, on_the_way };
    ProducerId producer;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    Reason reason = Reason::overflow;
};

// More functions: one state machine, whose steps share transfers, backlog and ledger. What has a state of its
// own is in producer_parts.hpp.
class Producer {
  public:
    /// Ranges of lost events that are kept by name; further losses are counted only.
    static constexpr std::size_t lost_ranges_limit = 256;
    /// The same for deliveries that were broken off.
    static constexpr std::size_t broken_deliveries_limit = 256;
    /// Chunks of one transfer that can be under way.
    static constexpr std::uint32_t window_limit = 64;

    Producer(const Plan& plan, ProducerId id, EventGenerator generator);

    /// Simulation, shaping `in_step`: Pacer::set_clock_error.
    void set_clock_error(std::int64_t ppb) { pacer_.set_clock_error(ppb); }

    /// Generates what is due, closes the account of the last set, gives up at the end of the drain.
    void on_time(Instant now, Actions& out);
    void on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out);
    /// Chunk `sequence` of the transfer on `stream` has left.
    void on_chunk_sent(Instant now, StreamId stream, std::uint32_t sequence, Actions& out) {
        on_chunks_sent(now, stream, sequence, 1, out);
    }
    /// `count` chunks have left, from `first` on: 1 to `window`, all of them under way. Observed as one.
    /// More, for a simulator: one by one from the first that is under way on, as with on_chunks_passed().
    void on_chunks_sent(Instant now, StreamId stream, std::uint32_t first, std::uint32_t count, Actions& out);
    /// Without shaping, on a transport that loses nothing: `count` chunks have left one by one from the first
    /// that is under way on, any number, but not the last one of the transfer. What was handed over instead
    /// is asked for as if it were one chunk, and nothing is observed: for a simulator that only accounts for
    /// them.
    void on_chunks_passed(StreamId stream, std::uint32_t count, Actions& out);

    /// The next instant at which on_time has something to do.
    [[nodiscard]] Instant next_deadline() const;

    /// Generated and not yet sent; where it is kept until then: and not yet taken.
    [[nodiscard]] Bytes backlog() const { return backlog_; }
    [[nodiscard]] StreamUse stream_use() const;
    [[nodiscard]] const Ledger& ledger() const { return ledger_; }
    [[nodiscard]] const std::vector<LostRange>& lost_ranges() const { return lost_ranges_; }
    /// Events of which something had been sent when they were taken back from a lost consumer: so many,
    /// so many of them doubtful, and the first by name.
    [[nodiscard]] std::uint64_t taken_back_events() const { return taken_back_events_; }
    [[nodiscard]] std::uint64_t doubtful_events() const { return doubtful_events_; }
    [[nodiscard]] const std::vector<BrokenDelivery>& broken_deliveries() const { return broken_deliveries_; }
    /// Whether the next set after the last would not have fitted into the buffer; generation `steady`:
    /// whether what a late producer generated at the end did not.
    [[nodiscard]] bool overflowed_at_close() const { return overflowed_at_close_; }
    [[nodiscard]] bool drained() const { return drained_; }
    /// The scheduler has ended the run and this producer has reported its ledger.
    [[nodiscard]] bool finished() const { return finished_; }

  private:
    struct Transfer {
        bool active = false;
        bool again = false;  ///< was sent before
        bool done = false;   ///< the scheduler reported it before its last chunk was known to have left
        Epoch epoch = 0;
        WaitingEvent event;
        ConsumerId consumer;
        PlaceId place;
        Instant started_at;
        Instant begun_at{};               ///< its first chunk was handed over
        Bytes handed_over;                ///< bytes of chunks given to the transport
        std::uint32_t next_sequence = 0;  ///< of the chunk to hand over next
        std::uint32_t oldest_under_way = 0;
        std::uint64_t left = 0;  ///< bit i: chunk oldest_under_way + i has left
    };

    void generate(Instant now, Actions& out);
    /// What generation goes by: with as many events as can wait, no room is left, however small they are.
    [[nodiscard]] Bytes occupied() const;
    void add(Instant now, const GeneratedEvent& event, Actions& out);
    void push(const WaitingEvent& event, ConsumerId to);
    /// What was held back until its inputs were there.
    void release_held(Instant now);
    void offer(Actions& out);
    void start_transfers(Instant now, Actions& out);
    /// Room or an event may have come: generates and sends what can be, or has drained.
    void go_on(Instant now, Actions& out) {
        generate(now, out);
        start_transfers(now, out);
        drain_if_empty(out);
    }
    bool start_transfer(Instant now, StreamId stream, Actions& out);
    std::optional<WaitingGrant> next_grant();
    void start_again(Instant now, StreamId stream, const RetainedFragments::Asked& asked, Actions& out);
    void hand_over(Instant now, Actions& out);
    void hand_over_chunks(Instant now, StreamId stream, Actions& out);
    void describe_next(const Transfer& transfer, StreamId stream, Bytes length, SendChunk& next) const;
    [[nodiscard]] bool wants_to_send(const Transfer& transfer) const;
    [[nodiscard]] Bytes next_chunk(const Transfer& transfer) const;
    void end_transfer(Instant now, Transfer& transfer, Actions& out);
    // One for each kind of message that a producer takes. They return nullptr, or, if nothing was changed
    // because the message cannot be right, what is wrong with it.
    const char* on(Instant now, NodeId from, const Grant& grant, Actions& out);
    const char* on(Instant now, NodeId from, const Tick& tick, Actions& out);
    const char* on(Instant now, NodeId from, const Complete& complete, Actions& out);
    const char* on(Instant now, NodeId from, const SendAgain& again, Actions& out);
    const char* on(Instant now, NodeId from, const Taken& taken, Actions& out);
    const char* on(Instant now, NodeId from, const Finish& finish, Actions& out);
    const char* on(Instant now, NodeId from, const Revoke& revoke, Actions& out);
    const char* on(Instant now, NodeId from, const InputArrived& input, Actions& out);
    template <typename Other>
    const char* on(Instant /*now*/, NodeId /*from*/, const Other& /*message*/, Actions& /*out*/) {
        return "a message that a producer does not take";
    }
    void decline(const Grant& grant, Actions& out) const;
    /// Whether consumers request again, and the sender is one with such a place for an event of this one.
    [[nodiscard]] bool can_be_retained(NodeId from, EventId event, PlaceId place) const;
    void lose(Instant now, const GeneratedEvent& event, LostRange::Reason reason, Actions& out);
    void abandon_waiting(Instant now, Actions& out);
    /// What was kept in case it is asked for again is kept no longer. False: nothing was.
    bool let_go(Instant now, const std::optional<WaitingEvent>& kept, NodeId consumer, Actions& out);
    // --on-failure continue.
    const char* on_done(Instant now, const Taken& taken, Actions& out);
    /// It has been received: it counts as sent from now on.
    void confirm(Instant now, const WaitingEvent& event, Actions& out);
    /// A delivery has come to nothing when so much had been handed over.
    void break_off(const WaitingEvent& event, ConsumerId consumer, Bytes handed_over, Actions& out);
    /// Sends it again later, or gives it up if the time to drain is over.
    void put_back(Instant now, const WaitingEvent& event, Actions& out);
    /// Ends the transfers to a consumer; nothing: all.
    void break_off_transfers(Instant now, std::optional<ConsumerId> to, Actions& out);
    /// The run is over: what is not done is lost.
    void break_off_all(Instant now, Actions& out);
    static void cancel(StreamId stream, Actions& out);
    [[nodiscard]] bool any_waiting() const { return !waiting_->empty() || unconfirmed_.any_returned(); }
    [[nodiscard]] std::size_t held() const { return held_ ? held_->size() : 0; }
    /// As many wait as can.
    [[nodiscard]] bool is_full() const {
        return waiting_->full() || waiting_->size() + held() >= waiting_events_limit;
    }
    [[nodiscard]] WaitingEvent pop_waiting() {
        return unconfirmed_.any_returned() ? unconfirmed_.pop_returned() : waiting_->pop_oldest();
    }

    /// It is not backlog any more.
    void gone(Instant now, const WaitingEvent& event, NodeId to, Actions& out) const;
    void drain_if_empty(Actions& out);
    void report_ledger(Instant now, Actions& out);
    /// Grants come from consumers, which wait for an answer.
    [[nodiscard]] bool asked_by_consumers() const { return plan_.consumers_grant() || plan_.pulls(); }

    Plan plan_;
    ProducerId id_;
    EventGenerator generator_;
    Instant closing_;  ///< when the set after the last would be generated
    Instant give_up_;  ///< end of the drain
    std::unique_ptr<WaitingEvents> waiting_;
    std::optional<AddressedOffers> addressed_offers_;
    std::optional<HeldEvents> held_;  ///< some of its transfers wait for what its worker receives
    GrantQueue grants_;
    RetainedFragments retained_;
    UnconfirmedEvents unconfirmed_;
    Pacer pacer_;
    std::uint32_t next_stream_ = 0;  ///< shaping: whose turn it is
    std::vector<Transfer> transfers_;
    std::uint32_t active_transfers_ = 0;
    std::uint32_t first_idle_ = 0;  ///< all transfers before this one are active
    Bytes backlog_;
    Traffic offered_;
    std::uint64_t announced_events_ = 0;  ///< of those offered: sent to the scheduler
    std::uint64_t granted_events_ = 0;
    Ledger ledger_;
    std::vector<LostRange> lost_ranges_;
    std::uint64_t taken_back_events_ = 0;
    std::uint64_t doubtful_events_ = 0;
    std::vector<BrokenDelivery> broken_deliveries_;
    bool closed_account_ = false;
    bool announced_last_ = false;  ///< build: the scheduler was informed that generation is over here
    bool complete_ = false;        ///< build: as many events as the others have
    bool overflowed_at_close_ = false;
    bool gave_up_ = false;
    bool drained_ = false;
    bool finished_ = false;
};

}  // namespace weir::core
