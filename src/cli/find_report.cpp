#include "cli/find_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/checks.hpp"
#include "config/option_table.hpp"
#include "config/usage_error.hpp"
#include "telemetry/json_text.hpp"
#include "telemetry/whole_file.hpp"

namespace weir::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Whether the events of the points differ, so that each is shown with its own.
bool shows_events(const FindReport& report) {
    return report.search->event_sizes() == EventSizes::scaled;
}

std::string table_text(const FindReport& report) {
    const bool events = shows_events(report);
    std::size_t width = report.search->name().size();
    std::size_t events_width = std::string_view("event size").size();
    for (const FindPoint& point : report.result.curve) {
        width = std::max(width, point.text.size());
        events_width = std::max(events_width, point.event_size.size());
    }
    const auto events_cell = [&](std::string_view text) {
        return events ? fmt::format("   {:>{}}", text, events_width) : std::string{};
    };
    std::string text = fmt::format("{:>{}}{}   sustained   worst occupancy\n", report.search->name(), width,
                                   events_cell("event size"));
    for (const FindPoint& point : report.result.curve) {
        text += fmt::format("{:>{}}{}", point.text, width, events_cell(point.event_size));
        text += point.refused.empty() ? fmt::format("   {:>4} of {:<2}   {:>15.3f}\n", point.sustained,
                                                    point.seeds, point.worst_occupancy)
                                      : fmt::format("   not possible: {}\n", point.refused);
    }
    return text;
}

/// That no value is sustained, with the values that could be tried: "no value from 3 to 1024 is sustained".
std::string none_sustained_text(const FindReport& report) {
    const FindPoint* first = nullptr;
    const FindPoint* last = nullptr;
    for (const FindPoint& point : report.result.curve) {
        if (point.refused.empty()) {
            first = first == nullptr ? &point : first;
            last = &point;
        }
    }
    if (first == nullptr) {
        return "no value that was tried is possible";
    }
    return first == last ? fmt::format("no value is sustained; only {} is possible", first->text)
                         : fmt::format("no value from {} to {} is sustained", first->text, last->text);
}

Json json_of(const FindPoint& point) {
    Json entry{{"value", point.text}};
    if (!point.event_size.empty()) {
        entry["event_size"] = point.event_size;
    }
    entry["sustained_seeds"] = point.sustained;
    entry["worst_occupancy"] = point.worst_occupancy;
    if (!point.refused.empty()) {
        entry["refused"] = point.refused;
    }
    return entry;
}

const char* name_of(EventSizes sizes) {
    switch (sizes) {
        case EventSizes::as_asked:
            break;
        case EventSizes::scaled:
            return "scaled";
        case EventSizes::held:
            return "held";
        case EventSizes::whole:
            return "held, whole events per set";
    }
    return "as asked";
}

}  // namespace

std::string point_text(const FindValues& search, const FindPoint& point) {
    const std::string events = search.event_sizes() == EventSizes::scaled
                                   ? fmt::format(", events of {}", point.event_size)
                                   : std::string{};
    return fmt::format("--{} {}{}: {}", search.name(), point.text, events,
                       point.refused.empty()
                           ? fmt::format("sustained with {} of {} seeds", point.sustained, point.seeds)
                           : "not possible: " + point.refused);
}

std::string find_text(const FindReport& report) {
    std::string text = table_text(report) + '\n';
    const FindResult& result = report.result;
    if (!result.best) {
        text += fmt::format("{}: {}\n", report.search->meaning(), none_sustained_text(report));
    } else {
        const FindPoint& best = result.curve[*result.best];
        text += fmt::format("{}: {}{}, sustained with {}; ", report.search->meaning(), best.text,
                            shows_events(report) ? fmt::format(" with events of {}", best.event_size) : "",
                            report.seeds == 1 ? "the one seed" : fmt::format("all {} seeds", report.seeds));
        if (!result.beyond) {
            text += "no limit was found\n";
        } else {
            const FindPoint& beyond = result.curve[*result.beyond];
            text += fmt::format("{} is not{}\n", beyond.text, beyond.refused.empty() ? "" : " possible");
        }
    }
    for (const std::string& statement : report.search->statements()) {
        text += statement + '\n';
    }
    for (const std::string& warning : report.warnings) {
        text += fmt::format("WARNING: in the run as given, {}\n", warning);
    }
    return text;
}

std::string find_json(const FindReport& report, const config::RunRequest& base) {
    Json json;
    json["schema"] = "weir-find/1";
    json["find"] = report.search->name();
    json["seeds"] = report.seeds;
    json["precision"] = report.search->space().whole ? 0 : report.precision;
    const FindResult& result = report.result;
    json["limit"] = result.best ? Json(result.curve[*result.best].text) : Json(nullptr);
    json["beyond"] = result.beyond ? Json(result.curve[*result.beyond].text) : Json(nullptr);
    json["event_sizes"] = name_of(report.search->event_sizes());
    if (report.search->event_sizes() != EventSizes::as_asked) {
        json["limit_event_size"] = result.best ? Json(result.curve[*result.best].event_size) : Json(nullptr);
    }
    json["warnings"] = report.warnings;
    json["statements"] = report.search->statements();
    auto& curve = json["curve"] = Json::array();
    for (const FindPoint& point : result.curve) {
        curve.push_back(json_of(point));
    }
    for (const config::GivenOption& value : config::plan_values(base)) {
        json["plan"][value.name] = value.value;
    }
    json["label"] = base.label;
    json["tags"] = Json::object();
    for (const auto& [key, value] : base.tags) {
        json["tags"][key] = value;
    }
    return telemetry::json_text(json) + '\n';
}

std::optional<std::string> write_find_directory(const std::string& directory, const std::string& json) {
    try {
        config::create_run_directory(directory);
    } catch (const config::UsageError& error) {
        return error.what();
    }
    telemetry::WholeFile file(directory + "/find.json");
    file.put(json);
    if (const auto error = file.finish()) {
        return error->message();
    }
    return std::nullopt;
}

}  // namespace weir::cli
