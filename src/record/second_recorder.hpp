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
#include <optional>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/latencies.hpp"
#include "record/pairs.hpp"
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

/// What the recorders of producers and of consumers share: they count bytes that move.
template <typename Self, typename SelfRow>
class DataRecorder : public SecondRecorder<Self, SelfRow> {
    using Base = SecondRecorder<Self, SelfRow>;

  public:
    /// At the end of the current second so many bytes of chunks have moved whose end has not: known in a
    /// simulator only.
    void moving(core::Bytes bytes) { moving_.set(bytes); }
    /// The rank's socket as it is now, where chunks are datagrams.
    void socket(core::Instant now, const core::SocketState& state) {
        if (!this->finished_) {
            this->advance(now);
            known_.datagrams = true;
            datagrams_.socket(state, this->current_.datagrams);
            this->summary_.socket = datagrams_.socket();
        }
    }
    /// Datagrams by peer, where chunks are datagrams.
    [[nodiscard]] std::vector<PeerDatagrams> datagrams() const { return datagrams_.entries(); }

  protected:
    DataRecorder(const core::Plan& plan, core::NodeId node, std::uint32_t peers, core::Instant start,
                 Latencies& latencies, typename Base::Sink sink)
        : Base(plan, node, start, std::move(sink)),
          in_step_(plan.shaping.kind == core::ShapingKind::in_step),
          latencies_(latencies),
          datagrams_(plan, peers),
          lowest_rate_(plan),
          generation_time_(plan, start) {}

    /// False: the recording has ended.
    bool begin_to_observe(core::Instant now, const core::Observation& observation) {
        this->advance(now);
        if (!this->finished_) {
            datagrams_.observe(observation, this->current_.datagrams);
        }
        return !this->finished_;
    }
    /// From second 0 on.
    [[nodiscard]] bool judged() const { return this->clock_.position() >= core::Instant{}; }
    void add_latency(LogHistogram& histogram, core::Duration latency) {
        if (judged()) {
            histogram.add(latency);
        }
    }
    void count_moved(core::Instant at, core::Bytes bytes) {
        moved_ += bytes;
        generation_time_.count(at, bytes);
        peak_bins_.add(at, bytes);
    }
    /// The row is complete but for these, and `bytes` are those that moved.
    void end_row(core::Bytes& bytes) {
        bytes = moving_.end_second(bytes);
        this->current_.peak_10ms = peak_bins_.end_second();
        this->current_.known = known_;
    }
    void send_row(core::Bytes bytes) {
        count_row(this->summary_, this->current_);
        lowest_rate_.add(this->summary_, this->current_);
        generation_time_.end_second(this->current_.start.second, this->clock_.position(), bytes);
        this->summary_.in_time = generation_time_.moved();
        Base::send_row();
    }
    bool end(core::Instant now, bool counted) {
        const bool ends = Base::end(counted);
        if (ends) {
            generation_time_.finish(now);
            this->summary_.in_time = generation_time_.moved();
        }
        return ends;
    }

    bool in_step_;
    std::optional<core::Instant> last_chunk_at_;  ///< shaping
    Latencies& latencies_;
    DatagramRecorder datagrams_;
    Known known_;        ///< of the rows
    core::Bytes moved_;  ///< so far

  private:
    MovingBytes moving_;
    LowestRate lowest_rate_;
    GenerationTime generation_time_;
    PeakBins peak_bins_;
};

}  // namespace weir::record
