// Options of the group "building": event building, pull, and limits on credits.
#include <fmt/format.h>

#include "config/option_rows.hpp"

namespace weir::config {

namespace {

constexpr Choice<core::Pattern> patterns[] = {{"distribute", core::Pattern::distribute},
                                              {"build", core::Pattern::build}};
constexpr Choice<core::Initiation> initiations[] = {{"push", core::Initiation::push},
                                                    {"pull", core::Initiation::pull}};
constexpr Choice<core::SendOrder> orders[] = {{"assigned", core::SendOrder::assigned},
                                              {"barrel", core::SendOrder::barrel}};

constexpr Choice<bool> destinations[] = {{"any", false}, {"addressed", true}};

void set_pattern(RunRequest& request, Text text) {
    const bool file = names_traffic(text);
    request.traffic = file ? read_traffic(text) : TrafficDescription{};
    request.plan.pattern = file ? core::Pattern::distribute : choose(text, patterns);
}

std::string pattern_in_force(const RunRequest& request) {
    const std::string file = traffic_text(request.traffic);
    return file.empty() ? chosen(request.plan.pattern, patterns) : file;
}

constexpr Option building_rows[] = {
    {.name = "pattern",
     .syntax = "distribute|build|FORM:NAME",
     .help = "one producer's, all's; or of a matrix, sequence, trace",
     .default_value = "distribute",
     .value = {set_pattern, pattern_in_force}},
    {.name = "destination",
     .syntax = "any|addressed",
     .help = "an event may go to any consumer, or has its own",
     .default_value = "any",
     .value = as::word<&RunRequest::addressed, destinations>},
    {.name = "initiation",
     .syntax = "push|pull",
     .help = "the scheduler tells producers to send, or consumers to ask",
     .default_value = "push",
     .value = as::word<&Plan::initiation, initiations>},
    {.name = "order",
     .syntax = "assigned|barrel",
     .help = "as assigned, or in turn, each starting at another rank",
     .default_value = "assigned",
     .value = as::word<&Plan::order, orders>},
    {.name = "requests",
     .syntax = "N",
     .help = "pull: fragments that a consumer requests at a time",
     .default_value = "32",
     .value = {
         [](RunRequest& r, Text text) { r.plan.requests = count(text, 1, requests_limit); },
         [](const RunRequest& r) { return r.plan.pulls() ? count_text(r.plan.requests) : std::string{}; }}},
    {.name = "outstanding",
     .syntax = "N",
     .help = "build: events assigned and not finished, in total",
     .default_text = "as slots allow",
     .value = as::number<&Plan::assigned_events, 1, outstanding_limit>},
    {.name = "high-water",
     .syntax = "N",
     .help = "a consumer that holds N events gives no more credits",
     .default_text = "never",
     .value = as::number<&Plan::high_water, 1, slots_limit>},
    {.name = "low-water",
     .syntax = "N",
     .help = "until it holds at most N again",
     .default_text = "9/10 of --high-water",
     .value = {[](RunRequest& r, Text text) { r.plan.low_water = count(text, 0, slots_limit); },
               [](const RunRequest& r) {
                   return r.plan.high_water > 0 ? fmt::format("{}", r.plan.low_water) : std::string{};
               }}},
    {.name = "fragment-timeout",
     .syntax = "TIME",
     .help = "datagram: how long the rest of a sent fragment may take",
     .default_value = "50ms",
     .value = {[](RunRequest& r, Text text) {
                   r.plan.fragment_timeout =
                       bounded(text, core::Duration::microseconds(100), core::Duration::seconds(60));
               },
               [](const RunRequest& r) {
                   return r.plan.lossy() ? to_text(r.plan.fragment_timeout) : std::string{};
               }}},
    {.name = "reasks",
     .syntax = "N",
     .help = "datagram: how often a fragment is requested again",
     .default_value = "0",
     .value = {[](RunRequest& r, Text text) { r.plan.reasks = count(text, 0, reasks_limit); },
               [](const RunRequest& r) {
                   return r.plan.lossy() ? fmt::format("{}", r.plan.reasks) : std::string{};
               }}},
};

}  // namespace

std::span<const Option> building_options() {
    return building_rows;
}

}  // namespace weir::config
