// What all recorders share. A recorder integrates the states of a node over time, counts what it observes,
// and closes a row at the end of every second, also of seconds in which nothing happened or the loop stood
// still. Every call takes `now` on the common clock and first advances to it.
//
// Chosen: exact integration of states that the caller reports when they change. Rejected: sampling at a fixed
// rate, which misses what is shorter than the period and costs timers. Nothing is allocated after
// construction.
//
// `Self` is the recorder. It has integrate(from, length), for a stretch of time inside a second, and
// close(second, covered), which ends in send_row(). A base class by template: both are called very often.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/live_sample.hpp"
#include "record/rank_summary.hpp"
#include "record/rows.hpp"
#include "record/second_clock.hpp"

namespace weir::record {

template <typename Self, typename SelfRow>
class SecondRecorder {
  public:
    /// Called once per closed second, in order.
    using Sink = std::function<void(const SelfRow&, const LiveSample&)>;

    void advance(core::Instant now) {
        if (now > clock_.position()) {
            move_to(now);
        }
    }
    /// The rank's loop was not polling for `gap`, which ended now.
    void poll_gap(core::Instant now, core::Duration gap) {
        advance(now);
        current_.poll_gaps.add(now, gap);
    }

    /// The sums of all rows emitted so far. Ledger and closing check are the caller's to fill in.
    [[nodiscard]] const RankSummary& summary() const { return summary_; }

  protected:
    SecondRecorder(const core::Plan& plan, core::NodeId node, core::Instant start, Sink sink)
        : duration_(plan.duration), clock_(start), sink_(std::move(sink)) {
        summary_.node = node;
    }

    void start_row(std::int64_t second, core::Duration covered) {
        current_.start = {second, phase_of(second, duration_), covered};
    }
    /// The row is in the sums: hands it on, and begins the next one.
    void send_row() {
        if (sink_) {
            sink_(current_, live_sample_of(summary_, current_));
        }
        current_.clear();
    }
    /// Ends the recording; a second begun is closed if something was counted in it. False: it had ended.
    bool end(bool counted) {
        if (!finished_ && counted) {
            self().close(clock_.second(), clock_.covered());
        }
        return !std::exchange(finished_, true);
    }

    core::Duration duration_;
    SecondClock clock_;
    bool finished_ = false;
    SelfRow current_;  ///< of the second at hand
    RankSummary summary_;

  private:
    Self& self() { return static_cast<Self&>(*this); }
    void move_to(core::Instant now);

    Sink sink_;
};

template <typename Self, typename SelfRow>
void SecondRecorder<Self, SelfRow>::move_to(core::Instant now) {
    if (!finished_) {
        clock_.advance(
            now, [this](core::Instant from, core::Duration length) { self().integrate(from, length); },
            [this](std::int64_t second, core::Duration covered) { self().close(second, covered); });
    }
}

}  // namespace weir::record
