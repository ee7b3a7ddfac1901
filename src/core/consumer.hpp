// The consumer as a state machine: opens slots, gives each free slot as a credit, puts events together from
// their chunks, checks every chunk against what the slot expects, and processes events one after the other
// while others arrive. With policy `none` there is no scheduler in the way of data: the consumer hands its
// free slots to the producers in turn.
//
// A slot has a place for every fragment of an event (pattern `distribute`: one). An event is complete when
// all its places are: their fragments are whole, or were declined or given up.
//
// What only some runs need is in parts that exist only then: requests for fragments (initiation `pull`), lost
// chunks, work on events, and the turns of producers (policy `none`). A transport that loses chunks
// cannot derive what a fragment should have been, so the producer announces it (Sent) when all of it has
// left. Chunks that cannot be used are counted then; they are no faults.
//
// With --on-failure continue a consumer has lives, each with an epoch that the scheduler gives (Admit). Each
// begins with empty slots and an empty ledger; chunks that were sent to an earlier one are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/actions.hpp"
#include "core/consumer_parts.hpp"
#include "core/distribution.hpp"
#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"
#include "core/traffic_plan.hpp"

namespace weir::core {

/// What a consumer's slots hold; the four add up to the plan's number of slots until the run closes.
struct SlotUse {
    std::uint32_t free = 0;       ///< credits given and not yet used by an arriving chunk
    std::uint32_t receiving = 0;  ///< part of an event has arrived
    std::uint32_t queued = 0;     ///< an event that is through, waiting for processing or in it
    std::uint32_t withheld = 0;   ///< empty, and no credit given: more than `high_water` events are held
    bool operator==(const SlotUse&) const = default;
};

/// A chunk as the transport found it in a place. With a lossy transport, whose headers lack them, the size
/// of the event and its instant of generation are 0.
struct ArrivedChunk {
    NodeId source;
    bool header_intact = true;
    bool payload_intact = true;
    bool payload_checked = false;
    ChunkDescription chunk;
    std::uint32_t count = 1;  ///< in a simulation: so many in a row, of the length of all, from `chunk` on
};

// More functions: one state machine, whose steps share slots, places and ledger. What has a state of its own
// is in consumer_parts.hpp.
class Consumer {
  public:
    /// Processing times are drawn from `processing_time`; draws of 0 free the slot at once.
    /// Sizes of results are drawn from `result_size`; nothing: there are none.
    Consumer(const Plan& plan, ConsumerId id, Sampler processing_time,
             std::optional<Sampler> result_size = std::nullopt);

    /// Opens all slots and gives their credits. Once, before any other input.
    void on_start(Instant now, Actions& out);
    void on_chunk(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out);
    /// Ends processing that is over and begins the next; requests again what is overdue, or gives it up.
    void on_time(Instant now, Actions& out);
    void on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out);

    /// From now on each event takes `factor` times as long (a simulation of a consumer that has become slow).
    void slow_down(double factor) {
        if (processing_) {
            processing_->slow_down(factor);
        }
    }

    // --on-failure continue.
    /// The process is gone, and with it all that the slots held. Nothing happens until begin_again().
    void die();
    /// A new process in its place, which requests to be taken in.
    void begin_again(Actions& out);
    /// Chunks that were sent to an earlier life and came in this one; over all lives.
    [[nodiscard]] Traffic stale() const { return stale_; }

    [[nodiscard]] Instant next_deadline() const;

    [[nodiscard]] SlotUse slot_use() const { return use_; }
    [[nodiscard]] bool processing() const { return processing_ && processing_->busy(); }
    [[nodiscard]] const Ledger& ledger() const { return ledger_; }
    /// Fragments that were lost on the way, in the order in which they were given up; the first of them.
    [[nodiscard]] std::span<const EventId> given_up() const {
        return losses_ ? losses_->given_up() : std::span<const EventId>{};
    }
    /// Events through so far, of which all fragments arrived (pattern `distribute`: the same as
    /// received).
    [[nodiscard]] std::uint64_t finished_events() const { return finished_events_; }
    [[nodiscard]] std::uint64_t given_up_events() const { return given_up_events_; }
    /// What the ledger counts as received, by producer.
    [[nodiscard]] std::vector<Traffic> received_from() const;
    [[nodiscard]] bool finished() const { return finished_; }

