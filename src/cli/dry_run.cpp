#include "cli/dry_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "config/checks.hpp"
#include "config/option_table.hpp"
#include "config/quantities.hpp"
#include "core/distribution.hpp"
#include "core/memory_need.hpp"

namespace weir::cli {

namespace {

using config::rounded_text;

std::string bytes_text(double bytes) {
    return rounded_text(core::Bytes{static_cast<std::int64_t>(std::min(bytes, 9e18))});
}
std::string rate_text(double bytes_per_second) {
    return rounded_text(core::BitRate{static_cast<std::int64_t>(std::llround(bytes_per_second * 8))});
}
std::string seconds_text(double seconds) {
    return rounded_text(core::Duration{static_cast<std::int64_t>(std::llround(seconds * 1e9))});
}
std::string number_text(double number) {
    return number >= 1000 ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

/// What cannot work whatever the network is like.
void add_warnings(const config::RunRequest& request, Forecast& forecast) {
    const core::Plan& plan = request.plan;
    const auto load = forecast.busy_load();
    if (load && *load > 1 && plan.busy_consumers.empty()) {
        forecast.warnings.push_back(fmt::format(
            "consumers cannot keep up: busy for {} per event, and {} would be the limit",
            seconds_text(forecast.mean_busy_seconds), seconds_text(forecast.mean_busy_seconds / *load)));
    }
    if (plan.generation == core::Generation::sets && plan.buffer < plan.set_bytes()) {
        forecast.warnings.push_back(fmt::format("every set ({}) overflows the buffer ({}) at once",
                                                rounded_text(plan.set_bytes()), rounded_text(plan.buffer)));
    }
}

void add_options(const config::RunRequest& request, std::string& text) {
    text += "\nOptions in force (* from the scenario, + from the command line):\n";
    std::string line;
    for (const config::GivenOption& value : config::plan_values(request)) {
        const config::Origin origin = request.origin(value.name);
        const char mark = origin == config::Origin::command_line ? '+'
                          : origin == config::Origin::scenario   ? '*'
                                                                 : ' ';
        text += fmt::format("  {} {:20}{}\n", mark, value.name, value.value);
    }
}

std::string layout_text(const Forecast& f) {
    if (f.layout_known()) {
        return fmt::format("{} producers, {} consumers, 1 scheduler: {} ranks", f.producers, f.consumers,
                           f.producers + f.consumers + 1);
    }
    const auto part = [](std::uint32_t number, const char* name) {
        return number == 0 ? fmt::format("{}s from the number of ranks", name)
                           : fmt::format("{} {}s", number, name);
    };
    return fmt::format("{}, {}, 1 scheduler", part(f.producers, "producer"), part(f.consumers, "consumer"));
}

std::string data_text(const core::Plan& plan, const Forecast& f) {
    const std::string events =
        fmt::format("events of {}{}", bytes_text(f.mean_event_bytes),
                    plan.event_size.kind == core::DistributionKind::fixed ? "" : " on average");
    switch (plan.generation) {
        case core::Generation::sets:
            return fmt::format(
                "a set of {} every {}, in {} {}", rounded_text(plan.set_bytes()), rounded_text(plan.interval),
                number_text(std::ceil(static_cast<double>(plan.set_bytes().count) / f.mean_event_bytes)),
                events);
        case core::Generation::steady:
            return fmt::format("{} at {}", events, rounded_text(plan.rate));
        case core::Generation::saturate:
            return fmt::format("{}, as fast as they leave", events);
    }
    return {};
}

/// One line of the table of figures; a figure that is not known is a dash.
std::string figure_line(const char* name, const std::string& producer, const std::string& consumer,
                        const std::string& all) {
    return fmt::format("  {:22}{:>14}{:>14}{:>14}\n", name, producer, consumer, all);
}

std::string figures_text(const Forecast& f) {
    const bool both = f.layout_known();
    const auto line = [&](const char* name, double per_producer, std::string (*print)(double)) {
        if (!f.rate_known()) {
            return figure_line(name, "-", "-", "-");
        }
        return figure_line(name, print(per_producer), both ? print(per_producer * f.consumer_share()) : "-",
                           f.producers != 0 ? print(per_producer * f.producers) : "-");
    };
    std::string text = figure_line("", "per producer", "per consumer", "in all");
    text += line("payload rate", f.producer_bytes_per_second, rate_text);
    text += line("bytes per second", f.producer_bytes_per_second, bytes_text);
    text += line("events per second", f.producer_events_per_second, number_text);
    text += figure_line(
        "memory for data", bytes_text(f.producer_memory_bytes), bytes_text(f.consumer_memory_bytes),
        both ? bytes_text(f.producer_memory_bytes * f.producers + f.consumer_memory_bytes * f.consumers)
             : "-");
    const auto control = f.control_messages_per_second();
    text += figure_line("control messages/s", "", "", control ? number_text(*control) : "-");
    return text;
}

}  // namespace

std::optional<double> Forecast::busy_load() const {
    if (!rate_known() || !layout_known() || mean_busy_seconds == 0) {
        return std::nullopt;
    }
    return mean_busy_seconds * producer_events_per_second * consumer_share();
}

std::optional<double> Forecast::control_messages_per_second() const {
    if (!rate_known() || producers == 0) {
        return std::nullopt;
    }
    return 3 * producer_events_per_second * producers;
}

Forecast forecast(const config::RunRequest& request) {
    const core::Plan& plan = request.plan;
    Forecast f;
    f.producers = plan.producers;
    f.consumers = plan.consumers;
    f.mean_event_bytes = core::expected_mean(plan.event_size);
    if (plan.generation == core::Generation::sets) {
        // Whole bytes per set, and the last event of a set is what is left.
        f.producer_bytes_per_second =
            static_cast<double>(plan.set_bytes().count) / plan.interval.in_seconds();
        f.producer_events_per_second =
            std::ceil(static_cast<double>(plan.set_bytes().count) / f.mean_event_bytes) /
            plan.interval.in_seconds();
    } else if (plan.generation == core::Generation::steady) {
        f.producer_bytes_per_second = static_cast<double>(plan.rate.bits_per_second) / 8;
        f.producer_events_per_second = f.producer_bytes_per_second / f.mean_event_bytes;
    }
    f.producer_memory_bytes = static_cast<double>(core::producer_memory_bytes(plan));
    f.consumer_memory_bytes = static_cast<double>(core::consumer_memory_bytes(plan));
    if (plan.busy.kind != core::DistributionKind::none) {
        f.mean_busy_seconds = core::expected_mean(plan.busy) * 1e-9;
    }
    add_warnings(request, f);
    return f;
}

std::string dry_run_text(const config::RunRequest& request) {
    const core::Plan& plan = request.plan;
    const Forecast f = forecast(request);
    std::string text = "Dry run: nothing is started.\n\n";
    const auto line = [&](const char* name, const std::string& value) {
        text += fmt::format("  {:12}{}\n", name, value);
    };
    if (!request.scenario.empty()) {
        line("scenario", fmt::format("{}: {}", request.scenario, request.scenario_title));
    }
    line("layout", layout_text(f));
    line("producers", data_text(plan, f));
    if (f.mean_busy_seconds > 0) {
        const auto load = f.busy_load();
        const std::string who =
            plan.busy_consumers.empty() ? "all" : config::index_list_text(plan.busy_consumers);
        line("consumers",
             fmt::format("{} busy for {} per event on average{}", who, seconds_text(f.mean_busy_seconds),
                         load ? fmt::format(": load {:.3f} if all share equally", *load) : ""));
    }
    line("time", fmt::format("{} warm-up, {} measured, at most {} to drain", rounded_text(plan.warmup),
                             rounded_text(plan.duration), rounded_text(plan.drain)));
    text += '\n' + figures_text(f);
    if (const core::Bytes available = config::available_memory(); available.count > 0) {
        text += fmt::format("  (this host has {} of memory available)\n", rounded_text(available));
    }
    add_options(request, text);
    for (const std::string& note : request.notes) {
        text += fmt::format("\nNote: {}\n", note);
    }
    for (const std::string& warning : f.warnings) {
        text += fmt::format("\nWARNING: {}\n", warning);
    }
    return text;
}

std::string dry_run_json(const config::RunRequest& request) {
    using Json = nlohmann::ordered_json;
    const Forecast f = forecast(request);
    const auto known = [](bool is_known, double value) { return is_known ? Json(value) : Json(nullptr); };
    const bool rate = f.rate_known();
    const bool both = rate && f.layout_known();
    Json json;
    json["schema"] = "weir-dry-run/1";
    for (const config::GivenOption& value : config::plan_values(request)) {
        json["plan"][value.name] = value.value;
    }
    Json& per_producer = json["per_producer"];
    per_producer["bytes_per_second"] = known(rate, f.producer_bytes_per_second);
    per_producer["events_per_second"] = known(rate, f.producer_events_per_second);
    per_producer["memory_bytes"] = f.producer_memory_bytes;
    Json& per_consumer = json["per_consumer"];
    per_consumer["bytes_per_second"] =
        known(both, both ? f.producer_bytes_per_second * f.consumer_share() : 0);
    per_consumer["events_per_second"] =
        known(both, both ? f.producer_events_per_second * f.consumer_share() : 0);
    per_consumer["memory_bytes"] = f.consumer_memory_bytes;
    per_consumer["busy_load"] = known(f.busy_load().has_value(), f.busy_load().value_or(0));
    Json& all = json["all"];
    all["ranks"] = f.layout_known() ? Json(f.producers + f.consumers + 1) : Json(nullptr);
    all["bytes_per_second"] = known(rate && f.producers != 0, f.producer_bytes_per_second * f.producers);
    all["events_per_second"] = known(rate && f.producers != 0, f.producer_events_per_second * f.producers);
    const auto control = f.control_messages_per_second();
    all["control_messages_per_second"] = known(control.has_value(), control.value_or(0));
    json["notes"] = request.notes;
    json["warnings"] = f.warnings;
    return json.dump(2) + '\n';
}

}  // namespace weir::cli
