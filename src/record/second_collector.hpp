// Joins the ranks' live samples of one second. A second is complete when every rank has sent its sample; one
// that is not complete two seconds after its end is passed on with what is there and with the number of
// missing ranks. Seconds come out in order, each once. Memory: one sample per rank and a few open seconds.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/rank_summary.hpp"
#include "record/rows.hpp"

namespace weir::record {

/// Rates of the ranks of one role in one second.
struct RateRange {
    core::BitRate min;
    core::BitRate mean;
    core::BitRate max;
    std::uint32_t ranks = 0;  ///< that sent a sample; the rates mean nothing if 0
};

/// One second of the whole run.
struct ClusterSecond {
    std::int64_t second = 0;
    Phase phase = Phase::warmup;
    RateRange producers;
    RateRange consumers;
    // With --row-interval: the most that one rank moved in one interval of the second, as a rate.
    core::BitRate producer_burst;
    core::BitRate consumer_burst;
    double blocked_mean = 0;            ///< consumers, mean over the second's samples
    std::uint32_t blocked_at_once = 0;  ///< consumers, most at one of the second's samples
    double max_occupancy = 0;           ///< NaN with generation saturate
    std::uint32_t fullest_producer = 0;
    bool overflowed = false;
    std::uint64_t late_sets = 0;                  ///< since the start, as last reported by every rank
    Counts counts;                                ///< since the start
    std::optional<std::uint64_t> waiting_events;  ///< at the scheduler
    std::optional<std::uint64_t> free_slots;      ///< at the scheduler
    core::Duration poll_gap_max;
    std::uint32_t missing_ranks = 0;
};

/// Most consumers blocked at one sample of phase `measure`.
struct BlockedAtOnce {
    std::uint32_t consumers = 0;
    std::int64_t second = no_second;
};

class SecondCollector {
  public:
    /// How long after its end a second waits for samples.
    static constexpr core::Duration patience = core::Duration::seconds(2);
    /// Seconds open at a time; when more are begun, the oldest is passed on as it is.
    static constexpr std::size_t open_seconds_max = 16;

    using Sink = std::function<void(const ClusterSecond&)>;

    SecondCollector(const core::Plan& plan, Sink sink);

    /// A sample of any rank. Samples of seconds that were passed on already only count for latest(). Samples
    /// of partial seconds (the rank began or ended in it) complete the second but do not count in the rates.
    void add(const LiveSample& report);
    /// Passes on what is complete or has waited long enough; to be called several times a second.
    void poll(core::Instant now);
    /// Passes on everything that is open.
    void finish();

    /// A node's process has ended, and another one may take its place, whose sums begin at 0.
    void end_life(core::NodeId node);

    /// The last sample of a node's present process, nullptr if it sent none.
    [[nodiscard]] const LiveSample* latest(core::NodeId node) const;
    /// The sums of a node's processes that have ended; nullptr: none has, or none sent a sample.
    [[nodiscard]] const RankSummary* ended_lives(core::NodeId node) const;
    [[nodiscard]] const BlockedAtOnce& blocked_at_once() const { return blocked_at_once_; }

  private:
    struct Open {
        ClusterSecond collected;
        core::Bytes producer_bytes;  ///< sums of the rates' bytes
        core::Bytes consumer_bytes;
        std::array<std::uint32_t, BlockedSamples::per_second> blocked{};  ///< consumers, by sample
        std::uint32_t reported = 0;
    };
    std::size_t flat_index(core::NodeId node) const;
    Open& open(const RowStart& start);
    void emit_oldest();

    std::uint32_t producers_;
    std::uint32_t ranks_;
    bool has_occupancy_;
    core::Duration duration_;
    core::Duration row_interval_;
    Sink sink_;
    std::deque<Open> open_;  ///< consecutive seconds
    std::optional<std::int64_t> next_second_;
    std::vector<std::optional<LiveSample>> latest_;
    std::vector<std::optional<RankSummary>> ended_lives_;
    std::uint64_t late_sets_ = 0;
    Counts counts_;
    BlockedAtOnce blocked_at_once_;
};

}  // namespace weir::record
