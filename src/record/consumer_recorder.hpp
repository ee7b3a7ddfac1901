// Records what a consumer does, second by second. See producer_recorder.hpp for the rules that all recorders
// share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "core/actions.hpp"
#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/datagram_recorder.hpp"
#include "record/generation_time.hpp"
#include "record/latencies.hpp"
#include "record/live_sample.hpp"
#include "record/rank_summary.hpp"
#include "record/rate_window.hpp"
#include "record/rows.hpp"
#include "record/second_clock.hpp"
#include "record/transfer_times.hpp"
#include "record/waiting_stretches.hpp"

namespace weir::record {

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

class ConsumerRecorder {
  public:
    /// Called once per closed second, in order.
    using Sink = std::function<void(const ConsumerRow&, const LiveSample&)>;

    /// Recording begins at `start` with all slots free. `latencies` is owned by the caller and may be shared
    /// by recorders of one thread.
    ConsumerRecorder(const core::Plan& plan, core::ConsumerId id, core::Instant start, Latencies& latencies,
                     Sink sink);

    void advance(core::Instant now) {
        if (now > clock_.position()) {
            move_to(now);
        }
    }
    /// Inline, to read the members one by one: the caller has just stored them one by one, and a wider load
    /// that spans several pending stores stalls the processor.
    void set_state(core::Instant now, const ConsumerState& state) {
        advance(now);
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
    /// At the end of the current second so many bytes of chunks are here whose end is not: only a
    /// simulator can tell.
    void moving(core::Bytes bytes) { moving_.set(bytes); }
    /// Something of which no chunk has arrived by the end of the current second has been on its way since
    /// then: only a simulator can tell. Else the first chunk shows it, when the row may be written already.
    void on_its_way(core::Instant since) { on_its_way_since_ = since; }
    /// Events so far (cumulative, as in the ledger) that failed verification or arrived twice.
    void integrity(core::Instant now, std::uint64_t corrupt_events, std::uint64_t duplicate_events);
    /// The rank's socket as it is now, where chunks are datagrams.
    void socket(core::Instant now, const core::SocketState& state);
    /// The rank's loop was not polling for `gap`, which ended now.
    void poll_gap(core::Instant now, core::Duration gap);
    /// Adds the delays of heartbeats that were read since the last call.
    void heartbeats(core::Instant now, const HeartbeatDelays& delays);
    /// Ends the recording; a second begun is emitted if something happened in it, with `covered` below 1 s.
    /// Everything after this is ignored.
    void finish(core::Instant now);

    /// Addressed events: what was counted; else nothing.
    [[nodiscard]] const std::optional<TransferRecorder>& transfers() const { return transfers_; }

    /// Datagrams by peer, where chunks are datagrams.
    [[nodiscard]] std::vector<PeerDatagrams> datagrams() const { return datagrams_.entries(); }

    /// The sums of all rows emitted so far. The ledger is the caller's to fill in.
    [[nodiscard]] const RankSummary& summary() const { return summary_; }

  private:
    void move_to(core::Instant now);
    void integrate(core::Instant from, core::Duration length);
    void received_since(core::Instant since);
    void slot_received_since(core::Instant since);
    void count_received(core::Instant at, core::Bytes bytes);
    void close(std::int64_t second, core::Duration covered);

    core::Duration duration_;
    std::uint32_t slots_;
    Latencies& latencies_;
    Sink sink_;

    SecondClock clock_;
    DatagramRecorder datagrams_;
    bool finished_ = false;
    Known known_;  ///< of the rows
    bool paced_;
    std::optional<core::Instant> last_chunk_at_;  ///< shaping in_step
    ConsumerState state_;

    ConsumerRow current_;  ///< of the second at hand

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
    core::Bytes received_;          ///< so far

    void begin_transfer(const core::Observation& noticed);
    void end_transfer(const core::Observation& received);
    BurstSums<ConsumerBurst> bursts_;  ///< of its intervals, with --row-interval
    MovingBytes moving_;
    LowestRate lowest_rate_;
    GenerationTime generation_time_;
    std::optional<TransferRecorder> transfers_;  ///< addressed events
    WaitingStretches waits_;
    std::optional<core::Instant> on_its_way_since_;
    PeakBins peak_bins_;
    std::uint64_t corrupt_seen_ = 0;
    std::uint64_t duplicate_seen_ = 0;

    RankSummary summary_;
};

}  // namespace weir::record
