#include "record/phase_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/phase_ideals.hpp"
#include "files/whole_file.hpp"

namespace weir::record {

using core::Bytes;
using core::Duration;

namespace {

std::string seconds(Duration time) {
    return fmt::format("{:.9f}", time.in_seconds());
}

Duration median_of(std::vector<Duration>& times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

nlohmann::ordered_json seconds_or_null(const std::optional<Duration>& time) {
    return time ? nlohmann::ordered_json(time->in_seconds()) : nlohmann::ordered_json();
}

}  // namespace

nlohmann::ordered_json to_json(const PhaseSummary& phase) {
    return {{"name", phase.name},
            {"phases", phase.phases},
            {"complete_phases", phase.complete_phases},
            {"phases_over_period", phase.over_period},
            {"bytes", phase.bytes.count},
            {"transfers", phase.transfers},
            {"incomplete_transfers", phase.incomplete_transfers},
            {"completion_s_min", seconds_or_null(phase.shortest)},
            {"completion_s_median", seconds_or_null(phase.median)},
            {"completion_s_max", seconds_or_null(phase.longest)},
            {"ideal_s", seconds_or_null(phase.ideal)}};
}

nlohmann::ordered_json to_json(const core::TrafficPlan& traffic) {
    return {{"phases", traffic.phases().size()},
            {"pairs", traffic.pairs()},
            {"bytes_per_interval", traffic.total().count},
            {"most_sent_bytes", traffic.largest_set().count},
            {"most_received_bytes", traffic.most_received().count}};
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
