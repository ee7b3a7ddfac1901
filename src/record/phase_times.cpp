#include "record/phase_times.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "core/ideal_time.hpp"
#include "record/json_values.hpp"
#include "record/quantiles.hpp"

namespace weir::record {

using core::Bytes;
using core::Duration;

namespace {

constexpr std::uint64_t kept_phases_limit = std::uint64_t{1} << 22;
constexpr std::uint64_t kept_transfers_limit = std::uint64_t{1} << 22;
constexpr Duration incomplete{-1};

std::string seconds(Duration time) {
    return fmt::format("{:.9f}", time.in_seconds());
}

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
        // Two clocks differ by their error: what came at once seems to have come before it was sent.
        count(complete->incoming, complete->interval, std::max(since_generated, Duration{}));
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

nlohmann::ordered_json to_json(const PhaseSummary& phase) {
    return {{"name", phase.name},
            {"phases", phase.phases},
            {"complete_phases", phase.complete_phases},
            {"phases_over_period", phase.over_period},
            {"bytes", phase.bytes.count},
            {"transfers", phase.transfers},
            {"incomplete_transfers", phase.incomplete_transfers},
            {"completion_s_min", or_null(phase.shortest)},
            {"completion_s_median", or_null(phase.median)},
            {"completion_s_max", or_null(phase.longest)},
            {"ideal_s", or_null(phase.ideal)}};
}

PhaseTimes::PhaseTimes(const core::Plan& plan)
    : plan_(plan),
      transfers_(traffic().phases().size()),
      bytes_(transfers_.size()),
      at_once_(transfers_.size(), true),
      times_(plan.consumers) {
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        for (const core::AddressedTransfer& transfer : traffic().of({producer})) {
            ++transfers_[transfer.phase];
            bytes_[transfer.phase] += transfer.bytes;
            at_once_[transfer.phase] =
                at_once_[transfer.phase] && transfer.at == traffic().phases()[transfer.phase].at;
        }
    }
    if (keeps_each_phase(plan)) {
        phases_.resize(phases_in_run(plan));
    }
}

void PhaseTimes::add(core::ConsumerId consumer, std::vector<TransferTimes> times,
                     const std::vector<PhaseEnd>& ends) {
    std::erase_if(times, [&](const TransferTimes& entry) {
        return entry.producer >= plan_.producers || entry.phase >= traffic().phases().size();
    });
    times_.at(consumer.value) = std::move(times);
    for (const PhaseEnd& end : ends) {
        if (end.number >= phases_.size()) {
            continue;
        }
        CountedPhase& phase = phases_[end.number];
        phase.completed += end.completed;
        if (end.longest > phase.longest) {
            phase.longest = end.longest;
            phase.last_consumer = consumer.value;
        }
    }
}

bool PhaseTimes::is_complete(std::size_t number) const {
    return phases_[number].completed == transfers_[number % transfers_.size()];
}

void PhaseTimes::set_network(const core::NetworkPlan& simulated) {
    if (std::find(at_once_.begin(), at_once_.end(), true) != at_once_.end()) {
        ideals_ = core::ideal_phase_times(plan_, simulated);
    }
}

std::vector<PhaseSummary> PhaseTimes::summaries() const {
    const std::vector<std::uint32_t> first = first_of_name(traffic());
    const auto intervals = static_cast<std::uint64_t>(plan_.duration.ns / plan_.interval.ns);
    std::vector<PhaseSummary> summaries(first.size());
    std::vector<std::vector<Duration>> times(first.size());
    for (std::uint32_t phase = 0; phase < first.size(); ++phase) {
        PhaseSummary& summary = summaries[first[phase]];
        summary.name = traffic().phases()[phase].name;
        summary.phases += intervals;
        summary.transfers += intervals * transfers_[phase];
        if (first[phase] == phase) {
            summary.bytes = bytes_[phase];
            summary.ideal = ideal(phase);
        }
    }
    for (std::size_t number = 0; number < phases_.size(); ++number) {
        const std::size_t phase = number % transfers_.size();
        if (is_complete(number)) {
            const Duration time = phases_[number].longest;
            times[first[phase]].push_back(time);
            summaries[first[phase]].over_period += time > traffic().phases()[phase].period ? 1 : 0;
        }
    }
    for (const auto& of_consumer : times_) {
        for (const TransferTimes& entry : of_consumer) {
            summaries[entry.phase].incomplete_transfers += entry.incomplete;
        }
    }
    for (std::size_t phase = 0; phase < first.size(); ++phase) {
        PhaseSummary& summary = summaries[phase];
        summary.complete_phases = times[phase].size();
        if (!times[phase].empty()) {
            summary.shortest = *std::min_element(times[phase].begin(), times[phase].end());
            summary.longest = *std::max_element(times[phase].begin(), times[phase].end());
            summary.median = median_of(times[phase]);
        }
    }
    std::erase_if(summaries, [](const PhaseSummary& summary) { return summary.name.empty(); });
    return summaries;
}

files::MaybeIoError PhaseTimes::write_phases_csv(const std::string& path) const {
    files::WholeFile file(path);
    file.put(
        "phase,begins_s,period_s,bytes,transfers,incomplete_transfers,completion_s,ideal_s,last_consumer\n");
    const std::size_t phases = transfers_.size();
    std::vector<std::string> ideals;
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
        const auto time = ideal(phase);
        ideals.push_back(time ? seconds(*time) : std::string{});
    }
    for (std::size_t number = 0; number < phases_.size(); ++number) {
        const core::TrafficPhase& phase = traffic().phases()[number % phases];
        const CountedPhase& counted = phases_[number];
        const bool complete = is_complete(number);
        const Duration begin = plan_.interval * static_cast<std::int64_t>(number / phases) + phase.at;
        file.put(fmt::format(
            "{},{},{},{},{},{},{},{},{}\n", phase.name, seconds(begin), seconds(phase.period),
            bytes_[number % phases].count, transfers_[number % phases],
            transfers_[number % phases] - std::min(transfers_[number % phases], counted.completed),
            complete ? seconds(counted.longest) : "", ideals[number % phases],
            complete ? fmt::format("{}", counted.last_consumer) : ""));
    }
    return file.finish();
}

files::MaybeIoError PhaseTimes::write_transfers_csv(const std::string& path) const {
    files::WholeFile file(path);
    file.put(
        "phase,producer,consumer,transfers,incomplete_transfers,bytes,completion_s_min,completion_s_mean,"
        "completion_s_max\n");
    for (std::uint32_t consumer = 0; consumer < times_.size(); ++consumer) {
        for (const TransferTimes& entry : times_[consumer]) {
            const bool any = entry.completed > 0;
            const Duration mean{any ? entry.sum.ns / static_cast<std::int64_t>(entry.completed) : 0};
            file.put(fmt::format("{},{},{},{},{},{},{},{},{}\n", traffic().phases()[entry.phase].name,
                                 entry.producer, consumer, entry.completed, entry.incomplete,
                                 entry.bytes > Bytes{} ? fmt::format("{}", entry.bytes.count) : "",
                                 any ? seconds(entry.shortest) : "", any ? seconds(mean) : "",
                                 any ? seconds(entry.longest) : ""));
        }
    }
    return file.finish();
}

}  // namespace weir::record