  private:
    enum class SlotState : std::uint8_t { closed, withheld, free, receiving, queued };
    struct Slot {
        SlotState state = SlotState::closed;
        bool assigned = false;  ///< pull: the scheduler has named the event it is for
        /// Who sends the event, where that is known beforehand. Policy `none`: to whom the slot was granted;
        /// pull with pattern `distribute`: of whom it was assigned.
        std::optional<ProducerId> source;
        std::uint64_t number = 0;           ///< build: of the event, once it is known
        std::uint32_t complete_places = 0;  ///< of which nothing more is expected
        Tally whole;                        ///< of them, those that are whole
        EventId fragment;                   ///< the one that was complete last
        Instant generated_at;               ///< of the fragment that is oldest
        std::uint32_t result_bytes = 0;     ///< of the result that the next credit of this slot follows
    };

    // Slots and credits.
    void open_places(SlotId slot, Actions& out);
    bool empty_slot(SlotId id, Actions& out);
    void give_credit(SlotId id, Actions& out);
    void send_result(SlotId id, Actions& out);
    void give_withheld(Actions& out);
    [[nodiscard]] bool withholds();
    void begin_event(SlotId id, std::uint64_t number);
    void end_event(Instant now, SlotId id, Actions& out);
    [[nodiscard]] Done done(SlotId id) const;

    // Fragments.
    /// Whether a fragment of this event belongs into this place now.
    [[nodiscard]] bool belongs(PlaceId place, EventId event) const;
    /// Whether the chunks lie where they must by their sequence numbers, in an event of this size.
    [[nodiscard]] bool fits(const ArrivedChunk& arrived, Bytes event_bytes) const;
    /// Of an event that can be, with the place and size that it has in it.
    [[nodiscard]] bool is_possible(const ArrivedChunk& arrived) const;
    void count_checked(const ArrivedChunk& arrived);
    bool accept_chunk(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out);
    bool begin_fragment(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out);
    void notice_transfer(Instant now, PlaceId place, Instant begun_at, Actions& out) const;
    void end_fragment(Instant now, PlaceId place, Actions& out);
    void complete_place(Instant now, PlaceId place, Actions& out);
    void announce_input(const FragmentPlace& fragment, Actions& out);
    void add_fault(Fault::Kind kind, const ArrivedChunk& arrived, const char* detail, Actions& out) const;
    void refuse_chunk(Fault::Kind kind, PlaceId place, const ArrivedChunk& arrived, const char* detail,
                      Actions& out);

    // Lossy transports.
    void on_lossy_chunk(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out);
    bool is_expected(PlaceId place, const ArrivedChunk& arrived);
    void begin_unannounced(PlaceId place, EventId event);
    void give_up_overdue(Instant now, Actions& out);
    void give_up(const FragmentPlace& fragment, Actions& out);

    // One for each kind of message that a consumer takes. False: it cannot be right, and nothing was changed.
    bool on(Instant now, NodeId from, const Assign& assign, Actions& out);
    bool on(Instant now, NodeId from, const Decline& decline, Actions& out);
    bool on(Instant now, NodeId from, const Sent& sent, Actions& out);
    bool on(Instant now, NodeId from, const ReportProgress& request, Actions& out);
    bool on(Instant now, NodeId from, const Finish& finish, Actions& out);
    bool on(Instant now, NodeId from, const Admit& admit, Actions& out);
    template <typename Other>
    bool on(Instant /*now*/, NodeId /*from*/, const Other& /*message*/, Actions& /*out*/) {
        return false;
    }
    void open_slots(Actions& out);
    void empty_all();
    /// Whether this is a chunk for another life than this one. It is counted then.
    bool refuse_stale(const ArrivedChunk& arrived, Actions& out);
    void report_progress(Actions& out) const;
    void close(Actions& out);

    Plan plan_;
    ConsumerId id_;
    std::uint32_t fragments_;  ///< per event
    std::vector<Slot> slots_;
    std::vector<FragmentPlace> places_;
    SlotUse use_;
    RingQueue<std::uint32_t> withheld_;
    bool withholding_ = false;
    std::optional<EventProcessing> processing_;  ///< if this consumer is busy at all
    std::optional<Sampler> result_size_;
    std::optional<ProducerTurns> turns_;        ///< policy `none`
    std::optional<FragmentRequests> requests_;  ///< initiation `pull`
    std::optional<FragmentLosses> losses_;      ///< lossy transports
    std::optional<TransferArrivals> arrivals_;  ///< the producer of this worker waits for some of them
    Ledger ledger_;
    struct Received {
        std::uint32_t producer = 0;
        Traffic traffic;
    };
    std::vector<Received> received_from_;  ///< sorted; of thousands of producers a few may be there
    std::uint64_t finished_events_ = 0;
    std::uint64_t given_up_events_ = 0;
    Epoch epoch_ = 0;
    bool admitted_ = true;  ///< false: a new process that the scheduler has not taken in
    Traffic stale_;
    bool reports_progress_ = false;
    bool finished_ = false;
};

}  // namespace weir::core
