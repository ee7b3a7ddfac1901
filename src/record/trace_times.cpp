#include "record/trace_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "files/formatting.hpp"
#include "files/whole_file.hpp"
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

}  // namespace weir::record
