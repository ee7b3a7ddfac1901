// The consumer as a state machine: opens slots, gives each free slot as a credit, puts events together from
// their chunks, checks every chunk against what the slot expects, and processes events one after the other
// while others arrive. With policy `none` there is no scheduler in the way of data: the consumer hands its
// free slots to the producers in turn.
//
// A slot has a place for every fragment of an event (pattern `distribute`: one). An event is through when
// all its places are complete: their fragments are whole, or were declined or given up. With initiation
// `pull` the consumer asks for each fragment, a bounded number at a time.
//
// A transport that loses chunks does not tell what a fragment should have been, so the producer does
// (`sent`), when it has sent all of it. Then the fragment is whole, or becomes so within the time-out, or
// is asked for again, or is given up. Chunks that cannot be used are counted; they are no faults.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/actions.hpp"
#include "core/distribution.hpp"
#include "core/fragment_place.hpp"
#include "core/indexed_heap.hpp"
#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"

namespace weir::core {

/// What a consumer's slots hold; the four add up to the plan's number of slots until the run closes.
struct SlotUse {
    std::uint32_t free = 0;       ///< credits given and not yet used by an arriving chunk
    std::uint32_t receiving = 0;  ///< part of an event has arrived
    std::uint32_t queued = 0;     ///< an event that is through, waiting for processing or in it
    std::uint32_t withheld = 0;   ///< empty, and no credit given: more than `high_water` events are held
    bool operator==(const SlotUse&) const = default;
};

/// A chunk as the transport found it in a place. Of a lossy transport, which does not know them, the size
/// of the event and its instant of generation are 0.
struct ArrivedChunk {
    NodeId source;
    bool header_intact = true;
    bool payload_intact = true;
    ChunkDescription chunk;
    std::uint32_t count = 1;  ///< in a simulation: so many in a row, of the length of all, from `chunk` on
};

class Consumer {
  public:
    /// Processing times are drawn from `processing_time`; draws of 0 free the slot at once.
    /// Sizes of results are drawn from `result_size`; nothing: there are none.
    Consumer(const Plan& plan, ConsumerId id, Sampler processing_time,
             std::optional<Sampler> result_size = std::nullopt);

    /// Opens all slots and gives their credits. Once, before any other input.
    void on_start(Instant now, Actions& out);
    void on_chunk(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out);
    /// Ends processing that is over and begins the next; asks again for what is overdue, or gives it up.
    void on_time(Instant now, Actions& out);
    void on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out);

    /// From now on each event takes `factor` times as long (a simulation of a consumer that has become slow).
    void slow_down(double factor) { processing_factor_ = factor; }

    [[nodiscard]] Instant next_deadline() const;

    [[nodiscard]] SlotUse slot_use() const { return use_; }
    [[nodiscard]] bool processing() const { return processing_until_ != Instant::never(); }
    [[nodiscard]] const Ledger& ledger() const { return ledger_; }
    /// Fragments that were lost on the way, in the order in which they were given up; the first of them.
    [[nodiscard]] std::span<const EventId> given_up() const { return given_up_; }
    /// Events through so far, of which all fragments arrived (pattern `distribute`: the same as
    /// received).
    [[nodiscard]] std::uint64_t finished_events() const { return finished_events_; }
    [[nodiscard]] std::uint64_t given_up_events() const { return given_up_events_; }
    /// What the ledger counts as received, by producer. Empty before on_start.
    [[nodiscard]] std::span<const Traffic> received_from() const { return received_from_; }
    [[nodiscard]] bool finished() const { return finished_; }

    /// Fragments given up that are kept by name; further ones are counted only.
    static constexpr std::size_t given_up_limit = 256;

  private:
    enum class SlotState : std::uint8_t { closed, withheld, free, receiving, queued };
    struct Slot {
        SlotState state = SlotState::closed;
        bool assigned = false;  ///< pull: the scheduler has said for which event it is
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
    /// A fragment to ask for.
    struct Request {
        ProducerId producer;
        Grant grant;
    };

