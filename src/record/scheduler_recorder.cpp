#include "record/scheduler_recorder.hpp"

namespace weir::record {

template class SecondRecorder<SchedulerRecorder, SchedulerRow>;

using core::Duration;
using core::Instant;

SchedulerRecorder::SchedulerRecorder(const core::Plan& plan, Instant start, Sink sink)
    : SecondRecorder(plan, core::scheduler_node(), start, std::move(sink)), bursts_(plan.row_interval) {}

void SchedulerRecorder::integrate(Instant from, Duration length) {
    TimeUse& time = current_.time;
    if (state_.offers_waiting) {
        (state_.credits_available ? time.waiting_for_stream : time.waiting_for_slot) += length;
    } else {
        (state_.credits_available ? time.waiting_for_data : time.idle) += length;
    }
    current_.load.free_slots += length * static_cast<std::int64_t>(state_.credits);
    current_.load.outstanding += length * static_cast<std::int64_t>(state_.outstanding);
    const bool for_slot = state_.offers_waiting && !state_.credits_available;
    bursts_.over(from, length, [&](SchedulerBurst& burst, Duration part) {
        burst.waiting_for_slot += for_slot ? part : Duration{};
        note_state(burst);
    });
}

void SchedulerRecorder::note_state(SchedulerBurst& burst) const {
    burst.waiting_events_max = std::max(burst.waiting_events_max, state_.offers);
    burst.free_slots_min = std::min(burst.free_slots_min, state_.credits);
}

void SchedulerRecorder::set_state(Instant now, const SchedulerState& state) {
    advance(now);
    current_.events_without_credit += state.events_without_credit - state_.events_without_credit;
    state_ = state;
    bursts_.at(clock_.position(), [this](SchedulerBurst& burst) { note_state(burst); });
}

void SchedulerRecorder::message(Instant now, const core::ControlMessage& message) {
    advance(now);
    current_.ready_messages += std::holds_alternative<core::Ready>(message) ? 1 : 0;
    current_.offer_messages += std::holds_alternative<core::Offer>(message) ? 1 : 0;
    current_.done_messages += std::holds_alternative<core::Done>(message) ? 1 : 0;
}

void SchedulerRecorder::granted(Instant now, std::uint64_t grants) {
    advance(now);
    current_.grants += grants;
    bursts_.at(clock_.position(), [&](SchedulerBurst& burst) { burst.grants += grants; });
}

void SchedulerRecorder::control_packets(Instant now, std::uint64_t packets) {
    advance(now);
    current_.control_packets += packets - control_packets_.value_or(0);
    control_packets_ = packets;
}

void SchedulerRecorder::handled(Instant now, Duration time) {
    advance(now);
    current_.load.handling += time;
}

void SchedulerRecorder::result(Instant now, core::Bytes bytes) {
    advance(now);
    current_.results += {1, bytes};
}

void SchedulerRecorder::finish(Instant now) {
    advance(now);
    end(current_.ready_messages + current_.offer_messages + current_.done_messages + current_.grants > 0);
}

void SchedulerRecorder::close(std::int64_t second, Duration covered) {
    SchedulerRow& row = current_;
    start_row(second, covered);
    row.known.control_packets = control_packets_.has_value();
    row.waiting_events = state_.offers;
    row.free_slots = state_.credits;
    bursts_.end_second(clock_.start(), covered, [&](const BurstStart& start, SchedulerBurst& burst) {
        burst.start = start;
        row.bursts.push_back(burst);
    });
    count_row(summary_, row);
    send_row();
}

}  // namespace weir::record
