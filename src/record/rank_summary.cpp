#include "record/rank_summary.hpp"

namespace weir::record {

namespace {

bool is_report(const LiveSample& report, core::NodeId node) {
    // 285 years, and 35 Tb/s of a single rank: a sum over a million of ranks is in range.
    constexpr std::int64_t furthest_second = 9000000000;
    constexpr core::Bytes most_moved{std::int64_t{1} << 42U};
    const auto counts = [](const Counts& flows) {
        return flows.generated.bytes >= core::Bytes{} && flows.sent.bytes >= core::Bytes{} &&
               flows.lost.bytes >= core::Bytes{} && flows.received.bytes >= core::Bytes{} &&
               flows.processed.bytes >= core::Bytes{} && flows.results.bytes >= core::Bytes{};
    };
    std::uint8_t overflowed = 0;  // any byte may have come
    std::memcpy(&overflowed, &report.overflowed, sizeof overflowed);
    return report.node == node && overflowed <= 1 && report.start.second >= -furthest_second &&
           report.start.second <= furthest_second && report.start.phase <= Phase::drain &&
           report.start.covered >= core::Duration{} &&
           report.start.covered <= core::Duration{ns_per_second} && report.moved >= core::Bytes{} &&
           report.moved <= most_moved && report.burst >= core::Bytes{} && report.burst <= most_moved &&
           report.poll_gap_max >= core::Duration{} && report.in_time.bytes >= core::Bytes{} &&
           report.in_time.time >= core::Duration{} && counts(report.run) && counts(report.measured);
}

/// At a rank of the role whose ranks have fewer.
double events_per_second(const core::Plan& plan, core::BitRate rate) {
    const double fragments = static_cast<double>(rate.bits_per_second) / 8 / plan.event_size.mean;
    // A consumer's event has a fragment of each producer, or is one.
    const double events = fragments * (plan.builds() ? 1 : plan.producers);
    return std::min(fragments, events / plan.consumers);
}

bool holds_whole_intervals(const core::Plan& plan, core::Duration window) {
    return plan.generation != core::Generation::sets || plan.interval.ns <= 0 ||
           window.ns % plan.interval.ns == 0 || window.ns / plan.interval.ns >= rate_window_events;
}

}  // namespace

void count_row(RankSummary& summary, const Row& row) {
    ++summary.rows;
    summary.last_second = row.start.second;
    summary.run += row;
    if (row.start.phase != Phase::warmup) {
        summary.stalled_with_drain += row.poll_gaps.stalled;
        if (row.poll_gaps.largest > summary.poll_gap_max_with_drain) {
            summary.poll_gap_max_with_drain = row.poll_gaps.largest;
            summary.poll_gap_second_with_drain = row.start.second;
        }
        if (row.silence > summary.silence_with_drain) {
            summary.silence_with_drain = row.silence;
            summary.silence_end = row.silence_end;
        }
    }
    if (row.start.phase != Phase::measure) {
        return;
    }
    summary.measured += row;
    summary.time += row.time;
    summary.load += row.load;
    summary.covered += row.start.covered;
    const std::int64_t second = row.start.second;
    // Written so that NaN (no occupancy) neither replaces a value nor is replaced by one.
    if (row.occupancy_peak > summary.max_occupancy || summary.max_occupancy_second == no_second) {
        summary.max_occupancy = row.occupancy_peak;
        summary.max_occupancy_second = second;
    }
    if (row.overflowed_in_measure) {
        ++summary.overflow_seconds;
        if (summary.first_overflow_second == no_second) {
            summary.first_overflow_second = second;
        }
    }
    summary.peak_10ms = std::max(summary.peak_10ms, row.peak_10ms);
    if (row.poll_gaps.largest > summary.poll_gap_max) {
        summary.poll_gap_max = row.poll_gaps.largest;
        summary.poll_gap_second = second;
    }
    summary.stalled += row.poll_gaps.stalled;
    if (row.start.covered < core::Duration{ns_per_second}) {
        return;
    }
    ++summary.whole_seconds;
    const core::BitRate rate = rate_of(row.moved(summary.node.role).bytes, row.start.covered);
    if (summary.slowest_second == no_second || rate < summary.slowest) {
        summary.slowest = rate;
        summary.slowest_second = second;
    }
    if (summary.fastest_second == no_second || rate > summary.fastest) {
        summary.fastest = rate;
        summary.fastest_second = second;
    }
}

LiveSample live_sample_of(const RankSummary& summary, const Row& row) {
    LiveSample sample;
    static_cast<RankSums&>(sample) = static_cast<const RankSums&>(summary);
    static_cast<LiveState&>(sample) = static_cast<const LiveState&>(row);
    sample.node = summary.node;
    sample.moved = row.moved(summary.node.role).bytes;
    sample.poll_gap_max = row.poll_gaps.largest;
    return sample;
}

bool are_live_samples(std::span<const LiveSample> samples, core::NodeId node) {
    return std::all_of(samples.begin(), samples.end(),
                       [&](const LiveSample& report) { return is_report(report, node); });
}

RankSummary summary_from(const LiveSample& sample) {
    RankSummary summary;
    static_cast<RankSums&>(summary) = static_cast<const RankSums&>(sample);
    summary.node = sample.node;
    summary.last_second = sample.start.second;
    return summary;
}

std::optional<std::int64_t> rate_window_s(const core::Plan& plan, core::BitRate rate) {
    const bool sizes_known = plan.event_size.mean > 0;
    const double per_second = sizes_known ? events_per_second(plan, rate) : rate_window_events;
    for (std::int64_t seconds = 1; seconds <= rate_window_limit_s; ++seconds) {
        if (static_cast<double>(seconds) * per_second >= rate_window_events &&
            holds_whole_intervals(plan, core::Duration::seconds(seconds))) {
            return seconds;
        }
    }
    return std::nullopt;
}

std::optional<std::int64_t> rate_window_s(const core::Plan& plan) {
    return plan.generation == core::Generation::saturate ? std::nullopt : rate_window_s(plan, plan.rate);
}

std::int64_t kept_window_s(const core::Plan& plan) {
    return plan.generation == core::Generation::saturate ? 1 : rate_window_s(plan).value_or(0);
}

void LowestRate::add(RankSummary& summary, const Row& row) {
    const bool whole = row.start.covered >= core::Duration{ns_per_second};
    if (row.start.phase != Phase::measure || !whole || bytes_.empty()) {
        return;
    }
    const core::Bytes moved = row.moved(summary.node.role).bytes;
    sum_ += moved - std::exchange(bytes_[next_], moved);
    next_ = (next_ + 1) % bytes_.size();
    known_ = std::min(known_ + 1, bytes_.size());
    if (known_ < bytes_.size()) {
        return;
    }
    const auto seconds = static_cast<std::int64_t>(bytes_.size());
    const core::BitRate rate = rate_of(sum_, core::Duration::seconds(seconds));
    if (summary.slowest_window_second == no_second || rate < summary.slowest_window) {
        summary.slowest_window = rate;
        summary.slowest_window_second = row.start.second - seconds + 1;
    }
}

}  // namespace weir::record
