#include "cli/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/describe.hpp"
#include "cli/fabric_drawing.hpp"
#include "cli/forecast.hpp"
#include "cli/packet_forecast.hpp"
#include "config/option_table.hpp"
#include "config/passes.hpp"
#include "config/quantities.hpp"
#include "config/role_assignment.hpp"
#include "files/formatting.hpp"
#include "files/json.hpp"
#include "host/control_group.hpp"
#include "show/plan_text.hpp"

namespace weir::cli {

namespace {

using files::bytes_text;
using files::exact;
using files::number;
using files::readable;
using Json = nlohmann::ordered_json;

void add_options(const config::RunRequest& request, std::string& text) {
    text += "\nOptions in effect (* from the scenario, + from the command line):\n";
    std::string line;
    for (const config::GivenOption& value : config::plan_values(request)) {
        const config::Origin origin = request.origin(value.name);
        const char mark = origin == config::Origin::command_line ? '+'
                          : origin == config::Origin::scenario   ? '*'
                                                                 : ' ';
        const bool unused_rate =
            value.name == "rate" && request.plan.generation == core::Generation::saturate;
        text += fmt::format("  {} {:{}}{}{}\n", mark, value.name,
                            std::max<std::size_t>(20, value.name.size() + 1), value.value,
                            unused_rate ? " (not used: as fast as possible)" : "");
    }
}

std::string layout_text(const Forecast& f) {
    if (f.layout_known()) {
        return fmt::format("{}, {}, 1 scheduler: {} ranks", files::counted(f.producers, "producer"),
                           files::counted(f.consumers, "consumer"), f.producers + f.consumers + 1);
    }
    const auto part = [](std::uint32_t number, const char* name) {
        return number == 0 ? fmt::format("{}s from the number of ranks", name) : files::counted(number, name);
    };
    return fmt::format("{}, {}, 1 scheduler", part(f.producers, "producer"), part(f.consumers, "consumer"));
}

/// What is said of producers and consumers is said of one group.
std::string groups_text(std::uint32_t groups, const Forecast& f) {
    const std::string ranks = f.layout_known()
                                  ? fmt::format(", {} ranks in all", groups * (f.producers + f.consumers + 1))
                                  : std::string{};
    return fmt::format("{} of these{}; the figures below are of one group", groups, ranks);
}

/// "4 events of 2.68 GB", "5 events of 2 GB and one of 500 MB", "about 6.5 events of 1.9 GB on average".
std::string set_text(const core::Plan& plan, const Forecast& f) {
    const std::string size = bytes_text(f.mean_event_bytes);
    if (!f.set->exact) {
        return fmt::format("about {} events of {} on average, the last of them cut to what is left",
                           number(f.set->events), size);
    }
    const bool whole = static_cast<double>(f.set->last.count) == plan.event_size.mean;
    const double full = f.set->events - (whole ? 0 : 1);
    if (full == 0) {
        return fmt::format("one event of {}", readable(f.set->last));
    }
    std::string events = fmt::format("{} of {}", full == 1 ? "one event" : number(full) + " events", size);
    if (whole) {
        return events;
    }
    const std::string last = readable(f.set->last);
    return last == size
               ? fmt::format("{} and one that is {} smaller", events,
                             bytes_text(plan.event_size.mean - static_cast<double>(f.set->last.count)))
               : fmt::format("{} and one of {}", events, last);
}

const char* phase_text(core::SetPhase phase) {
    switch (phase) {
        case core::SetPhase::same:
            return "";
        case core::SetPhase::spread:
            return ", staggered evenly";
        case core::SetPhase::random:
            return ", each at a phase of its own";
    }
    return "";
}

/// "21.9 MB in 9 transfers every 1 s; a producer sends up to 7.31 MB, a consumer receives up to 7.28 MB".
std::string addressed_text(const core::Plan& plan) {
    const core::TrafficPlan& traffic = *plan.traffic;
    return fmt::format(
        "{} for their consumers in {} every {}{};\n              a producer sends up to {}, a consumer "
        "receives up to {}",
        readable(traffic.total()), files::counted(traffic.transfers(), "transfer"), exact(plan.interval),
        traffic.phases().size() > 1 ? fmt::format(", {} phases", traffic.phases().size()) : "",
        readable(traffic.largest_set()), readable(traffic.most_received()));
}

std::string data_text(const core::Plan& plan, const Forecast& f) {
    const std::string events =
        fmt::format("events of {}{}", bytes_text(f.mean_event_bytes),
                    plan.event_size.kind == core::DistributionKind::fixed ? "" : " on average");
    switch (plan.generation) {
        case core::Generation::sets:
            if (plan.addressed()) {
                return addressed_text(plan);
            }
            return fmt::format("a set of {} every {}{}: {}", readable(plan.set_bytes()), exact(plan.interval),
                               phase_text(plan.set_phase), set_text(plan, f));
        case core::Generation::steady:
            return fmt::format("{} at {}", events, exact(plan.rate));
        case core::Generation::saturate:
            return fmt::format("{}, as fast as possible: --rate is not used", events);
    }
    return {};
}

/// One line of the table of figures; a figure that is not known is a dash.
std::string figure_line(const char* name, const std::string& producer, const std::string& consumer,
                        const std::string& all) {
    return fmt::format("  {:23}{:>13}{:>14}{:>14}\n", name, producer, consumer, all);
}

std::string figures_text(const Forecast& f) {
    const bool both = f.layout_known();
    const auto line = [&](const char* name, double per_producer, double all, const auto& print) {
        if (!f.rate_known()) {
            return figure_line(name, "-", "-", "-");
        }
        return figure_line(name, print(per_producer), both ? print(all / f.consumers) : "-",
                           f.producers != 0 ? print(all) : "-");
    };
    const double bytes = f.producer_bytes_per_second;
    std::string text = figure_line("", "per producer", "per consumer", "in all");
    text += line("payload rate", bytes * 8, bytes * 8 * f.producers, files::rate_text);
    text += line("bytes per second", bytes, bytes * f.producers, bytes_text);
    text += line(f.builds ? "fragments, events per s" : "events per second", f.producer_events_per_second,
                 f.events_per_second(), [](double value) { return number(value); });
    text += figure_line("memory for data", bytes_text(f.producer_memory_bytes),
                        bytes_text(f.consumer_memory_bytes), both ? bytes_text(f.memory_bytes()) : "-");
    const auto control = f.control_messages_per_second();
    text += figure_line("control messages/s", "", "", control ? number(*control) : "-");
    return text;
}

bool packet_by_packet(const config::RunRequest& request) {
    return request.simulated && request.network.model == core::NetworkModel::packet;
}

/// What --row-interval comes to.
std::string bursts_text(const core::Plan& plan, const Forecast& f) {
    const std::int64_t intervals = core::Duration::seconds(1).ns / plan.row_interval.ns;
    if (!f.layout_known()) {
        return fmt::format("{} per second of each rank in bursts/", intervals);
    }
    const config::BurstNeed need = config::burst_need(plan);
    return fmt::format("{} per second of all ranks in bursts/, in {} at most {}", need.rows_per_second,
                       readable(need.time), readable(need.bytes));
}

template <typename Line>
void add_packets(const config::RunRequest& request, const Forecast& f, const Line& line) {
    const char* name = "switch";
    for (const std::string& about :
         packet_by_packet(request) ? switch_lines(request) : std::vector<std::string>{}) {
        line(name, about);
        name = "";
    }
    for (const DrawnLine& drawn : request.simulated&& core::has_fabric(request.network)
                                      ? fabric_lines(request)
                                      : std::vector<DrawnLine>{}) {
        line(drawn.name.c_str(), drawn.text);
    }
    if (!packet_by_packet(request)) {
        return;
    }
    const PacketCost cost = packet_cost(request, f);
    line("cost", cost_text(cost));
    if (const std::string cheaper = cheaper_options(request, cost); !cheaper.empty()) {
        line("", fmt::format("the same ratios for less: {}", cheaper));
    }
}

template <typename Line>
void add_pressure(const config::RunRequest& request, const Line& line) {
    const auto pressure = pressure_of(request);
    if (!pressure) {
        return;
    }
    line("pressure", show::under_way_text(*pressure));
    for (const core::Pressure::Acting& acting : pressure->settings) {
        line("", show::setting_text(*pressure, acting));
    }
    if (const std::string unknown = show::unknown_text(*pressure); !unknown.empty()) {
        line("", unknown);
    }
}

}  // namespace

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
    if (const std::uint32_t groups = config::number_of_groups(request); groups > 1) {
        line("groups", groups_text(groups, f));
    }
    line("producers", data_text(plan, f));
    if (f.mean_busy_seconds > 0) {
        const auto load = f.busy_load();
        const std::string who =
            plan.busy_consumers.empty() ? "all" : config::index_list_text(plan.busy_consumers);
        line("consumers",
             fmt::format("{} busy for {} per event on average{}", who,
                         files::seconds_text(f.mean_busy_seconds),
                         load ? fmt::format(": load {} if all share equally", number(*load)) : ""));
    }
    line("time",
         fmt::format("{} warm-up, {} measured, at most {} to drain", exact(plan.warmup), exact(plan.duration),
                     readable(plan.give_up_at() - core::Instant{} - plan.duration)));
    for (const std::string& last_set : show::last_set_lines(plan)) {
        line("", last_set);
    }
    if (plan.row_interval.ns > 0) {
        line("short rows", bursts_text(plan, f));
    }
    add_packets(request, f, line);
    add_pressure(request, line);
    text += '\n' + figures_text(f);
    if (const auto [available, by_group] = host::available_memory(); available.count > 0) {
        const bool short_of_it =
            !f.simulated && f.layout_known() && f.memory_bytes() > static_cast<double>(available.count);
        text += fmt::format("  (this host has {} of memory available{}{})\n", readable(available),
                            host::limit_hint(by_group), short_of_it ? ": not enough for all ranks" : "");
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
    const Forecast f = forecast(request);
    const auto known = [](bool is_known, double value) { return is_known ? Json(value) : Json(nullptr); };
    const bool rate = f.rate_known();
    const bool both = rate && f.layout_known();
    Json json;
    json["schema"] = "weir-dry-run/1";
    for (const config::GivenOption& value : config::plan_values(request)) {
        json["plan"][value.name] = value.value;
    }
    if (f.set) {
        const bool exact = f.set->exact;
        json["set"] = {{"bytes", request.plan.set_bytes().count},
                       {"events", f.set->events},
                       {"event_size_mean_bytes", f.mean_event_bytes},
                       {"last_event_bytes", known(exact, static_cast<double>(f.set->last.count))}};
    }
    Json& per_producer = json["per_producer"];
    per_producer["bytes_per_second"] = known(rate, f.producer_bytes_per_second);
    per_producer["events_per_second"] = known(rate, f.producer_events_per_second);
    per_producer["memory_bytes"] = f.producer_memory_bytes;
    Json& per_consumer = json["per_consumer"];
    per_consumer["bytes_per_second"] =
        known(both, both ? f.producer_bytes_per_second * f.consumer_share() : 0);
    per_consumer["events_per_second"] = known(both, both ? f.events_per_second() / f.consumers : 0);
    per_consumer["memory_bytes"] = f.consumer_memory_bytes;
    per_consumer["busy_load"] = known(f.busy_load().has_value(), f.busy_load().value_or(0));
    if (const std::uint32_t groups = config::number_of_groups(request); groups > 1) {
        json["groups"] = groups;
    }
    Json& all = json["all"];
    all["ranks"] = f.layout_known() ? Json(f.producers + f.consumers + 1) : Json(nullptr);
    all["bytes_per_second"] = known(rate && f.producers != 0, f.producer_bytes_per_second * f.producers);
    all["events_per_second"] = known(rate && f.producers != 0, f.events_per_second());
    const auto control = f.control_messages_per_second();
    all["control_messages_per_second"] = known(control.has_value(), control.value_or(0));
    if (request.plan.row_interval.ns > 0) {
        const config::BurstNeed need = config::burst_need(request.plan);
        json["bursts"] = {{"rows_per_second", f.layout_known() ? Json(need.rows_per_second) : Json(nullptr)},
                          {"bytes", f.layout_known() ? Json(need.bytes.count) : Json(nullptr)}};
    }
    const auto pressure = pressure_of(request);
    json["pressure"] = pressure ? show::to_json(*pressure) : Json();
    if (request.simulated && core::has_fabric(request.network)) {
        json["fabric"] = fabric_json(request);
    }
    if (packet_by_packet(request)) {
        const PacketCost cost = packet_cost(request, f);
        json["packets"] = {{"transmissions", cost.transmissions},
                           {"cpu_seconds", cost.cpu_seconds},
                           {"memory_bytes", cost.memory_bytes},
                           {"headroom_bytes", config::largest_headroom(request).count}};
    }
    json["notes"] = request.notes;
    json["warnings"] = f.warnings;
    return files::json_text(json, 2) + '\n';
}

}  // namespace weir::cli
