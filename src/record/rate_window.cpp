#include "record/rate_window.hpp"

#include <algorithm>
#include <utility>

#include "record/second_clock.hpp"

namespace weir::record {

namespace {

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