    // Slots and credits.
    void open_places(SlotId slot, Actions& out);
    bool empty_slot(SlotId slot, Actions& out);
    void give_credit(SlotId slot, Actions& out);
    void send_result(SlotId slot, Actions& out);
    void give_withheld(Actions& out);
    [[nodiscard]] bool withholds();
    void begin_event(SlotId slot, std::uint64_t number);
    void end_event(Instant now, SlotId slot, Actions& out);
    [[nodiscard]] Done done(SlotId slot) const;
    void start_processing(Instant from);

    // Fragments.
    /// Whether a fragment of this event belongs into this place now.
    [[nodiscard]] bool belongs(PlaceId place, EventId event) const;
    /// Whether the chunks lie where their sequence numbers say, in an event of this size.
    [[nodiscard]] bool fits(const ArrivedChunk& arrived, Bytes event_bytes) const;
    bool begin_fragment(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out);
    void notice_transfer(Instant now, PlaceId place, Instant begun_at, Actions& out) const;
    void end_fragment(Instant now, PlaceId place, Actions& out);
    void complete_place(Instant now, PlaceId place, Actions& out);
    void refuse_chunk(Fault::Kind kind, PlaceId place, const ArrivedChunk& arrived, const char* detail,
                      Actions& out);

    // Lossy transports (consumer_losses.cpp).
    void on_lossy_chunk(Instant now, PlaceId place, const ArrivedChunk& arrived, Actions& out);
    void begin_unannounced(PlaceId place, EventId event);
    void look_after_overdue(Instant now, Actions& out);
    void count_as_lost(const FragmentPlace& fragment, Actions& out);
    void give_up(Instant now, PlaceId place, Actions& out);
    void end_waiting(PlaceId place, Actions& out);
    [[nodiscard]] std::size_t over_index(PlaceId place, EventId event) const;
    /// Nothing more can come of it in this place: it was whole there, or was given up, or is older than one
    /// that was.
    [[nodiscard]] bool is_over(PlaceId place, EventId event) const;

    // Initiation pull.
    void ask(Actions& out);

    // One for each kind of message that a consumer takes. False: it cannot be right, and nothing was changed.
    bool on(Instant now, NodeId from, const Assign& assign, Actions& out);
    bool on(Instant now, NodeId from, const Decline& decline, Actions& out);
    bool on(Instant now, NodeId from, const Sent& sent, Actions& out);
    bool on(Instant now, NodeId from, const ReportProgress& request, Actions& out);
    bool on(Instant now, NodeId from, const Finish& finish, Actions& out);
    template <typename Other>
    bool on(Instant /*now*/, NodeId /*from*/, const Other& /*message*/, Actions& /*out*/) {
        return false;
    }
    void report_progress(Actions& out);
    void close(Actions& out);

    Plan plan_;
    ConsumerId id_;
    Sampler processing_time_;
    std::optional<Sampler> result_size_;
    double processing_factor_ = 1;
    bool busy_ = false;
    std::uint32_t fragments_;  ///< per event
    std::vector<Slot> slots_;
    std::vector<FragmentPlace> places_;
    SlotUse use_;
    RingQueue<std::uint32_t> queue_;  ///< slots waiting for processing, the one in processing first
    RingQueue<std::uint32_t> withheld_;
    bool withholding_ = false;
    Instant processing_until_ = Instant::never();
    Duration current_processing_;
    std::vector<bool> producer_drained_;  ///< policy `none`: said that nothing is left
    std::uint32_t next_producer_ = 0;     ///< policy `none`: whose turn it is
    RingQueue<Request> to_ask_;           ///< pull
    std::uint32_t asked_ = 0;             ///< pull: fragments asked for and not complete
    std::vector<bool> is_asked_;          ///< pull, by place: one of these
    IndexedHeap<std::int64_t> overdue_;   ///< lossy: places by the instant at which their fragment is, in ns
    std::vector<EventId> given_up_;
    /// Lossy, by slot and producer: the sequence number after that of the last fragment that is over. A
    /// producer is granted a place again only when that is so, and its events in ascending order, so all
    /// before this number are over as well, however late their chunks and messages come.
    std::vector<std::uint64_t> over_;
    Ledger ledger_;
    std::vector<Traffic> received_from_;  ///< by producer; as many as there are, from on_start on
    std::uint64_t finished_events_ = 0;
    std::uint64_t given_up_events_ = 0;
    bool reports_progress_ = false;
    bool finished_ = false;
};

}  // namespace weir::core
