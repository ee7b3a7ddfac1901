// Options of the group "data": what producers generate.
#include "config/distributions.hpp"
#include "config/option_table.hpp"
#include "config/option_values.hpp"

namespace weir::config {

namespace {

constexpr Choice<core::Generation> generations[] = {{"sets", core::Generation::sets},
                                                    {"steady", core::Generation::steady},
                                                    {"saturate", core::Generation::saturate}};

constexpr Choice<core::SetPhase> set_phases[] = {
    {"same", core::SetPhase::same}, {"spread", core::SetPhase::spread}, {"random", core::SetPhase::random}};

constexpr Choice<core::Overflow> overflows[] = {{"count", core::Overflow::count},
                                                {"drop", core::Overflow::drop}};

void set_event_size(RunRequest& request, std::string_view text) {
    NamedDistribution parsed = parse_event_size(text);
    request.plan.event_size = std::move(parsed.distribution);
    request.event_size_trace = std::move(parsed.trace_file);
}

std::string event_size_in_force(const RunRequest& request) {
    return event_size_text({request.plan.event_size, request.event_size_trace});
}

constexpr Option data_rows[] = {
    {.name = "rate",
     .syntax = "RATE",
     .help = "payload that each producer generates per second",
     .default_value = "1Gb/s",
     .set = [](RunRequest& r,
               Text text) { r.plan.rate = bounded(parse_rate, text, core::BitRate{1}, fastest_rate); },
     .get = [](const RunRequest& r) { return to_text(r.plan.rate); },
     .kept_when_shrunk = true},
    {.name = "interval",
     .syntax = "TIME",
     .help = "a producer generates one set per interval",
     .default_value = "1s",
     .set =
         [](RunRequest& r, Text text) {
             r.plan.interval = some_time(text, core::Duration::microseconds(1), longest_interval);
         },
     .get = [](const RunRequest& r) { return to_text(r.plan.interval); },
     .kept_when_shrunk = true},
    {.name = "generation",
     .syntax = "sets|steady|saturate",
     .help = "whole sets at once, events at the rate, or always more data",
     .default_value = "sets",
     .set = [](RunRequest& r, Text text) { r.plan.generation = choose(text, generations); },
     .get = [](const RunRequest& r) { return chosen(r.plan.generation, generations); },
     .kept_when_shrunk = true},
    {.name = "set-phase",
     .syntax = "same|spread|random",
     .help = "all producers' sets at one instant, evenly spread, or random",
     .default_value = "same",
     .set = [](RunRequest& r, Text text) { r.plan.set_phase = choose(text, set_phases); },
     .get = [](const RunRequest& r) { return chosen(r.plan.set_phase, set_phases); }},
    {.name = "event-size",
     .syntax = "SIZE|DISTRIBUTION",
     .help = "bytes of an event, fixed or drawn",
     .default_text = "16MiB, at most a set",
     .default_value = "16MiB",
     .set = set_event_size,
     .get = event_size_in_force,
     .kept_when_shrunk = true},
    {.name = "buffer",
     .syntax = "SIZE",
     .help = "a producer's buffer; more waiting data is an overflow",
     .default_text = "one set",
     .set = [](RunRequest& r, Text text) { r.plan.buffer = some_bytes(text); },
     .get = [](const RunRequest& r) { return to_text(r.plan.buffer); }},
    {.name = "overflow",
     .syntax = "count|drop",
     .help = "what does not fit: keep and count it, or drop the event",
     .default_value = "count",
     .set = [](RunRequest& r, Text text) { r.plan.overflow = choose(text, overflows); },
     .get = [](const RunRequest& r) { return chosen(r.plan.overflow, overflows); }},
};

}  // namespace

std::span<const Option> data_options() {
    return data_rows;
}

}  // namespace weir::config
