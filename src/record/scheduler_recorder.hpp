// Records what the scheduler does, second by second. See producer_recorder.hpp for the rules that all
// recorders share.
//
// The scheduler's four times show what it waited for: data (free slots, no events), slots (events, no free
// slot), streams (both, but every producer with events has all its streams in use, so the network is the
// limit), or nothing (idle). How long it is busy with messages is counted beside them (Load::handling); it
// does nothing at all where the rank is late to poll: poll_gap_max.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/ids.hpp"
#include "core/messages.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/live_sample.hpp"
#include "record/rank_summary.hpp"
#include "record/rows.hpp"
#include "record/second_clock.hpp"

namespace weir::record {

struct SchedulerState {
    bool offers_waiting = false;
    bool credits_available = false;
    std::uint64_t offers = 0;                 ///< events offered and not granted
    std::uint64_t credits = 0;                ///< free slots not granted
    std::uint64_t events_without_credit = 0;  ///< offered so far when no consumer had a credit for them
    std::uint64_t outstanding = 0;            ///< events granted and not done
};

class SchedulerRecorder {
  public:
    /// Called once per closed second, in order.
    using Sink = std::function<void(const SchedulerRow&, const LiveSample&)>;

    SchedulerRecorder(const core::Plan& plan, core::Instant start, Sink sink);

    void advance(core::Instant now);
    void set_state(core::Instant now, const SchedulerState& state);
    /// A control message arrived. Kinds other than Ready, Offer and Done are not counted.
    void message(core::Instant now, const core::ControlMessage& message);
    void granted(core::Instant now, std::uint64_t grants);
    /// Packets of control messages that the rank has sent and received so far.
    void control_packets(core::Instant now, std::uint64_t packets);
    /// It handled messages for `time` until now.
    void handled(core::Instant now, core::Duration time);
    /// The result of an event arrived.
    void result(core::Instant now, core::Bytes bytes);
    /// The rank's loop was not polling for `gap`, which ended now.
    void poll_gap(core::Instant now, core::Duration gap);
    /// Ends the recording; a second begun is emitted if something happened in it, with `covered` below 1 s.
    /// Everything after this is ignored.
    void finish(core::Instant now);

    /// The sums of all rows emitted so far. The ledger is the caller's to fill in.
    [[nodiscard]] const RankSummary& summary() const { return summary_; }

  private:
    void integrate(core::Instant from, core::Duration length);
    void note_state(SchedulerBurst& burst) const;
    void close(std::int64_t second, core::Duration covered);

    core::Duration duration_;
    Sink sink_;

    SecondClock clock_;
    bool finished_ = false;
    SchedulerState state_;
    std::optional<std::uint64_t> control_packets_;  ///< so far

    SchedulerRow current_;              ///< of the second at hand
    BurstSums<SchedulerBurst> bursts_;  ///< of its intervals, with --row-interval

    RankSummary summary_;
};

}  // namespace weir::record
