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
    {"scenario", "NAME|FILE", "a named set of options (see `weir scenarios`) or a file.toml", unset,
     as::plain<&RunRequest::scenario>, not_in_scenario | kept_when_shrunk},
    {"scale", "FACTOR", "multiply rates, sizes and simulated links by 0.01 or 1/200", preset("1"),
     own([](RunRequest& r, Text text) { r.scale = parse_ratio(text); },
         [](const RunRequest& r) { return to_text(r.scale); })},
    {"time-scale", "FACTOR", "multiply times of generation and work, and sizes, by 1/10", derived("1"),
     own([](RunRequest& r, Text text) { r.time_scale = parse_ratio(text); },
         [](const RunRequest& r) { return r.time_scale == Ratio{} ? "" : to_text(r.time_scale); })},
    {"duration", "TIME", "how long to measure after the warm-up", preset("10s"),
     as::quantity<&Plan::duration, Duration{1000000}, longest_duration>, kept_when_shrunk},
    {"warmup", "TIME", "how long to run before that; recorded, but not judged", preset("2s"),
     as::quantity<&Plan::warmup, Duration{0}, longest_duration>},
    {"drain", "TIME", "how long buffers may take to empty at the end", preset("10s"),
     as::quantity<&Plan::drain, Duration{0}, longest_duration>},
    {"require", "CHECK,...", "exit with status 3 unless these hold: sustained, on-time, lossless", unset,
     own(set_require, require_text), repeatable, "sustained|on-time|lossless|none"},
    {"verify", "none|header|sample|full", "check of what arrives: headers, 1/128 of payload, or all",
     preset("sample"), as::word<&Plan::verify, verifies>},
    {"seed", "N", "seed of everything random", preset("1"),
     own([](RunRequest& r, Text text) { r.plan.seed = parse_count(text, 0, ~std::uint64_t{0}); },
         [](const RunRequest& r) { return fmt::format("{}", r.plan.seed); }),
     kept_when_shrunk},
    {"idle", "auto|spin|yield|nap", "how a rank waits; auto spins when there is a core per rank",
     preset("auto"), as::word<&RunRequest::idle, idles>},
    {"silence-timeout", "TIME", "end the run when a rank is not heard for this long", preset("5s"),
     as::quantity<&RunRequest::silence_timeout, Duration::milliseconds(1), Duration::seconds(3600)>},
    {"on-failure", "end|continue", "when a consumer is lost; continue: simulated, or with --join",
     derived("end"),
     own([](RunRequest& r, Text text) { r.plan.outlives_consumers = choose(text, failure_ends); },
         [](const RunRequest& r) { return std::string(r.plan.outlives_consumers ? "continue" : ""); })},
    {"dry-run", "", "print the plan and what it needs; run nothing", unset,
     own([](RunRequest& r, Text) { r.dry_run = true; }, [](const RunRequest&) { return std::string{}; }),
     command_line_only},
};

}  // namespace

constinit const std::span<const Option> run_options = run_rows;

}  // namespace weir::config
