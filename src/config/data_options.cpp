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
    {"rate", "RATE", "payload that each producer generates per second", preset("1Gb/s"),
     as::quantity<&Plan::rate, BitRate{1}, fastest_rate>, kept_when_shrunk},
    {"interval", "TIME", "a producer generates one set per interval", preset("1s"),
     as::quantity<&Plan::interval, Duration::microseconds(1), longest_interval>, kept_when_shrunk},
    {"generation", "sets|steady|saturate", "whole sets at once, events at the rate, or always more data",
     preset("sets"), as::word<&Plan::generation, generations>, kept_when_shrunk},
    {"set-phase", "same|spread|random", "all producers' sets at one instant, evenly spread, or random",
     preset("same"), as::word<&Plan::set_phase, set_phases>},
    {"event-size", "SIZE|DISTRIBUTION", "bytes of an event, fixed or drawn",
     preset("16MiB", "16MiB, at most a set"),
     as::drawn<&Plan::event_size, &RunRequest::event_size_trace, parse_event_size, event_size_text>,
     kept_when_shrunk},
    {"buffer", "SIZE", "a producer's buffer; more waiting data is an overflow", derived("one set"),
     as::size<&Plan::buffer>},
    {"overflow", "count|drop", "what does not fit: keep and count it, or drop the event", preset("count"),
     as::word<&Plan::overflow, overflows>},
};

}  // namespace

constinit const std::span<const Option> data_options = data_rows;

}  // namespace weir::config
