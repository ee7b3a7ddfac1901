#include "simulation/lateness.hpp"

#include <algorithm>

namespace weir::simulation {

namespace {

/// Lateness of one producer, in intervals: its late sets, each counted as the worst. A set that was late by
/// next to nothing counts a little nevertheless.
double lateness_of(const record::SetsInTime& sets, core::Duration interval) {
    const double worst = -sets.least_slack.value_or(core::Duration{}).in_seconds() / interval.in_seconds();
    return static_cast<double>(sets.late) * std::max(worst, 0.001);
}

}  // namespace

LateAndLost late_and_lost(const show::RunRecord& record) {
    const double set = std::max<double>(1, static_cast<double>(record.plan.set_bytes().count));
    LateAndLost run{.lost = static_cast<double>(show::totals_of(record).lost.bytes.count) / set};
    for (const record::RankRecord& rank : record.ranks) {
        run.late += lateness_of(rank.summary.sets_in_time, record.plan.interval);
    }
    return run;
}

double lateness_so_far(const core::Plan& plan, const Simulator& simulator) {
    double late = 0;
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        late += lateness_of(simulator.producer_node({producer}).sets_in_time(), plan.interval);
    }
    return late;
}

Badness::Badness(const show::RunRecord& record)
    : of_run_(late_and_lost(record)),
      lost_weight_(std::max(1.0, late_by(record).in_seconds() / record.plan.interval.in_seconds())) {}

double Badness::gone_in(const show::RunRecord& relaxed) const {
    const LateAndLost left = late_and_lost(relaxed);
    if (value() <= 0 || left.late > of_run_.late || left.lost > of_run_.lost) {
        return 0;
    }
    return std::clamp(1 - value_of(left) / value(), 0.0, 1.0);
}

double Badness::bearable_lateness(double share) const {
    return std::min(of_run_.late, (1 - share) * value());
}

bool is_good(const show::RunRecord& record) {
    const judge::Verdict& verdict = record.verdict;
    return record.status == show::RunStatus::complete && verdict.on_time.value_or(false) &&
           (verdict.sustained || !verdict.judged);
}

core::Duration late_by(const show::RunRecord& record) {
    return core::Duration{} -
           std::min(core::Duration{}, record.verdict.least_slack.value_or(core::Duration{}));
}

}  // namespace weir::simulation
