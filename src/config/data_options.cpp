// Options of the group "data": what producers generate.
#include "config/distributions.hpp"
#include "config/option_rows.hpp"

namespace weir::config {

namespace {

constexpr Choice<core::Generation> generations[] = {{"sets", core::Generation::sets},
                                                    {"steady", core::Generation::steady},
                                                    {"saturate", core::Generation::saturate}};

constexpr Choice<core::SetPhase> set_phases[] = {
    {"same", core::SetPhase::same}, {"spread", core::SetPhase::spread}, {"random", core::SetPhase::random}};

constexpr Choice<core::Overflow> overflows[] = {{"count", core::Overflow::count},
                                                {"drop", core::Overflow::drop}};

constexpr Option data_rows[] = {
    {.name = "rate",
     .syntax = "RATE",
     .help = "payload that each producer generates per second",
     .default_value = "1Gb/s",
     .value = as::quantity<&Plan::rate, BitRate{1}, fastest_rate>,
     .kept_when_shrunk = true},
    {.name = "interval",
     .syntax = "TIME",
     .help = "a producer generates one set per interval",
     .default_value = "1s",
     .value = as::quantity<&Plan::interval, Duration::microseconds(1), longest_interval>,
     .kept_when_shrunk = true},
    {.name = "generation",
     .syntax = "sets|steady|saturate",
     .help = "whole sets at once, events at the rate, or always more data",
     .default_value = "sets",
     .value = as::word<&Plan::generation, generations>,
     .kept_when_shrunk = true},
    {.name = "set-phase",
     .syntax = "same|spread|random",
     .help = "all producers' sets at one instant, evenly spread, or random",
     .default_value = "same",
     .value = as::word<&Plan::set_phase, set_phases>},
    {.name = "event-size",
     .syntax = "SIZE|DISTRIBUTION",
     .help = "bytes of an event, fixed or drawn",
     .default_text = "16MiB, at most a set",
     .default_value = "16MiB",
     .value = as::drawn<&Plan::event_size, &RunRequest::event_size_trace, parse_event_size, event_size_text>,
     .kept_when_shrunk = true},
    {.name = "buffer",
     .syntax = "SIZE",
     .help = "a producer's buffer; more waiting data is an overflow",
     .default_text = "one set",
     .value = as::size<&Plan::buffer>},
    {.name = "overflow",
     .syntax = "count|drop",
     .help = "what does not fit: keep and count it, or drop the event",
     .default_value = "count",
     .value = as::word<&Plan::overflow, overflows>},
};

}  // namespace

std::span<const Option> data_options() {
    return data_rows;
}

}  // namespace weir::config
