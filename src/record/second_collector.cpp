#include "record/second_collector.hpp"

#include <numeric>

namespace weir::record {

namespace {

void widen(RateRange& range, core::Bytes& sum, core::Bytes bytes) {
    const core::BitRate rate = rate_of(bytes, core::Duration{ns_per_second});
    range.min = range.ranks == 0 ? rate : std::min(range.min, rate);
    range.max = range.ranks == 0 ? rate : std::max(range.max, rate);
    ++range.ranks;
    sum += bytes;
    range.mean = rate_of(sum, core::Duration::seconds(range.ranks));
}

}  // namespace

SecondCollector::SecondCollector(const core::Plan& plan, Sink sink)
    : producers_(plan.producers),
      ranks_(1 + plan.producers + plan.consumers),
      has_occupancy_(plan.generation != core::Generation::saturate),
      duration_(plan.duration),
      row_interval_(plan.row_interval),
      sink_(std::move(sink)),
      latest_(ranks_),
      ended_lives_(ranks_) {}

std::size_t SecondCollector::flat_index(core::NodeId node) const {
    const std::size_t index = node.role == core::Role::scheduler  ? 0
                              : node.role == core::Role::producer ? std::size_t{1} + node.index
                                                                  : std::size_t{1} + producers_ + node.index;
    WEIR_ASSERT(index < latest_.size());
    return index;
}

SecondCollector::Open& SecondCollector::open(const RowStart& start) {
    if (!next_second_) {
        // A rank that began a second earlier, and reports it later than this, is not waited for.
        next_second_ = start.second;
    }
    // A report from far ahead (a rank whose clock is broken) must not make work without bound.
    while (!open_.empty() && start.second - *next_second_ >= static_cast<std::int64_t>(open_seconds_max)) {
        emit_oldest();
    }
    if (open_.empty()) {
        next_second_ =
            std::max(*next_second_, start.second - static_cast<std::int64_t>(open_seconds_max) + 1);
    }
    while (*next_second_ + static_cast<std::int64_t>(open_.size()) <= start.second) {
        Open added;
        added.collected.second = *next_second_ + static_cast<std::int64_t>(open_.size());
        added.collected.phase = phase_of(added.collected.second, duration_);
        added.collected.max_occupancy = has_occupancy_ ? 0 : std::numeric_limits<double>::quiet_NaN();
        open_.push_back(added);
    }
    return open_[static_cast<std::size_t>(start.second - *next_second_)];
}

void SecondCollector::add(const LiveSample& report) {
    std::optional<LiveSample>& latest = latest_[flat_index(report.node)];
    counts_ -= latest ? latest->run : Counts{};
    counts_ += report.run;
    late_sets_ += report.sets_in_time.late - (latest ? latest->sets_in_time.late : 0);
    latest = report;
    if (next_second_ && report.start.second < *next_second_) {
        return;
    }

    Open& second = open(report.start);
    ClusterSecond& collected = second.collected;
    ++second.reported;
    const bool whole = report.start.covered >= core::Duration{ns_per_second};
    collected.poll_gap_max = std::max(collected.poll_gap_max, report.poll_gap_max);
    const core::BitRate burst = rate_of(report.burst, row_interval_);
    switch (report.node.role) {
        case core::Role::producer:
            if (whole) {
                widen(collected.producers, second.producer_bytes, report.moved);
            }
            collected.producer_burst = std::max(collected.producer_burst, burst);
            if (report.occupancy_peak > collected.max_occupancy) {
                collected.max_occupancy = report.occupancy_peak;
                collected.fullest_producer = report.node.index;
            }
            collected.overflowed |= report.overflowed;
            break;
        case core::Role::consumer:
            collected.consumer_burst = std::max(collected.consumer_burst, burst);
            if (whole) {
                widen(collected.consumers, second.consumer_bytes, report.moved);
                for (int sample = 0; sample < BlockedSamples::per_second; ++sample) {
                    second.blocked[static_cast<std::size_t>(sample)] +=
                        report.blocked_samples.at(sample) ? 1U : 0U;
                }
            }
            break;
        case core::Role::scheduler:
            collected.waiting_events = report.waiting_events;
            collected.free_slots = report.free_slots;
            break;
    }
    while (!open_.empty() && open_.front().reported >= ranks_) {
        emit_oldest();
    }
}

void SecondCollector::poll(core::Instant now) {
    while (!open_.empty() && second_of(now - patience) > open_.front().collected.second) {
        emit_oldest();
    }
}

void SecondCollector::finish() {
    while (!open_.empty()) {
        emit_oldest();
    }
}

void SecondCollector::emit_oldest() {
    Open oldest = open_.front();
    open_.pop_front();
    next_second_ = oldest.collected.second + 1;
    ClusterSecond& collected = oldest.collected;
    collected.late_sets = late_sets_;
    collected.counts = counts_;
    collected.missing_ranks = ranks_ - std::min(ranks_, oldest.reported);
    collected.blocked_at_once = *std::max_element(oldest.blocked.begin(), oldest.blocked.end());
    collected.blocked_mean =
        std::accumulate(oldest.blocked.begin(), oldest.blocked.end(), 0.0) / BlockedSamples::per_second;
    if (collected.phase == Phase::measure && collected.blocked_at_once > blocked_at_once_.consumers) {
        blocked_at_once_ = {collected.blocked_at_once, collected.second};
    }
    if (sink_) {
        sink_(collected);
    }
}

void SecondCollector::end_life(core::NodeId node) {
    const std::optional<LiveSample> latest = std::exchange(latest_[flat_index(node)], std::nullopt);
    if (!latest) {
        return;
    }
    RankSummary sums = summary_from(*latest);
    std::optional<RankSummary>& ended = ended_lives_[flat_index(node)];
    if (ended) {
        sums.add_sums(*ended);
    }
    ended = sums;
}

const RankSummary* SecondCollector::ended_lives(core::NodeId node) const {
    const std::optional<RankSummary>& sums = ended_lives_[flat_index(node)];
    return sums ? &*sums : nullptr;
}

const LiveSample* SecondCollector::latest(core::NodeId node) const {
    const std::optional<LiveSample>& report = latest_[flat_index(node)];
    return report ? &*report : nullptr;
}

}  // namespace weir::record
