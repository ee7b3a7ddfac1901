// Records what the scheduler does, second by second.
//
// The scheduler's four times show what it waited for: data (free slots, no events), slots (events, no free
// slot), streams (both, but every producer with events has all its streams in use, so the network is the
// limit), or nothing (idle). How long it is busy with messages is counted beside them (Load::handling); it
// does nothing at all where the rank is late to poll: poll_gap_max.
#pragma once

#include <cstdint>
#include <optional>

#include "core/messages.hpp"
#include "core/units.hpp"
#include "record/second_recorder.hpp"

namespace weir::record {

struct SchedulerState {
    bool offers_waiting = false;
    bool credits_available = false;
    std::uint64_t offers = 0;                 ///< events offered and not granted
    std::uint64_t credits = 0;                ///< free slots not granted
    std::uint64_t events_without_credit = 0;  ///< offered so far when no consumer had a credit for them
    std::uint64_t outstanding = 0;            ///< events granted and not done
};

class SchedulerRecorder final : public SecondRecorder<SchedulerRecorder, SchedulerRow> {
  public:
    SchedulerRecorder(const core::Plan& plan, core::Instant start, Sink sink);

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
    /// Ends the recording; a second begun is emitted if something happened in it, with `covered` below 1 s.
    /// Everything after this is ignored.
    void finish(core::Instant now);

  private:
    friend SecondRecorder;
    void integrate(core::Instant from, core::Duration length);
    void note_state(SchedulerBurst& burst) const;
    void close(std::int64_t second, core::Duration covered);

    SchedulerState state_;
    std::optional<std::uint64_t> control_packets_;  ///< so far

    BurstSums<SchedulerBurst> bursts_;  ///< of the second at hand's intervals, with --row-interval
};

extern template class SecondRecorder<SchedulerRecorder, SchedulerRow>;

}  // namespace weir::record
