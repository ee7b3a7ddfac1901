// The sums of one rank over its whole run, in one trivially copyable block that a run gathers as bytes;
// the record of a rank: that block with what is known about the process; and what a rank sends to the leader
// each second.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/actions.hpp"
#include "core/ledger.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/backlog_points.hpp"
#include "record/rows.hpp"
#include "record/second_clock.hpp"
#include "record/set_deadlines.hpp"

namespace weir::record {

/// Bits per second that `bytes` in `time` make; 0 for no time.
constexpr core::BitRate rate_of(core::Bytes bytes, core::Duration time) {
    return {time.ns <= 0 ? 0
                         : static_cast<std::int64_t>(static_cast<double>(bytes.count) * 8e9 /
                                                     static_cast<double>(time.ns))};
}

/// A rank's sums so far, which every live sample of it brings along.
struct RankSums {
    std::int64_t rows = 0;           ///< emitted
    Counts run;                      ///< all rows, warm-up and drain included
    Counts measured;                 ///< rows of phase `measure`, as are all that follow
    TimeUse time;                    ///< of these rows
    core::Duration covered;          ///< time recorded
    std::int64_t whole_seconds = 0;  ///< complete ones
    double max_occupancy = 0;        ///< NaN with generation saturate
    std::int64_t max_occupancy_second = no_second;
    std::int64_t first_overflow_second = no_second;
    MovedInTime in_time;      ///< while data was generated; its rate is the mean
    SetsInTime sets_in_time;  ///< producer: of those generated in phase `measure`
};

struct RankSummary : RankSums {
    core::NodeId node;

    /// The final ledger, which the loop puts here (`ledger_known`) when the core has closed.
    core::Ledger ledger;
    bool ledger_known = false;
    /// Set by the loop: core::Producer::overflowed_at_close().
    bool overflowed_at_close = false;

    std::int64_t last_second = no_second;  ///< of the last row
    Load load;                             ///< phase `measure`
    std::int64_t overflow_seconds = 0;     ///< seconds of phase `measure` with an overflow
    BacklogPoints backlog_points;          ///< producer, consumer

    // What was moved (sent or received) in one whole second of phase `measure`.
    core::BitRate slowest;
    core::BitRate fastest;
    std::int64_t slowest_second = no_second;
    std::int64_t fastest_second = no_second;
    core::BitRate slowest_window;                    ///< mean over kept_window_s()
    std::int64_t slowest_window_second = no_second;  ///< its first
    core::BitRate peak_10ms;

    core::Duration poll_gap_max;  ///< phase `measure`
    std::int64_t poll_gap_second = no_second;
    core::SocketState socket;  ///< where chunks are datagrams; occupancy_bytes: the most

    core::Duration stalled;  ///< sum of poll gaps of 10 ms and more in phase `measure`
    /// The same from second 0 on with the drain: what stands still at the end of the measured time is known
    /// after it.
    core::Duration stalled_with_drain;
    core::Duration poll_gap_max_with_drain;
    std::int64_t poll_gap_second_with_drain = no_second;
    core::Duration silence_with_drain;  ///< the longest (Row::silence), from second 0 on
    core::Instant silence_end;
    /// How much faster this rank's clock goes than the scheduler's, in parts per million, and how far from
    /// the truth that may be; nothing where both are one clock or before the end.
    std::optional<double> clock_drift_ppm;
    std::optional<double> clock_drift_error_ppm;

    /// Adds the sums of a consumer's earlier process. Slowest and fastest second stay those of this one.
    void add_sums(const RankSummary& earlier) {
        run += earlier.run;
        measured += earlier.measured;
        time += earlier.time;
        load += earlier.load;
        covered += earlier.covered;
        in_time += earlier.in_time;
        whole_seconds += earlier.whole_seconds;
        rows += earlier.rows;
        last_second = std::max(last_second, earlier.last_second);
    }
    /// Mean of what was moved while data was generated.
    [[nodiscard]] constexpr core::BitRate throughput() const { return rate_of(in_time.bytes, in_time.time); }
    [[nodiscard]] constexpr bool overflowed() const {
        return first_overflow_second != no_second || overflowed_at_close;
    }
};
static_assert(std::is_trivially_copyable_v<RankSummary>);

/// Where a rank runs, as run.json and messages name it.
struct RankHost {
    std::string host;  ///< empty: nowhere (a simulation)
    std::int64_t pid = 0;
    std::string cpus;  ///< list syntax, "0-3,8"; empty: unknown
    std::string leaf;  ///< the switch that its host is connected to; empty: unknown
};

/// A rank as run.json lists it.
struct RankRecord : RankHost {
    int rank = 0;
    RankSummary summary;
    bool ended_regularly = true;  ///< false: `summary` is made from the rank's last report (summary_from)
    std::string file;             ///< of its rows, relative to the run directory; empty: none
    std::string listening = {};   ///< where others could send to its process; empty: nowhere, or not known
};

/// Enough for the live line, and, because its sums are cumulative, for run.json if the rank cannot send
/// anything else. `rows` and the other sums are as of the end of the second of LiveState.
struct LiveSample : LiveState, RankSums {
    core::NodeId node;
    core::Bytes moved;  ///< in this second: sent by a producer, received by a consumer
    core::Duration poll_gap_max;
};
static_assert(std::is_trivially_copyable_v<LiveSample>);

/// Adds a row to the summary of its rank.
void count_row(RankSummary& summary, const Row& row);

/// The live sample of a row that `summary` already counts.
LiveSample live_sample_of(const RankSummary& summary, const Row& row);

/// Whether these can be samples of `node`. They come from other ranks, and their numbers are added up.
[[nodiscard]] bool are_live_samples(std::span<const LiveSample> samples, core::NodeId node);

/// The summary of a rank that sent nothing after this. Slowest and fastest second, peaks and
/// ledger are not in a sample and stay unknown.
RankSummary summary_from(const LiveSample& sample);

// Over how many seconds rates of single ranks are compared. In a second a rank may get one large event or
// none, and a set every ten seconds leaves most seconds empty: then its lowest second shows how events fall
// into seconds, and nothing about the run.

/// A rank's fair share of a window is at least so many events: one more or less is then an eighth.
inline constexpr int rate_window_events = 8;
/// Longer ones are not kept.
inline constexpr std::int64_t rate_window_limit_s = 600;

/// The smallest number of seconds in which a fair share is enough events, and which holds a whole number of
/// intervals, or as many. Nothing: beyond the limit, or generation `saturate`, of which no rate is planned.
std::optional<std::int64_t> rate_window_s(const core::Plan& plan);
/// The same at another rate of a producer than the planned one.
std::optional<std::int64_t> rate_window_s(const core::Plan& plan, core::BitRate rate);
/// The window whose lowest rate is kept; one second where no rate is planned.
std::int64_t kept_window_s(const core::Plan& plan);

/// Finds the lowest rate of a rank over a window of measured seconds.
class LowestRate {
  public:
    explicit LowestRate(const core::Plan& plan) : bytes_(static_cast<std::size_t>(kept_window_s(plan))) {}

    /// Rows in order, to be entered in `summary`.
    void add(RankSummary& summary, const Row& row);

  private:
    std::vector<core::Bytes> bytes_;  ///< of the last seconds, in a ring
    std::size_t next_ = 0;
    std::size_t known_ = 0;
    core::Bytes sum_;
};

}  // namespace weir::record
