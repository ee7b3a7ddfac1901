#include "config/network_option_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/option_values.hpp"

namespace weir::config {

namespace {

constexpr Choice<core::Framing> framings[] = {
    {"roce", core::Framing::roce}, {"tcp", core::Framing::tcp}, {"none", core::Framing::none}};

core::BitRate link_speed(Text text) {
    return bounded(parse_rate(text), core::BitRate{1000}, fastest_rate);
}

const Option network_rows[] = {
    {.name = "producer-link",
     .group = OptionGroup::network,
     .syntax = "RATE",
     .help = "speed of a producer's link, each direction",
     .fallback = "100Gb/s",
     .initial = "100Gb/s",
     .set = [](RunRequest& r, Text text) { r.network.producer_link = link_speed(text); },
     .get = [](const RunRequest& r) { return to_text(r.network.producer_link); }},
    {.name = "consumer-link",
     .group = OptionGroup::network,
     .syntax = "RATE",
     .help = "speed of a consumer's link, each direction",
     .fallback = "100Gb/s",
     .initial = "100Gb/s",
     .set = [](RunRequest& r, Text text) { r.network.consumer_link = link_speed(text); },
     .get = [](const RunRequest& r) { return to_text(r.network.consumer_link); }},
    {.name = "framing",
     .group = OptionGroup::network,
     .syntax = "roce|tcp|none",
     .help = "headers that go with the payload",
     .fallback = "roce",
     .initial = "roce",
     .set = [](RunRequest& r, Text text) { r.network.framing = choose(text, framings); },
     .get = [](const RunRequest& r) { return chosen(r.network.framing, framings); }},
    {.name = "mtu",
     .group = OptionGroup::network,
     .syntax = "SIZE",
     .help = "RoCE: payload of a packet; tcp: IP packet",
     .fallback = "roce 4096B, tcp 1500B",
     .set =
         [](RunRequest& r, Text text) {
             r.network.mtu = bounded(parse_bytes(text), core::Bytes{256}, core::Bytes{65536});
         },
     .get = [](const RunRequest& r) { return to_text(r.network.mtu); }},
    {.name = "port-buffer",
     .group = OptionGroup::network,
     .syntax = "SIZE",
     .help = "datagram: what the switch holds for a consumer",
     .fallback = "512KiB",
     .initial = "512KiB",
     .set = [](RunRequest& r, Text text) { r.network.port_buffer = some_bytes(text); },
     .get = [](const RunRequest& r) { return to_text(r.network.port_buffer); }},
    {.name = "latency",
     .group = OptionGroup::network,
     .syntax = "TIME",
     .help = "of a message, one way, hosts and switch together",
     .fallback = "5us",
     .initial = "5us",
     .set =
         [](RunRequest& r, Text text) {
             r.network.latency = some_time(text, core::Duration{0}, core::Duration::seconds(1));
         },
     .get = [](const RunRequest& r) { return to_text(r.network.latency); }},
    {.name = "scheduler-time",
     .group = OptionGroup::network,
     .syntax = "TIME",
     .help = "that the scheduler takes for each message",
     .fallback = "1us",
     .initial = "1us",
     .set =
         [](RunRequest& r, Text text) {
             r.network.scheduler_time = some_time(text, core::Duration{0}, core::Duration::seconds(1));
         },
     .get = [](const RunRequest& r) { return to_text(r.network.scheduler_time); }},
    {.name = "fault",
     .group = OptionGroup::network,
     .syntax = "FAULT",
     .help = "something that goes wrong; repeatable",
     .fallback = "none",
     .set = [](RunRequest& r, Text text) { r.faults.emplace_back(text); },
     .get = [](const RunRequest& r) { return fmt::format("{}", fmt::join(r.faults, " ")); },
     .repeatable = true},
};

}  // namespace

std::span<const Option> network_option_rows() {
    return network_rows;
}

}  // namespace weir::config
