// Options of the group "run": what to measure, how long, and what must hold.
#include <fmt/format.h>

#include "config/option_rows.hpp"

namespace weir::config {

namespace {

constexpr Choice<core::Verify> verifies[] = {{"none", core::Verify::none},
                                             {"header", core::Verify::header},
                                             {"sample", core::Verify::sample},
                                             {"full", core::Verify::full}};

constexpr Choice<Idle> idles[] = {
    {"auto", Idle::automatic}, {"spin", Idle::spin}, {"yield", Idle::yield}, {"nap", Idle::nap}};

constexpr Choice<bool> failure_ends[] = {{"end", false}, {"continue", true}};

void set_require(RunRequest& request, std::string_view text) {
    for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        if (word == "sustained") {
            request.require.sustained = true;
        } else if (word == "on-time") {
            request.require.on_time = true;
        } else if (word == "lossless") {
            request.require.lossless = true;
        } else if (word == "none") {
            request.require = {};
        } else {
            throw UsageError("'{}' is not one of: sustained, on-time, lossless, none", word);
        }
        if (comma == std::string_view::npos) {
            return;
        }
        rest = rest.substr(comma + 1);
    }
}

std::string require_text(const RunRequest& request) {
    std::string text;
    const auto add = [&text](bool required, const char* word) {
        if (required) {
            text += text.empty() ? "" : ",";
            text += word;
        }
    };
    add(request.require.sustained, "sustained");
    add(request.require.on_time, "on-time");
    add(request.require.lossless, "lossless");
    return text.empty() ? "none" : text;
}

constexpr Option run_rows[] = {
    {.name = "scenario",
     .syntax = "NAME|FILE",
     .help = "a named set of options (see `weir scenarios`) or a file.toml",
     .value = as::plain<&RunRequest::scenario>,
     .in_scenario = false,
     .kept_when_shrunk = true},
    {.name = "scale",
     .syntax = "FACTOR",
     .help = "multiply rates, sizes and simulated links by 0.01 or 1/200",
     .default_value = "1",
     .value = {[](RunRequest& r, Text text) { r.scale = parse_ratio(text); },
               [](const RunRequest& r) { return to_text(r.scale); }}},
    {.name = "time-scale",
     .syntax = "FACTOR",
     .help = "multiply times of generation and work, and sizes, by 1/10",
     .default_text = "1",
     .value = {[](RunRequest& r, Text text) { r.time_scale = parse_ratio(text); },
               [](const RunRequest& r) { return r.time_scale == Ratio{} ? "" : to_text(r.time_scale); }}},
    {.name = "duration",
     .syntax = "TIME",
     .help = "how long to measure after the warm-up",
     .default_value = "10s",
     .value = as::quantity<&Plan::duration, Duration{1000000}, longest_duration>,
     .kept_when_shrunk = true},
    {.name = "warmup",
     .syntax = "TIME",
     .help = "how long to run before that; recorded, but not judged",
     .default_value = "2s",
     .value = as::quantity<&Plan::warmup, Duration{0}, longest_duration>},
    {.name = "drain",
     .syntax = "TIME",
     .help = "how long buffers may take to empty at the end",
     .default_value = "10s",
     .value = as::quantity<&Plan::drain, Duration{0}, longest_duration>},
    {.name = "require",
     .syntax = "CHECK,...",
     .completions = "sustained|on-time|lossless|none",
     .help = "exit with status 3 unless these hold: sustained, on-time, lossless",
     .value = {set_require, require_text},
     .repeatable = true},
    {.name = "verify",
     .syntax = "none|header|sample|full",
     .help = "check of what arrives: headers, 1/128 of payload, or all",
     .default_value = "sample",
     .value = as::word<&Plan::verify, verifies>},
    {.name = "seed",
     .syntax = "N",
     .help = "seed of everything random",
     .default_value = "1",
     .value = {[](RunRequest& r, Text text) { r.plan.seed = parse_count(text, 0, ~std::uint64_t{0}); },
               [](const RunRequest& r) { return fmt::format("{}", r.plan.seed); }},
     .kept_when_shrunk = true},
    {.name = "idle",
     .syntax = "auto|spin|yield|nap",
     .help = "how a rank waits; auto spins when there is a core per rank",
     .default_value = "auto",
     .value = as::word<&RunRequest::idle, idles>},
    {.name = "silence-timeout",
     .syntax = "TIME",
     .help = "end the run when a rank is not heard for this long",
     .default_value = "5s",
     .value = as::quantity<&RunRequest::silence_timeout, Duration::milliseconds(1), Duration::seconds(3600)>},
    {.name = "on-failure",
     .syntax = "end|continue",
     .help = "when a consumer is lost; continue: simulated, or with --join",
     .default_text = "end",
     .value = {[](RunRequest& r, Text text) { r.plan.outlives_consumers = choose(text, failure_ends); },
               [](const RunRequest& r) { return std::string(r.plan.outlives_consumers ? "continue" : ""); }}},
    {.name = "dry-run",
     .help = "print the plan and what it needs; run nothing",
     .value = {[](RunRequest& r, Text) { r.dry_run = true; },
               [](const RunRequest&) { return std::string{}; }},
     .in_scenario = false,
     .in_plan = false},
};

}  // namespace

std::span<const Option> run_options() {
    return run_rows;
}

}  // namespace weir::config
