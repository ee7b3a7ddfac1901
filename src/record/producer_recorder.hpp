// Records what a producer does, second by second.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/actions.hpp"
#include "core/assertion.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/backlog_points.hpp"
#include "record/pairs.hpp"
#include "record/second_recorder.hpp"
#include "record/set_deadlines.hpp"

namespace weir::record {

struct ProducerState {
    core::Bytes backlog;  ///< generated and not yet safely delivered
    // Streams by what they do; the three sum to the plan's streams.
    std::uint32_t transferring = 0;
    std::uint32_t waiting_for_grant = 0;  ///< an event is there for the stream, a grant is not
    std::uint32_t waiting_for_data = 0;
};

class ProducerRecorder final : public DataRecorder<ProducerRecorder, ProducerRow> {
  public:
    /// Recording begins at `start` with all streams waiting for data. `latencies` is owned by the caller and
    /// may be shared by recorders of one thread.
    ProducerRecorder(const core::Plan& plan, core::ProducerId id, core::Instant start, Latencies& latencies,
                     Sink sink);

    /// Inline: a copy of a state that has just been stored in parts would have to wait for them.
    void set_state(core::Instant now, const ProducerState& state) {
        WEIR_ASSERT(state.transferring + state.waiting_for_grant + state.waiting_for_data == streams_);
        advance(now);
        if (!finished_) {
            state_ = state;
            // Also a backlog that lasts no time is a peak: it was there when it was reported.
            note_backlog(clock_.position());
        }
    }
    void observe(core::Instant now, const core::Observation& observation);
    /// In place of the observations of chunks that have left since the last call, in order of time, all of
    /// the producer's backlog.
    void chunks_sent(std::span<const ChunkBytes> chunks);
    /// Shaping: a chunk that could have gone at `due` was handed over.
    void paced(core::Instant now, core::Instant due);
    /// From the scheduler, by heartbeat: for how long so far offers waited and no consumer had a credit.
    /// Splits the streams' wait for a grant since the last such call into waiting for a slot and for the
    /// scheduler.
    void no_credit(core::Instant now, core::Duration cumulative);
    /// Adds the delays of heartbeats that were read since the last call.
    void heartbeats(core::Instant now, const HeartbeatDelays& delays);
    /// Ends the recording; a second begun is emitted if something happened in it, with `covered` below 1 s.
    /// Everything after this is ignored.
    void finish(core::Instant now);

    /// As far as they are known now; the summary has them as of the last row.
    [[nodiscard]] const SetsInTime& sets_in_time() const { return deadlines_.account(); }
    /// In warm-up and drain, too.
    [[nodiscard]] const std::vector<PairTime>& pair_times() const { return pair_times_; }

  private:
    friend SecondRecorder<ProducerRecorder, ProducerRow>;
    void integrate(core::Instant from, core::Duration length);
    void close(std::int64_t second, core::Duration covered);
    void note_backlog(core::Instant now) {
        integrals_.backlog_peak = std::max(integrals_.backlog_peak, state_.backlog);
        bursts_.at(now, [this](CurrentBurst& burst) {
            burst.backlog_peak = std::max(burst.backlog_peak, state_.backlog);
        });
        if (has_occupancy_ && state_.backlog > buffer_) {
            current_.overflowed = true;
            current_.overflowed_in_measure |= now >= core::Instant{0} && now < core::Instant{duration_.ns};
        }
    }
    void attribute_wait();
    void begin_transfer(core::EventId event);
    void end_transfer(const core::Observation& transfer);
    void count_sent(core::Bytes bytes);
    void end_bursts(core::Duration covered);

    core::Bytes buffer_;
    std::uint32_t streams_;
    bool has_occupancy_;
    bool loss_is_overflow_;
    bool consumers_grant_;  ///< policy `none`: grants come from consumers, so every wait for one is a wait
                            ///< for a slot
    bool keeps_sent_;       ///< what was sent is backlog until it is taken

    SetDeadlines deadlines_;
    BacklogTrend trend_;
    ProducerState state_;
    core::Duration transfers_;  ///< integral over time of the transfers under way, so far
    /// A transfer under way, and the two when it began.
    struct Begun {
        core::EventId event;
        core::Duration transfers;
        core::Bytes sent;
    };
    std::vector<Begun> begun_;
    std::vector<PairTime> pair_times_;

    /// Sums of the second at hand that its row has otherwise. Stream times are nanoseconds times streams.
    struct Integrals {
        double backlog_ns = 0;  ///< bytes times nanoseconds
        core::Bytes backlog_peak;
        std::int64_t transferring_ns = 0;
        std::int64_t slot_ns = 0;
        std::int64_t grant_ns = 0;
        std::int64_t data_ns = 0;
        std::int64_t unattributed_ns = 0;  ///< waiting for a grant, cause not yet known
    };
    Integrals integrals_;
    /// The same of each interval of it, with --row-interval.
    struct CurrentBurst {
        core::Bytes generated;
        core::Bytes sent;
        double backlog_ns = 0;
        core::Bytes backlog_peak;
        [[nodiscard]] bool any() const { return generated + sent > core::Bytes{}; }
    };
    BurstSums<CurrentBurst> bursts_;

    // Attribution of waiting: the last heartbeat's.
    bool no_credit_known_ = false;
    core::Instant no_credit_at_;
    core::Duration no_credit_cumulative_;
    double slot_share_ = 0;
};

extern template class SecondRecorder<ProducerRecorder, ProducerRow>;

}  // namespace weir::record
