// Options of the group "output": what is written, and where.
#include <fmt/format.h>

#include <algorithm>

#include "config/option_rows.hpp"
#include "files/formatting.hpp"

namespace weir::config {

namespace {

constexpr Choice<bool> switches[] = {{"on", true}, {"off", false}};

constexpr Choice<OutputForm> outputs[] = {
    {"text", OutputForm::text}, {"json", OutputForm::json}, {"quiet", OutputForm::quiet}};

void check_printable(std::string_view text, std::size_t most) {
    if (text.size() > most) {
        throw UsageError("the text has {} characters; write at most {}", text.size(), most);
    }
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
            throw UsageError("the text contains a control character; write plain text");
        }
    }
}

void set_out(RunRequest& request, std::string_view text) {
    check_printable(text, 4000);
    if (text.empty()) {
        throw UsageError("nothing is given; write the name of a directory that does not exist yet");
    }
    request.out = std::string(text);
}

void set_label(RunRequest& request, std::string_view text) {
    check_printable(text, 200);
    request.label = std::string(text);
}

void set_tag(RunRequest& request, std::string_view text) {
    check_printable(text, 500);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        throw UsageError("'{}' has no key and value; write KEY=VALUE, such as switch=shallow", text);
    }
    const std::string key(text.substr(0, equals));
    std::string value(text.substr(equals + 1));
    const auto found = std::find_if(request.tags.begin(), request.tags.end(),
                                    [&](const auto& tag) { return tag.first == key; });
    if (found != request.tags.end() &&
        static_cast<std::size_t>(found - request.tags.begin()) < request.scenario_tags) {
        request.tags.erase(found);
        --request.scenario_tags;
    } else if (found != request.tags.end()) {
        throw UsageError("'{}' is given twice, as '{}' and as '{}'; write each key once", key, found->second,
                         value);
    }
    request.tags.emplace_back(key, std::move(value));
}

/// Whole parts of a second, of the bins of 10 ms that all logs count in.
void set_row_interval(RunRequest& request, std::string_view text) {
    constexpr core::Duration least = core::Duration::milliseconds(10);
    constexpr core::Duration second = core::Duration::seconds(1);
    const core::Duration interval = bounded(text, least, second);
    if (second.ns % interval.ns != 0 || interval.ns % least.ns != 0) {
        throw UsageError(
            "{} is not a part of a second in whole 10 ms; write 10ms, 20ms, 40ms, 50ms, 100ms, 200ms, 250ms, "
            "500ms or 1s",
            files::exact(interval));
    }
    request.plan.row_interval = interval == second ? core::Duration{} : interval;
    request.plan.row_interval_asked_for = true;
}

/// Empty: a short run has its own.
std::string row_interval_text(const RunRequest& request) {
    const core::Plan& plan = request.plan;
    return !plan.row_interval_asked_for ? std::string{}
           : plan.row_interval.ns > 0   ? to_text(plan.row_interval)
                                        : std::string{"1s"};
}

std::string tags_text(const RunRequest& request) {
    std::string text;
    for (const auto& [key, value] : request.tags) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
    }
    return text;
}

constexpr Option output_rows[] = {
    {"out", "DIRECTORY", "run directory; must not exist", derived("weir-run-<UTC time>"),
     own(set_out, [](const RunRequest& r) { return r.out; }), not_in_plan},
    {"output", "text|json|quiet", "live lines for people, for programs, or none", preset("text"),
     as::word<&RunRequest::output, outputs>, not_in_plan},
    {"counters", "on|off", "record each host's network counters in hosts/NAME.csv", preset("on"),
     as::word<&RunRequest::counters, switches>},
    {"acts-at", "SIZE", "bytes in a port at which the switch pauses, marks or drops", derived("not known"),
     as::quantity<&RunRequest::acts_at, Bytes{1}, Bytes{std::int64_t{1} << 50}>, only_measured},
    {"row-interval", "TIME", "rows of this length, too, from 10ms", derived("1s; short runs: 50 rows"),
     own(set_row_interval, row_interval_text), 0, "10ms|100ms|1s"},
    {"label", "TEXT", "a name for this run, kept in run.json", unset,
     own(set_label, [](const RunRequest& r) { return r.label; }), not_in_plan},
    {"tag", "KEY=VALUE", "a fact about this run, kept in run.json; repeatable", unset,
     own(set_tag, tags_text), repeatable | not_in_plan},
};

}  // namespace

constinit const std::span<const Option> output_options = output_rows;

}  // namespace weir::config
