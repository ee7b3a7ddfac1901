#include "record/transfer_times.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace weir::record {

using core::Bytes;
using core::Duration;

namespace {

constexpr std::uint64_t kept_phases_limit = std::uint64_t{1} << 22;
constexpr std::uint64_t kept_transfers_limit = std::uint64_t{1} << 22;
constexpr Duration incomplete{-1};

}  // namespace

std::uint64_t phases_in_run(const core::Plan& plan) {
    return static_cast<std::uint64_t>(plan.duration.ns / plan.interval.ns) * plan.traffic->phases().size();
}

bool keeps_each_phase(const core::Plan& plan) {
    return phases_in_run(plan) <= kept_phases_limit / std::max(1U, plan.consumers);
}

bool keeps_each_transfer(const core::Plan& plan) {
    const auto intervals = static_cast<std::uint64_t>(plan.duration.ns / plan.interval.ns);
    return plan.addressed() && plan.traffic->is_trace() &&
           plan.traffic->transfers() <= kept_transfers_limit / std::max<std::uint64_t>(1, intervals);
}

std::vector<std::uint32_t> first_of_name(const core::TrafficPlan& traffic) {
    std::map<std::string_view, std::uint32_t> known;
    std::vector<std::uint32_t> first;
    for (std::uint32_t phase = 0; phase < traffic.phases().size(); ++phase) {
        first.push_back(known.emplace(traffic.phases()[phase].name, phase).first->second);
    }
    return first;
}

TransferRecorder::TransferRecorder(const core::Plan& plan, core::ConsumerId consumer)
    : traffic_(plan.traffic),
      consumer_(consumer),
      interval_(plan.interval),
      duration_(plan.duration),
      arrivals_(plan.traffic, plan.interval, consumer) {
    const std::vector<std::uint32_t> first = first_of_name(*traffic_);
    const auto incoming = traffic_->to(consumer);
    const auto intervals = static_cast<std::uint64_t>(duration_.ns / interval_.ns);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> entries;
    for (const core::TrafficPlan::Incoming& transfer : incoming) {
        const std::uint32_t phase = first[transfer.phase];
        const auto [found, is_new] =
            entries.emplace(std::pair(transfer.from.value, phase), static_cast<std::uint32_t>(times_.size()));
        if (is_new) {
            times_.push_back({.producer = transfer.from.value, .phase = phase, .bytes = transfer.bytes});
        }
        TransferTimes& times = times_[found->second];
        times.incomplete += intervals;
        times.bytes = times.bytes == transfer.bytes ? times.bytes : Bytes{};
        entry_of_.push_back(found->second);
    }
    if (keeps_each_phase(plan)) {
        ends_.resize(phases_in_run(plan));
    }
    if (keeps_each_transfer(plan)) {
        completions_.assign(incoming.size() * static_cast<std::size_t>(intervals), incomplete);
    }
}

void TransferRecorder::received(core::Instant now, core::ProducerId producer, Bytes bytes,
                                Duration since_generated) {
    const core::Instant generated_at = now - since_generated;
    if (generated_at < core::Instant{} || generated_at >= core::Instant{} + duration_) {
        return;
    }
    if (const auto complete = arrivals_.received(producer, bytes, generated_at)) {
        count(complete->incoming, complete->interval, since_generated);
    }
}

void TransferRecorder::count(std::uint32_t incoming, std::int64_t interval, Duration time) {
    TransferTimes& times = times_[entry_of_[incoming]];
    times.shortest = times.completed == 0 ? time : std::min(times.shortest, time);
    times.longest = std::max(times.longest, time);
    times.sum += time;
    ++times.completed;
    --times.incomplete;
    if (!completions_.empty()) {
        completions_[static_cast<std::size_t>(interval) * entry_of_.size() + incoming] = time;
    }
    if (!ends_.empty()) {
        const core::TrafficPlan::Incoming& transfer = traffic_->to(consumer_)[incoming];
        const std::uint32_t phase = transfer.phase;
        PhaseEnd& end = ends_[static_cast<std::size_t>(interval) * traffic_->phases().size() + phase];
        ++end.completed;
        // A collective is judged from its beginning, whenever its steps are generated.
        const bool from_beginning = !traffic_->collectives().empty();
        end.longest = std::max(end.longest,
                               from_beginning ? time + (transfer.at - traffic_->phases()[phase].at) : time);
    }
}

std::vector<TransferTimes> TransferRecorder::times() const {
    return times_;
}

std::vector<PhaseEnd> TransferRecorder::phase_ends() const {
    std::vector<PhaseEnd> ends;
    for (std::uint32_t number = 0; number < ends_.size(); ++number) {
        if (ends_[number].completed > 0) {
            ends.push_back({number, ends_[number].completed, ends_[number].longest});
        }
    }
    return ends;
}

}  // namespace weir::record
