#include "core/held_events.hpp"

#include <algorithm>

#include "core/assertion.hpp"

namespace weir::core {

HeldEvents::HeldEvents(const Plan& plan, ProducerId id)
    : traffic_(plan.traffic),
      id_(id),
      interval_(plan.interval),
      first_(-(plan.warmup.ns / plan.interval.ns)),
      end_(periods_until(plan.next_set_at(), plan.interval)),
      open_from_(first_),
      inputs_(traffic_->of(id).size()) {
    WEIR_ASSERT(traffic_->has_dependencies());
    for (const TrafficPlan::Input& input : traffic_->inputs_of(id)) {
        ++inputs_[input.transfer];
        is_input_.resize(std::max<std::size_t>(is_input_.size(), input.incoming + std::size_t{1}));
        different_inputs_ += is_input_[input.incoming] ? 0U : 1U;
        is_input_[input.incoming] = true;
    }
}

bool HeldEvents::is_open(std::int64_t number) const {
    const auto found = intervals_.find(number);
    return number >= open_from_ && number < end_ && (found == intervals_.end() || found->second);
}

HeldEvents::HeldInterval& HeldEvents::state_of(std::int64_t number) {
    const auto [found, is_new] = intervals_.try_emplace(number);
    if (is_new) {
        HeldInterval& interval = found->second.emplace();
        interval.steps.resize(inputs_.size());
        for (std::size_t transfer = 0; transfer < inputs_.size(); ++transfer) {
            interval.steps[transfer].missing = inputs_[transfer];
        }
        interval.arrived.resize(is_input_.size());
        interval.missing = different_inputs_;
        interval.to_come = traffic_->set_bytes(id_);
    }
    return *found->second;
}

/// Intervals end in about the order in which they began.
void HeldEvents::close_if_over(std::int64_t number) {
    std::optional<HeldInterval>& interval = intervals_.at(number);
    if (interval->missing > 0 || interval->to_come > Bytes{} || interval->held > 0) {
        return;
    }
    interval.reset();
    while (!intervals_.empty() && intervals_.begin()->first == open_from_ && !intervals_.begin()->second) {
        intervals_.erase(intervals_.begin());
        ++open_from_;
    }
}

bool HeldEvents::hold(Instant now, const GeneratedEvent& event, bool lost) {
    const std::int64_t number = periods_until(event.generated_at, interval_);
    HeldInterval& interval = state_of(number);
    interval.to_come -= event.bytes;
    HeldTransfer& step = interval.steps.at(event.transfer);
    const bool holds = !lost && (step.missing > 0 || step.ready_at > now || step.holds());
    if (holds) {
        step.events.push_back({event.sequence, event.bytes, event.generated_at, now});
        ++interval.held;
        ++held_;
    } else {
        close_if_over(number);
    }
    return holds;
}

bool HeldEvents::input_arrived(Instant now, std::uint32_t incoming, std::int64_t interval_number) {
    // No interval but the next one can have begun by another rank's clock.
    if (incoming >= is_input_.size() || !is_input_[incoming] || !is_open(interval_number) ||
        interval_number > periods_until(now, interval_) + 1) {
        return false;
    }
    HeldInterval& interval = state_of(interval_number);
    if (interval.arrived[incoming]) {
        return false;
    }
    interval.arrived[incoming] = true;
    --interval.missing;
    for (const TrafficPlan::Input& input : traffic_->waiting_for(id_, incoming)) {
        HeldTransfer& step = interval.steps[input.transfer];
        WEIR_ASSERT(step.missing > 0);
        step.ready_at = std::max(step.ready_at, now + input.compute);
        if (--step.missing == 0) {
            ready_.push({step.ready_at, interval_number, input.transfer});
        }
    }
    close_if_over(interval_number);
    return true;
}

std::optional<HeldEvents::Released> HeldEvents::release(Instant now) {
    while (!ready_.empty() && ready_.top().at <= now) {
        const Release next = ready_.top();
        const auto found = intervals_.find(next.interval);
        if (found == intervals_.end() || !found->second || !found->second->steps[next.transfer].holds()) {
            ready_.pop();
            continue;
        }
        HeldInterval& interval = *found->second;
        HeldTransfer& step = interval.steps[next.transfer];
        const Released released{step.events[step.released++], traffic_->of(id_)[next.transfer].to};
        --interval.held;
        --held_;
        close_if_over(next.interval);
        return released;
    }
    return std::nullopt;
}

Instant HeldEvents::next_release() const {
    return held_ == 0 || ready_.empty() ? Instant::never() : ready_.top().at;
}

std::optional<WaitingEvent> HeldEvents::give_up() {
    for (auto& [number, interval] : intervals_) {
        if (!interval || interval->held == 0) {
            continue;
        }
        for (HeldTransfer& step : interval->steps) {
            if (step.holds()) {
                --interval->held;
                --held_;
                return step.events[step.released++];
            }
        }
    }
    return std::nullopt;
}

}  // namespace weir::core
