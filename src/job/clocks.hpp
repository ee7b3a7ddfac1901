// Keeps a rank's common clock right as the run goes on, from instants that travel with the heartbeats:
//
//   rank -> leader   when it left, by the rank's clock
//   leader -> rank   when it left, by the leader's clock; when the rank's last one left, and arrived, by the
//                    clock of each
//
// The leader's own clock is the common one. What the others receive goes to a ClockFollower; the common clock
// is steered towards its middle, slowly enough for all measurements.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/messages.hpp"
#include "host/common_clock.hpp"
#include "job/job.hpp"
#include "record/heartbeat_delays.hpp"

namespace weir::job {

// Follows the leader's clock during a run: from the instants that heartbeats carry anyhow, how far this
// rank's monotonic clock is ahead of the leader's now, between which bounds.
//
// A message that left here at t1 and was there at t2, by the clocks of each, was not faster than light: the
// offset is at least t1 - t2. One from there at t3 that was here at t4: at most t4 - t3. So every message is
// a bound, however long it took or which way was the longer one; a slow one is only a weaker bound. Between
// messages the bounds move apart by what is not known of the rates of the clocks. The rate is bounded by
// comparing bounds that lie seconds apart.
//
// Rejected: filters that average round trips (NTP, PTP), whose error has no bound where the two ways differ;
// a line through all bounds, which assumes that rates never change.
//
// A pure class: instants are arguments.

/// This rank's clock against the leader's.
struct ClockOffset {
    std::int64_t offset_ns = 0;  ///< this rank's monotonic clock minus the leader's
    std::int64_t error_ns = 0;   ///< at most this far from the truth
};

class ClockFollower {
  public:
    /// `measured` at `at_ns`, by this rank's clock. `same_clock`: both ranks read the clock of one kernel, so
    /// that rates cannot differ.
    ClockFollower(std::int64_t at_ns, const ClockOffset& measured, bool same_clock);

    /// A message of this rank left at `sent_ns` and was received there at `received_there_ns` by that clock;
    /// known at `now_ns`.
    void add_sent(std::int64_t now_ns, std::int64_t sent_ns, std::int64_t received_there_ns);
    /// A message left there at `sent_there_ns` by that clock, and was received here at `now_ns`.
    void add_received(std::int64_t now_ns, std::int64_t sent_there_ns);

    /// Now, or at `now_ns` if nothing more is received.
    [[nodiscard]] ClockOffset at(std::int64_t now_ns) const;
    /// How far from rate() the truth may be.
    [[nodiscard]] double rate_error() const { return (rate_high_ - rate_low_) / 2; }
    /// By how much the offset grows, per time that passes, as estimated.
    [[nodiscard]] double rate() const { return (rate_high_ + rate_low_) / 2; }

    /// Rates of two clocks differ by at most this: crystals, and the kernel's own estimate of its counter.
    static constexpr double rate_limit = 200e-6;
    /// After a surprise: as fast as the kernel steers a clock at most.
    static constexpr double steered_rate_limit = 1000e-6;
    /// And change by at most this in a second: warmth.
    static constexpr double wander_per_s = 0.05e-6;

  private:
    struct Bounds {
        std::int64_t at_ns = 0;
        double low_ns = 0;
        double high_ns = 0;
    };

    /// What a message showed, at its time.
    struct Bound {
        std::int64_t at_ns = 0;
        double ns = 0;
    };

    void advance(std::int64_t now_ns);
    [[nodiscard]] double since(const Bound& bound) const;
    void check();
    void learn_rate();
    void forget_rate();

    std::int64_t base_ns_;  ///< subtracted from offsets, which are far larger than what doubles keep exact
    Bounds now_;
    double rate_low_;
    double rate_high_;
    double rate_limit_;
    Bound last_low_;
    Bound last_high_;
    std::deque<Bounds> past_;
};

class HeartbeatClock {
  public:
    /// A rank that follows: `at_start` was measured when this host's clock showed `measured_ns`, and `clock`
    /// made with it. `same_clock` as the follower's.
    HeartbeatClock(const host::CommonClock& clock, const ClockOffset& at_start, std::int64_t measured_ns,
                   bool same_clock);
    /// The leader, which is followed by `ranks` - 1 others.
    HeartbeatClock(const host::CommonClock& clock, int ranks);

    [[nodiscard]] const host::CommonClock& clock() const { return clock_; }
    [[nodiscard]] bool follows() const { return follower_.has_value(); }

    /// A heartbeat to `rank` leaves now; `local_ns` is this host's clock at the last moment before.
    void stamp(core::Heartbeat& heartbeat, int rank, std::int64_t local_ns) const;
    /// One of `rank` arrived; `local_ns` is this host's clock at the first moment after. Returned: how long
    /// it and the last one to the leader took, of a rank that follows, by its own clock.
    record::HeartbeatDelays receive(const core::Heartbeat& heartbeat, int rank, std::int64_t local_ns);

    /// At most so far was the common clock here from that of the leader, since the start.
    [[nodiscard]] std::int64_t worst_error_ns() const { return worst_error_ns_; }
    /// The same with the result of a measurement at the end, at `local_ns`.
    [[nodiscard]] std::int64_t error_bound_ns(std::int64_t local_ns, const ClockOffset& at_end) const;

  private:
    struct Heard {
        std::int64_t left_ns = 0;      ///< by the clock of the rank; 0: nothing yet
        std::int64_t received_ns = 0;  ///< by this one's
    };

    void steer(std::int64_t local_ns);

    host::CommonClock clock_;
    std::int64_t offset_at_start_ns_ = 0;
    std::int64_t steered_ns_ = 0;
    std::int64_t worst_error_ns_ = 0;
    std::int64_t answered_ns_ = 0;  ///< when the last one left here that the leader reported
    std::optional<ClockFollower> follower_;
    std::vector<Heard> heard_;  ///< leader: by rank
};

// Offsets between the ranks' clocks, by ping-pong with the leader: of many exchanges the one with
// the shortest round trip is the most exact, and half of it bounds the error (Cristian 1989). Done before and
// after the run: the difference between the two offsets is what the clocks drifted meanwhile. In between the
// clock is followed by heartbeats (HeartbeatClock).

/// Measures every rank against `reference_rank`, one rank after the other; collective. Throws JobError.
ClockOffset measure_clock_offset(Job& job, int reference_rank);

struct ClockDrift {
    double ppm = 0;        ///< this rank's clock is faster than the leader's by so many parts per million
    double error_ppm = 0;  ///< at most this far from the truth
};
/// From two measurements so far apart, which is above zero.
constexpr ClockDrift clock_drift(const ClockOffset& at_start, const ClockOffset& at_end,
                                 std::int64_t apart_ns) {
    const auto apart = static_cast<double>(apart_ns);
    return {1e6 * static_cast<double>(at_end.offset_ns - at_start.offset_ns) / apart,
            1e6 * static_cast<double>(at_end.error_ns + at_start.error_ns) / apart};
}

}  // namespace weir::job
