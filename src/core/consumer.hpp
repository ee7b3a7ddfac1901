// The consumer as a state machine: opens slots, gives each free slot as a credit, puts events together from
// their chunks, checks every chunk against what the slot expects, and processes events one after the other
// while others arrive. With policy `none` there is no scheduler in the way of data: the consumer hands its
// free slots to the producers in turn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/actions.hpp"
#include "core/distribution.hpp"
#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"

namespace weir::core {

/// What a consumer's slots hold; the three add up to the plan's number of slots until the run closes.
struct SlotUse {
    std::uint32_t free = 0;       ///< credits given and not yet used by an arriving chunk
    std::uint32_t receiving = 0;  ///< part of an event has arrived
    std::uint32_t queued = 0;     ///< a whole event, waiting for processing or in it
    bool operator==(const SlotUse&) const = default;
};

/// A chunk as the transport found it in a slot.
struct ArrivedChunk {
    NodeId source;
    bool header_intact = true;
    bool payload_intact = true;
    ChunkDescription chunk;
};

class Consumer {
  public:
    /// Processing times are drawn from `processing_time`; draws of 0 free the slot at once.
    Consumer(const Plan& plan, ConsumerId id, Sampler processing_time);

    /// Opens all slots and gives their credits. Once, before any other input.
    void on_start(Instant now, Actions& out);
    void on_chunk(Instant now, SlotId slot, const ArrivedChunk& arrived, Actions& out);
    /// Ends processing that is over and begins the next.
    void on_time(Instant now, Actions& out);
    void on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out);

    /// From now on each event takes `factor` times as long (a simulation of a consumer that has become slow).
    void slow_down(double factor) { processing_factor_ = factor; }

    [[nodiscard]] Instant next_deadline() const { return finished_ ? Instant::never() : processing_until_; }

    [[nodiscard]] SlotUse slot_use() const { return use_; }
    [[nodiscard]] bool processing() const { return processing_until_ != Instant::never(); }
    [[nodiscard]] const Ledger& ledger() const { return ledger_; }
    /// What the ledger counts as received, by producer. Empty before on_start.
    [[nodiscard]] std::span<const Traffic> received_from() const { return received_from_; }
    [[nodiscard]] bool finished() const { return finished_; }

  private:
    enum class SlotState : std::uint8_t { closed, free, receiving, queued };
    struct Slot {
        SlotState state = SlotState::closed;
        bool corrupt = false;
        bool duplicated = false;
        EventId event;
        Bytes event_bytes;
        Bytes received;
        Instant generated_at;
        std::vector<bool> arrived;  ///< by chunk sequence
    };

    void open(Instant now, SlotId slot, Actions& out);
    void give_credit(SlotId slot, Actions& out);
    /// Whether the chunk lies where its sequence number says, in an event of this size.
    [[nodiscard]] bool fits(const ChunkDescription& chunk, Bytes event_bytes) const;
    bool begin_event(SlotId slot, const ArrivedChunk& arrived);
    void complete_event(Instant now, SlotId slot, Actions& out);
    void start_processing(Instant from);
    void free_slot(SlotId slot, Actions& out);
    void report_progress(Actions& out);
    void close(Actions& out);
    void refuse_chunk(Fault::Kind kind, SlotId slot, const ArrivedChunk& arrived, const char* detail,
                      Actions& out);
    [[nodiscard]] bool direct() const { return plan_.policy == PolicyKind::none; }

    Plan plan_;
    ConsumerId id_;
    Sampler processing_time_;
    double processing_factor_ = 1;
    bool busy_ = false;
    std::vector<Slot> slots_;
    SlotUse use_;
    RingQueue<std::uint32_t> queue_;  ///< slots waiting for processing, the one in processing first
    Instant processing_until_ = Instant::never();
    Duration current_processing_;
    std::vector<bool> producer_drained_;  ///< policy `none`: said that nothing is left
    std::uint32_t next_producer_ = 0;     ///< policy `none`: whose turn it is
    Ledger ledger_;
    std::vector<Traffic> received_from_;  ///< by producer; as many as there are, from on_start on
    bool settling_ = false;
    bool finished_ = false;
};

}  // namespace weir::core
