#include "record/live_sample.hpp"

#include <algorithm>
#include <cstring>

#include "record/second_clock.hpp"

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

}  // namespace weir::record
