#include "record/traffic_times.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "files/formatting.hpp"
#include "record/json_values.hpp"
#include "record/quantiles.hpp"

namespace weir::record {

using core::Bytes;
using core::Duration;

namespace {

/// 0 for sizes below 1 kB, then one for each power of ten.
std::size_t class_of(Bytes size) {
    std::size_t number = 0;
    constexpr std::int64_t last = 1'000'000'000'000'000'000;
    for (std::int64_t below = 1000; below < last && size.count >= below; below *= 10) {
        ++number;
    }
    return number;
}

/// What a class is made of.
struct Sample {
    SizeClass sizes;
    std::vector<Duration> times;
    std::vector<double> slowdowns;

    void add(std::optional<Duration> time, std::optional<Duration> ideal) {
        ++sizes.transfers;
        if (!time) {
            ++sizes.incomplete;
            return;
        }
        times.push_back(*time);
        if (ideal) {
            slowdowns.push_back(time->in_seconds() / ideal->in_seconds());
        }
    }
    SizeClass close() {
        std::sort(times.begin(), times.end());
        std::sort(slowdowns.begin(), slowdowns.end());
        if (!times.empty()) {
            sizes.median = nearest_rank(times, 0.5);
            sizes.p99 = nearest_rank(times, 0.99);
        }
        if (!slowdowns.empty()) {
            double sum = 0;
            for (const double slowdown : slowdowns) {
                sum += slowdown;
            }
            sizes.slowdown_mean = sum / static_cast<double>(slowdowns.size());
            sizes.slowdown_median = nearest_rank(slowdowns, 0.5);
            sizes.slowdown_p99 = nearest_rank(slowdowns, 0.99);
            sizes.slowdown_max = slowdowns.back();
        }
        return sizes;
    }
};

constexpr Duration not_complete{-1};

double bus_bandwidth(const core::Collective& what, Duration jct) {
    const double seconds = (jct - what.compute).in_seconds();
    return seconds > 0 ? 8 * static_cast<double>(what.size.count) * what.bus_factor() / seconds : 0;
}

TimeQuantiles quantiles_of(const std::vector<Duration>& ascending) {
    const Duration sum = std::accumulate(ascending.begin(), ascending.end(), Duration{});
    return {.mean = {sum.ns / static_cast<std::int64_t>(ascending.size())},
            .p50 = nearest_rank(ascending, 0.5),
            .p95 = nearest_rank(ascending, 0.95),
            .p99 = nearest_rank(ascending, 0.99),
            .max = ascending.back()};
}

}  // namespace

nlohmann::ordered_json to_json(const SizeClass& sizes) {
    return {{"least_bytes", sizes.least.count},
            {"below_bytes", sizes.below.count},
            {"transfers", sizes.transfers},
            {"incomplete_transfers", sizes.incomplete},
            {"completion_s_median", or_null(sizes.median)},
            {"completion_s_p99", or_null(sizes.p99)},
            {"slowdown_mean", or_null(sizes.slowdown_mean)},
            {"slowdown_median", or_null(sizes.slowdown_median)},
            {"slowdown_p99", or_null(sizes.slowdown_p99)},
            {"slowdown_max", or_null(sizes.slowdown_max)}};
}

std::string text_of(const SizeClass& sizes, bool all) {
    std::string text = files::counted(sizes.transfers, "transfer");
    if (!all) {
        text += sizes.least == Bytes{1}
                    ? fmt::format(" of less than {}", files::readable(sizes.below))
                    : fmt::format(" of {} to {}", files::readable(sizes.least), files::readable(sizes.below));
    }
    text += fmt::format(": median {}, p99 {}", files::readable(*sizes.median), files::readable(*sizes.p99));
    if (sizes.slowdown_median) {
        text += fmt::format("; slowdown median {}, p99 {}, worst {}", files::number(*sizes.slowdown_median),
                            files::number(*sizes.slowdown_p99), files::number(*sizes.slowdown_max));
    }
    if (sizes.incomplete > 0) {
        text += fmt::format("; {} incomplete", sizes.incomplete);
    }
    return text;
}

TraceTimes::TraceTimes(const core::Plan& plan)
    : plan_(plan), intervals_(plan.duration.ns / plan.interval.ns), completions_(plan.consumers) {
    places_.reserve(traffic().transfers());
    for (std::uint32_t consumer = 0; consumer < plan.consumers; ++consumer) {
        for (std::uint32_t i = 0; i < traffic().to({consumer}).size(); ++i) {
            places_.push_back({{consumer}, i});
        }
    }
    const auto key = [&](const Place& place) {
        return std::tuple(transfer(place).at, transfer(place).from, place.consumer);
    };
    std::sort(places_.begin(), places_.end(),
              [&](const Place& a, const Place& b) { return key(a) < key(b); });
}

void TraceTimes::add(core::ConsumerId consumer, std::vector<Duration> completions) {
    if (completions.size() == traffic().to(consumer).size() * static_cast<std::size_t>(intervals_)) {
        completions_.at(consumer.value) = std::move(completions);
    }
}

void TraceTimes::set_network(const core::NetworkPlan& simulated) {
    // A transfer that waits for others is slow because of them.
    if (!plan_.lossy() && !traffic().has_dependencies()) {
        ideals_.emplace(plan_, simulated);
    }
}

Duration TraceTimes::completion(const Place& place, std::int64_t interval) const {
    const std::vector<Duration>& of_consumer = completions_[place.consumer.value];
    const std::size_t index =
        static_cast<std::size_t>(interval) * traffic().to(place.consumer).size() + place.incoming;
    return index < of_consumer.size() ? of_consumer[index] : Duration{-1};
}

std::optional<Duration> TraceTimes::ideal(const Place& place) const {
    const core::TrafficPlan::Incoming& wanted = transfer(place);
    return ideals_ ? std::optional(ideals_->of(wanted.from, place.consumer, wanted.bytes)) : std::nullopt;
}

std::vector<SizeClass> TraceTimes::size_classes() const {
    std::vector<Sample> samples(1);
    samples.front().sizes.below = Bytes{traffic().largest_transfer().count + 1};
    for (const Place& place : places_) {
        const Bytes size = transfer(place).bytes;
        const std::size_t number = 1 + class_of(size);
        for (std::size_t added = samples.size(); added <= number; ++added) {
            const Bytes least = added == 1 ? Bytes{1} : samples.back().sizes.below;
            samples.emplace_back().sizes = {.least = least, .below = added == 1 ? Bytes{1000} : least * 10};
        }
        const std::optional<Duration> ideal_time = ideal(place);
        for (std::int64_t interval = 0; interval < intervals_; ++interval) {
            const Duration time = completion(place, interval);
            for (Sample* const sample : {&samples.front(), &samples[number]}) {
                sample->add(time < Duration{} ? std::nullopt : std::optional(time), ideal_time);
            }
        }
    }
    std::vector<SizeClass> classes;
    for (Sample& sample : samples) {
        if (sample.sizes.transfers > 0) {
            classes.push_back(sample.close());
        }
    }
    return classes;
}

files::MaybeIoError TraceTimes::write_csv(const std::string& path) const {
    files::WholeFile file(path);
    file.put("begins_s,producer,consumer,bytes,completion_s,ideal_s,slowdown\n");
    for (std::int64_t interval = 0; interval < intervals_; ++interval) {
        for (const Place& place : places_) {
            const core::TrafficPlan::Incoming& wanted = transfer(place);
            const Duration begin = plan_.interval * interval + wanted.at;
            const Duration time = completion(place, interval);
            const std::optional<Duration> ideal_time = ideal(place);
            std::string line = fmt::format("{:.9f},{},{},{},", begin.in_seconds(), wanted.from.value,
                                           place.consumer.value, wanted.bytes.count);
            if (time >= Duration{}) {
                fmt::format_to(std::back_inserter(line), "{:.9f}", time.in_seconds());
            }
            line += ',';
            if (ideal_time) {
                fmt::format_to(std::back_inserter(line), "{:.9f}", ideal_time->in_seconds());
            }
            line += ',';
            if (ideal_time && time >= Duration{}) {
                fmt::format_to(std::back_inserter(line), "{:.4f}",
                               time.in_seconds() / ideal_time->in_seconds());
            }
            line += '\n';
            file.put(line);
        }
    }
    return file.finish();
}

std::optional<double> CollectiveSummary::ideal_s() const {
    if (line_rate.bits_per_second <= 0) {
        return std::nullopt;
    }
    return what.compute.in_seconds() + 8 * static_cast<double>(what.size.count) * what.bus_factor() /
                                           static_cast<double>(line_rate.bits_per_second);
}

nlohmann::ordered_json to_json(const CollectiveSummary& collective) {
    const auto seconds = [&](Duration TimeQuantiles::* item) {
        return collective.jct ? nlohmann::ordered_json(((*collective.jct).*item).in_seconds())
                              : nlohmann::ordered_json();
    };
    const auto ratio = [&](Duration TimeQuantiles::* item) {
        const auto ideal = collective.ideal_s();
        return collective.jct && ideal && *ideal > 0
                   ? nlohmann::ordered_json(((*collective.jct).*item).in_seconds() / *ideal)
                   : nlohmann::ordered_json();
    };
    const auto bus = [&](double value) {
        return collective.jct ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
    };
    const auto line = static_cast<double>(collective.line_rate.bits_per_second);
    return {{"name", collective.name},
            {"kind", collective_kind_name(collective.what.kind)},
            {"algorithm", collective.what.algorithm},
            {"first_worker", collective.what.first_worker},
            {"workers", collective.what.workers},
            {"bytes", collective.what.size.count},
            {"bus_factor", collective.what.bus_factor()},
            {"fabric_bytes_mean", collective.fabric_bytes_mean.count},
            {"fabric_bytes_max", collective.fabric_bytes_max.count},
            {"compute_s", collective.what.compute.in_seconds()},
            {"line_rate_bps", line > 0 ? nlohmann::ordered_json(line) : nlohmann::ordered_json()},
            {"ideal_s", or_null(collective.ideal_s())},
            {"iterations", collective.iterations},
            {"complete_iterations", collective.complete},
            {"jct_s_mean", seconds(&TimeQuantiles::mean)},
            {"jct_s_p50", seconds(&TimeQuantiles::p50)},
            {"jct_s_p95", seconds(&TimeQuantiles::p95)},
            {"jct_s_p99", seconds(&TimeQuantiles::p99)},
            {"jct_s_max", seconds(&TimeQuantiles::max)},
            {"jct_ratio_p50", ratio(&TimeQuantiles::p50)},
            {"jct_ratio_p95", ratio(&TimeQuantiles::p95)},
            {"jct_ratio_p99", ratio(&TimeQuantiles::p99)},
            {"busbw_bps_mean", bus(collective.bus_mean)},
            {"busbw_bps_p50", bus(collective.bus_p50)},
            {"busbw_bps_p95", bus(collective.bus_p95)},
            {"busbw_bps_p99", bus(collective.bus_p99)},
            {"efficiency", line > 0 ? bus(collective.bus_mean / line) : nlohmann::ordered_json()},
            {"participant_busbw_bps", collective.participants}};
}

std::string text_of(const CollectiveSummary& collective) {
    const TimeQuantiles& jct = *collective.jct;
    std::string text =
        fmt::format("{}: {}, {}, {} workers, S {}; JCT median {}, p95 {}, p99 {}; BusBW {} (p99 {})",
                    collective.name, collective_kind_name(collective.what.kind), collective.what.algorithm,
                    collective.what.workers, files::readable(collective.what.size), files::readable(jct.p50),
                    files::readable(jct.p95), files::readable(jct.p99), files::rate_text(collective.bus_mean),
                    files::rate_text(collective.bus_p99));
    if (const auto ideal = collective.ideal_s()) {
        text += fmt::format(
            ", {} of the line rate; JCT ratio {}, p99 {}",
            files::percent(collective.bus_mean / static_cast<double>(collective.line_rate.bits_per_second)),
            files::number(jct.p50.in_seconds() / *ideal), files::number(jct.p99.in_seconds() / *ideal));
    }
    if (collective.complete < collective.iterations) {
        text += fmt::format("; {} of {} iterations incomplete", collective.iterations - collective.complete,
                            collective.iterations);
    }
    return text;
}

CollectiveTimes::CollectiveTimes(const core::Plan& plan)
    : plan_(plan),
      intervals_(static_cast<std::uint64_t>(plan.duration.ns / plan.interval.ns)),
      collectives_(traffic().collectives().size()) {
    for (std::size_t phase = 0; phase < collectives_.size(); ++phase) {
        const core::Collective& what = traffic().collectives()[phase];
        collectives_[phase].expected.resize(what.workers);
        collectives_[phase].ends.assign(intervals_ * what.workers, not_complete);
        line_rates_.push_back(what.line_rate);
        for (std::uint32_t worker = 0; worker < what.workers; ++worker) {
            for (const core::TrafficPlan::Incoming& incoming : traffic().to({what.first_worker + worker})) {
                collectives_[phase].expected[worker] += incoming.phase == phase ? 1U : 0U;
            }
        }
    }
}

void CollectiveTimes::add(core::ConsumerId consumer, const std::vector<PhaseEnd>& ends) {
    for (const PhaseEnd& end : ends) {
        const std::size_t phase = end.number % collectives_.size();
        const std::size_t iteration = end.number / collectives_.size();
        const core::Collective& what = traffic().collectives()[phase];
        const std::uint32_t worker = consumer.value - what.first_worker;  // below the first: too large
        Iterations& counted = collectives_[phase];
        if (iteration < intervals_ && worker < what.workers && end.completed == counted.expected[worker]) {
            counted.ends[iteration * what.workers + worker] = end.longest;
        }
    }
}

void CollectiveTimes::set_network(const core::NetworkPlan& simulated) {
    const std::vector<core::BitRate> producers = core::producer_links(simulated, plan_.producers);
    const std::vector<core::BitRate> consumers = core::consumer_links(simulated, plan_.consumers);
    for (std::size_t phase = 0; phase < collectives_.size(); ++phase) {
        const core::Collective& what = traffic().collectives()[phase];
        core::BitRate slowest = producers.at(what.first_worker);
        for (std::uint32_t worker = what.first_worker; worker < what.first_worker + what.workers; ++worker) {
            slowest = std::min({slowest, producers.at(worker), consumers.at(worker)});
        }
        line_rates_[phase] = slowest;
    }
}

CollectiveSummary CollectiveTimes::summary(std::size_t phase) const {
    const core::Collective& what = traffic().collectives()[phase];
    const Iterations& counted = collectives_[phase];
    CollectiveSummary summary;
    summary.name = traffic().phases()[phase].name;
    summary.what = what;
    summary.iterations = intervals_;
    summary.line_rate = line_rates_[phase];
    Bytes total;
    for (std::uint32_t worker = 0; worker < what.workers; ++worker) {
        Bytes sent;
        for (const core::AddressedTransfer& transfer : traffic().of({what.first_worker + worker})) {
            const bool crosses = transfer.phase == phase && transfer.to.value != what.first_worker + worker;
            sent += crosses ? transfer.bytes : Bytes{};
        }
        total += sent;
        summary.fabric_bytes_max = std::max(summary.fabric_bytes_max, sent);
    }
    summary.fabric_bytes_mean = {total.count / what.workers};
    summary.participants.resize(what.workers);
    std::vector<Duration> times;
    for (std::uint64_t iteration = 0; iteration < intervals_; ++iteration) {
        const auto first = counted.ends.begin() + static_cast<std::ptrdiff_t>(iteration * what.workers);
        Duration last;
        bool complete = true;
        for (std::uint32_t worker = 0; worker < what.workers; ++worker) {
            const Duration end = first[worker];
            complete = complete && (end >= Duration{} || counted.expected[worker] == 0);
            last = std::max(last, end);
        }
        if (!complete) {
            continue;
        }
        times.push_back(last);
        for (std::uint32_t worker = 0; worker < what.workers; ++worker) {
            summary.participants[worker] +=
                counted.expected[worker] > 0 ? bus_bandwidth(what, first[worker]) : 0;
        }
    }
    summary.complete = times.size();
    if (times.empty()) {
        return summary;
    }
    for (double& participant : summary.participants) {
        participant /= static_cast<double>(times.size());
    }
    std::sort(times.begin(), times.end());
    summary.jct = quantiles_of(times);
    for (const Duration time : times) {
        summary.bus_mean += bus_bandwidth(what, time) / static_cast<double>(times.size());
    }
    summary.bus_p50 = bus_bandwidth(what, summary.jct->p50);
    summary.bus_p95 = bus_bandwidth(what, summary.jct->p95);
    summary.bus_p99 = bus_bandwidth(what, summary.jct->p99);
    return summary;
}

std::vector<CollectiveSummary> CollectiveTimes::summaries() const {
    std::vector<CollectiveSummary> summaries;
    summaries.reserve(collectives_.size());
    for (std::size_t phase = 0; phase < collectives_.size(); ++phase) {
        summaries.push_back(summary(phase));
    }
    return summaries;
}

}  // namespace weir::record
