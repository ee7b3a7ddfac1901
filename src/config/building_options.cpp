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
    {"pattern", "distribute|build|FORM:NAME", "one producer's, all's; or of a matrix, sequence, trace",
     preset("distribute"), own(set_pattern, pattern_in_force)},
    {"destination", "any|addressed", "an event may go to any consumer, or has its own", preset("any"),
     as::word<&RunRequest::addressed, destinations>},
    {"initiation", "push|pull", "the scheduler tells producers to send, or consumers to ask", preset("push"),
     as::word<&Plan::initiation, initiations>},
    {"order", "assigned|barrel", "as assigned, or in turn, each starting at another rank", preset("assigned"),
     as::word<&Plan::order, orders>},
    {"requests", "N", "pull: fragments that a consumer requests at a time", preset("32"),
     own([](RunRequest& r, Text text) { r.plan.requests = count(text, 1, requests_limit); },
         [](const RunRequest& r) { return r.plan.pulls() ? count_text(r.plan.requests) : std::string{}; })},
    {"outstanding", "N", "build: events assigned and not finished, in total", derived("as slots allow"),
     as::number<&Plan::assigned_events, 1, outstanding_limit>},
    {"high-water", "N", "a consumer that holds N events gives no more credits", derived("never"),
     as::number<&Plan::high_water, 1, slots_limit>},
    {"low-water", "N", "until it holds at most N again", derived("9/10 of --high-water"),
     own([](RunRequest& r, Text text) { r.plan.low_water = count(text, 0, slots_limit); },
         [](const RunRequest& r) {
             return r.plan.high_water > 0 ? fmt::format("{}", r.plan.low_water) : std::string{};
         })},
    {"fragment-timeout", "TIME", "datagram: how long the rest of a sent fragment may take", preset("50ms"),
     own(
         [](RunRequest& r, Text text) {
             r.plan.fragment_timeout =
                 bounded(text, core::Duration::microseconds(100), core::Duration::seconds(60));
         },
         [](const RunRequest& r) {
             return r.plan.lossy() ? to_text(r.plan.fragment_timeout) : std::string{};
         })},
    {"reasks", "N", "datagram: how often a fragment is requested again", preset("0"),
     own([](RunRequest& r, Text text) { r.plan.reasks = count(text, 0, reasks_limit); },
         [](const RunRequest& r) {
             return r.plan.lossy() ? fmt::format("{}", r.plan.reasks) : std::string{};
         })},
};

}  // namespace

constinit const std::span<const Option> building_options = building_rows;

}  // namespace weir::config
