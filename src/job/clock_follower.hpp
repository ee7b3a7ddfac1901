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
#pragma once

#include <cstdint>
#include <deque>

namespace weir::job {

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

}  // namespace weir::job
