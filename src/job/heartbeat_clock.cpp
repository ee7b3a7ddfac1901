#include "job/heartbeat_clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace weir::job {

namespace {

/// In which an error that was found is corrected: longer than between heartbeats, so that a clock does not
/// swing, and shorter than the followed rates take to change.
constexpr double horizon_ns = 2e9;

/// From one instant to another by the leader's clock. A message may contain anything.
core::Duration delay_between(std::int64_t left_ns, std::int64_t read_ns, std::int64_t offset_ns) {
    constexpr double most_ns = 1e18;
    const double delay_ns =
        static_cast<double>(read_ns) - static_cast<double>(left_ns) + static_cast<double>(offset_ns);
    return {static_cast<std::int64_t>(std::clamp(delay_ns, 0.0, most_ns))};
}

}  // namespace

HeartbeatClock::HeartbeatClock(const host::CommonClock& clock, const ClockOffset& at_start,
                               std::int64_t measured_ns, bool same_clock)
    : clock_(clock),
      offset_at_start_ns_(at_start.offset_ns),
      steered_ns_(measured_ns),
      worst_error_ns_(at_start.error_ns),
      follower_(std::in_place, measured_ns, at_start, same_clock) {}

HeartbeatClock::HeartbeatClock(const host::CommonClock& clock, int ranks)
    : clock_(clock), heard_(static_cast<std::size_t>(ranks)) {}

void HeartbeatClock::stamp(core::Heartbeat& heartbeat, int rank, std::int64_t local_ns) const {
    heartbeat.left_ns = local_ns;
    if (!follows()) {
        const Heard& heard = heard_[static_cast<std::size_t>(rank)];
        heartbeat.other_left_ns = heard.left_ns;
        heartbeat.other_arrived_ns = heard.received_ns;
    }
}

record::HeartbeatDelays HeartbeatClock::receive(const core::Heartbeat& heartbeat, int rank,
                                                std::int64_t local_ns) {
    if (heartbeat.left_ns == 0) {
        return {};
    }
    if (!follows()) {
        heard_[static_cast<std::size_t>(rank)] = {heartbeat.left_ns, local_ns};
        return {};
    }
    follower_->add_received(local_ns, heartbeat.left_ns);
    if (heartbeat.other_left_ns != 0) {
        follower_->add_sent(local_ns, heartbeat.other_left_ns, heartbeat.other_arrived_ns);
    }
    steer(local_ns);
    const std::int64_t offset_ns = follower_->at(local_ns).offset_ns;
    record::HeartbeatDelays delays;
    delays.from_leader.add(delay_between(heartbeat.left_ns, local_ns, -offset_ns));
    // The leader reports the same one until the next has arrived.
    if (heartbeat.other_left_ns != 0 &&
        std::exchange(answered_ns_, heartbeat.other_left_ns) != heartbeat.other_left_ns) {
        delays.to_leader.add(delay_between(heartbeat.other_left_ns, heartbeat.other_arrived_ns, offset_ns));
    }
    return delays;
}

std::int64_t HeartbeatClock::error_bound_ns(std::int64_t local_ns, const ClockOffset& at_end) const {
    const auto offset_ns = static_cast<double>(at_end.offset_ns - offset_at_start_ns_);
    const double wrong_ns = std::abs(clock_.correction_ns(local_ns) - offset_ns);
    return std::max<std::int64_t>(worst_error_ns_, at_end.error_ns + std::llround(wrong_ns));
}

void HeartbeatClock::steer(std::int64_t local_ns) {
    const ClockOffset offset = follower_->at(local_ns);
    const auto wanted_ns = static_cast<double>(offset.offset_ns - offset_at_start_ns_);
    const double wrong_ns = std::abs(clock_.correction_ns(local_ns) - wanted_ns);
    // Between this heartbeat and the one before, it may have been off by what was not known of the rate.
    const double between_ns = follower_->rate_error() * static_cast<double>(local_ns - steered_ns_);
    constexpr double most_ns = 1e18;
    worst_error_ns_ = std::max<std::int64_t>(
        worst_error_ns_, offset.error_ns + std::llround(std::min(wrong_ns + between_ns, most_ns)));
    steered_ns_ = local_ns;
    clock_.steer(local_ns, wanted_ns, follower_->rate(), horizon_ns);
}

}  // namespace weir::job
