#include "config/building_option_rows.hpp"

#include <fmt/format.h>

#include "config/limits.hpp"
#include "config/option_values.hpp"

namespace weir::config {

namespace {

constexpr Choice<core::Pattern> patterns[] = {{"distribute", core::Pattern::distribute},
                                              {"build", core::Pattern::build}};
constexpr Choice<core::Initiation> initiations[] = {{"push", core::Initiation::push},
                                                    {"pull", core::Initiation::pull}};
constexpr Choice<core::SendOrder> orders[] = {{"assigned", core::SendOrder::assigned},
                                              {"barrel", core::SendOrder::barrel}};

const Option building_rows[] = {
    {.name = "pattern",
     .group = OptionGroup::building,
     .syntax = "distribute|build",
     .help = "an event is one producer's, or has a fragment of each",
     .fallback = "distribute",
     .initial = "distribute",
     .set = [](RunRequest& r, Text text) { r.plan.pattern = choose(text, patterns); },
     .get = [](const RunRequest& r) { return chosen(r.plan.pattern, patterns); }},
    {.name = "initiation",
     .group = OptionGroup::building,
     .syntax = "push|pull",
     .help = "producers are told to send, or consumers to ask for it",
     .fallback = "push",
     .initial = "push",
     .set = [](RunRequest& r, Text text) { r.plan.initiation = choose(text, initiations); },
     .get = [](const RunRequest& r) { return chosen(r.plan.initiation, initiations); }},
    {.name = "order",
     .group = OptionGroup::building,
     .syntax = "assigned|barrel",
     .help = "serve as assigned, or in turn, each rank from another on",
     .fallback = "assigned",
     .initial = "assigned",
     .set = [](RunRequest& r, Text text) { r.plan.order = choose(text, orders); },
     .get = [](const RunRequest& r) { return chosen(r.plan.order, orders); }},
    {.name = "requests",
     .group = OptionGroup::building,
     .syntax = "N",
     .help = "pull: fragments that a consumer asks for at a time",
     .fallback = "32",
     .initial = "32",
     .set = [](RunRequest& r, Text text) { r.plan.requests = count(text, 1, requests_limit); },
     .get =
         [](const RunRequest& r) {
             return r.plan.initiation == core::Initiation::pull ? count_text(r.plan.requests) : std::string{};
         }},
    {.name = "outstanding",
     .group = OptionGroup::building,
     .syntax = "N",
     .help = "build: events assigned and not finished, in all",
     .fallback = "as slots allow",
     .set = [](RunRequest& r, Text text) { r.plan.assigned_events = count(text, 1, outstanding_limit); },
     .get = [](const RunRequest& r) { return count_text(r.plan.assigned_events); }},
    {.name = "high-water",
     .group = OptionGroup::building,
     .syntax = "N",
     .help = "a consumer that holds N events gives no more credits",
     .fallback = "never",
     .set = [](RunRequest& r, Text text) { r.plan.high_water = count(text, 1, slots_limit); },
     .get = [](const RunRequest& r) { return count_text(r.plan.high_water); }},
    {.name = "low-water",
     .group = OptionGroup::building,
     .syntax = "N",
     .help = "until it holds no more than this",
     .fallback = "nine tenths of it",
     .set = [](RunRequest& r, Text text) { r.plan.low_water = count(text, 0, slots_limit); },
     .get =
         [](const RunRequest& r) {
             return r.plan.high_water > 0 ? fmt::format("{}", r.plan.low_water) : std::string{};
         }},
    {.name = "fragment-timeout",
     .group = OptionGroup::building,
     .syntax = "TIME",
     .help = "datagram: how long the rest of a sent fragment may take",
     .fallback = "50ms",
     .initial = "50ms",
     .set =
         [](RunRequest& r, Text text) {
             r.plan.fragment_timeout =
                 some_time(text, core::Duration::microseconds(100), core::Duration::seconds(60));
         },
     .get =
         [](const RunRequest& r) {
             return r.plan.lossy() ? to_text(r.plan.fragment_timeout) : std::string{};
         }},
    {.name = "reasks",
     .group = OptionGroup::building,
     .syntax = "N",
     .help = "datagram: how often to ask for it again before giving up",
     .fallback = "0",
     .initial = "0",
     .set = [](RunRequest& r, Text text) { r.plan.reasks = count(text, 0, reasks_limit); },
     .get =
         [](const RunRequest& r) {
             return r.plan.lossy() ? fmt::format("{}", r.plan.reasks) : std::string{};
         }},
};

}  // namespace

std::span<const Option> building_option_rows() {
    return building_rows;
}

}  // namespace weir::config
