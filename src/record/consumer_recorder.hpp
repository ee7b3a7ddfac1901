// Records what a consumer does, second by second.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/actions.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/backlog_points.hpp"
#include "record/phase_times.hpp"
#include "record/second_recorder.hpp"

namespace weir::record {

/// When in the current second a consumer waited for data, by its own account. When the first chunk of a
/// transfer shows that a transfer was under way, that time is removed again, from the end. Bounded: beyond a
/// number of stretches the oldest two are kept as one with the sum of their lengths, of which a part is then
/// removed in proportion.
class WaitingStretches {
  public:
    static constexpr std::size_t limit = 64;

    /// A wait from `from` on, which is not before the end of the last one.
    void add(core::Instant from, core::Duration length) {
        if (count_ > 0 && last().to == from) {
            last().to = from + length;
            last().waited += length;
            return;
        }
        if (count_ == limit) {
            Stretch& second = at(1);
            second.from = at(0).from;
            second.waited += at(0).waited;
            first_ = (first_ + 1) % limit;
            --count_;
        }
        ++count_;
        last() = {from, from + length, length};
    }

    /// Removes what lies after `since`, and returns how much it was.
    core::Duration remove_after(core::Instant since) {
        core::Duration removed;
        for (; count_ > 0 && last().to > since; --count_) {
            Stretch& stretch = last();
            if (stretch.from < since) {
                const core::Duration kept{static_cast<std::int64_t>(core::quotient(
                    static_cast<core::WideInteger>(stretch.waited.ns) * (since - stretch.from).ns,
                    (stretch.to - stretch.from).ns))};
                removed += stretch.waited - kept;
                stretch.to = since;
                stretch.waited = kept;
                break;
            }
            removed += stretch.waited;
        }
        return removed;
    }

    void clear() { count_ = 0; }

  private:
    struct Stretch {
        core::Instant from;
        core::Instant to;
        core::Duration waited;  ///< to - from, unless it is several
    };
    Stretch& at(std::size_t position) { return stretches_[(first_ + position) % limit]; }
    Stretch& last() { return at(count_ - 1); }

    std::array<Stretch, limit> stretches_{};
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

struct ConsumerState {
    std::uint32_t free_slots = 0;       ///< credits given, no data yet
    std::uint32_t receiving_slots = 0;  ///< the first chunk is here, the last one is not
    std::uint32_t queued_slots = 0;     ///< hold whole events that wait for or are in processing
    bool processing = false;

    /// Processing holds every slot: nothing can be received.
    [[nodiscard]] constexpr bool blocked() const {
        return free_slots + receiving_slots == 0 && queued_slots > 0;
    }
};

class ConsumerRecorder final : public DataRecorder<ConsumerRecorder, ConsumerRow> {
  public:
    /// Recording begins at `start` with all slots free. `latencies` is owned by the caller and may be shared
    /// by recorders of one thread.
    ConsumerRecorder(const core::Plan& plan, core::ConsumerId id, core::Instant start, Latencies& latencies,
                     Sink sink);

    /// Inline, to read the members one by one: the caller has just stored them one by one, and a wider load
    /// that spans several pending stores stalls the processor.
    void set_state(core::Instant now, const ConsumerState& state) {
        advance(now);
        if (state_.receiving_slots == 0) {
            last_came_at_ = now;
        }
        state_ = state;
        current_.free_slots_min = std::min(current_.free_slots_min, state.free_slots);
        bursts_.at(clock_.position(), [&](ConsumerBurst& burst) {
            burst.free_slots_min = std::min(burst.free_slots_min, state.free_slots);
        });
    }
    void observe(core::Instant now, const core::Observation& observation);
    /// In place of the observations of chunks that have arrived since the last call, in order of time, none
    /// of which changed the state.
    void chunks_received(std::span<const ChunkBytes> chunks);
    /// Something of which no chunk has arrived by the end of the current second has been on its way since
    /// then: only a simulator can tell. Else the first chunk shows it, when the row may be written already.
    void on_its_way(core::Instant since) { on_its_way_since_ = since; }
    /// Events so far (cumulative, as in the ledger) that failed verification or arrived twice.
    void integrity(core::Instant now, std::uint64_t corrupt_events, std::uint64_t duplicate_events);
    /// The rank's socket as it is now, where chunks are datagrams.
    void socket(core::Instant now, const core::SocketState& state);
    /// Adds the delays of heartbeats that were read since the last call.
    void heartbeats(core::Instant now, const HeartbeatDelays& delays);
    /// Ends the recording; a second begun is emitted if something happened in it, with `covered` below 1 s.
    /// Everything after this is ignored.
    void finish(core::Instant now);

    /// Addressed events: what was counted; else nothing.
    [[nodiscard]] const std::optional<TransferRecorder>& transfers() const { return transfers_; }

  private:
    friend SecondRecorder<ConsumerRecorder, ConsumerRow>;
    void integrate(core::Instant from, core::Duration length);
    void received_since(core::Instant since);
    void slot_received_since(core::Instant since);
    void count_received(core::Instant at, core::Bytes bytes);
    void end_silence(core::Instant at);
    struct Gap {
        core::Instant begin;
        core::Instant end;
    };
    /// Of the gap, what is longer than all silences before is one.
    void take_silence(const Gap& gap);
    void close(std::int64_t second, core::Duration covered);

    std::uint32_t slots_;
    ConsumerState state_;

    /// A transfer that was noticed and is not whole. Of many at a time only the first are followed.
    struct Begun {
        core::EventId event;
        core::Instant at;
        core::Duration transfers;
        core::Bytes received;
    };
    static constexpr std::size_t followed_max = 64;
    std::vector<Begun> begun_;
    std::uint32_t under_way_ = 0;
    core::Duration transfer_time_;  ///< integral over time of the transfers under way, so far

    void begin_transfer(const core::Observation& noticed);
    void end_transfer(const core::Observation& received);
    BurstSums<ConsumerBurst> bursts_;            ///< of the second at hand's intervals, with --row-interval
    std::optional<TransferRecorder> transfers_;  ///< addressed events
    double slot_bytes_;                          ///< of what waits in a slot
    BacklogTrend trend_;
    WaitingStretches waits_;
    core::Instant last_came_at_;  ///< of an event that had begun to arrive; or the first has only now
    core::Instant last_data_at_;
    Gap longest_gap_;  ///< between data, since the last heartbeat
    std::optional<core::Instant> on_its_way_since_;
    std::uint64_t corrupt_seen_ = 0;
    std::uint64_t duplicate_seen_ = 0;
};

extern template class SecondRecorder<ConsumerRecorder, ConsumerRow>;

}  // namespace weir::record
