// Options of the group "network": what a simulation assumes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/link_speeds.hpp"
#include "config/option_table.hpp"
#include "config/option_values.hpp"

namespace weir::config {

namespace {

constexpr Choice<core::Framing> framings[] = {
    {"roce", core::Framing::roce}, {"tcp", core::Framing::tcp}, {"none", core::Framing::none}};

constexpr Choice<core::NetworkModel> models[] = {{"fluid", core::NetworkModel::fluid},
                                                 {"packet", core::NetworkModel::packet}};

constexpr Option network_rows[] = {
    {.name = "network",
     .syntax = "fluid|packet",
     .help = "model of the network",
     .default_value = "fluid",
     .set = [](RunRequest& r, Text text) { r.network.model = choose(text, models); },
     .get = [](const RunRequest& r) { return chosen(r.network.model, models); },
     .kept_when_shrunk = true},
    {.name = "producer-link",
     .syntax = "RATE[,...]",
     .help = "speed of a producer's link each way (100Gb/s,0-3=25Gb/s)",
     .default_value = "100Gb/s",
     .set = [](RunRequest& r,
               Text text) { parse_link_speeds(text, r.network.producer_link, r.network.own_producer_links); },
     .get =
         [](const RunRequest& r) {
             return link_speeds_text(r.network.producer_link, r.network.own_producer_links);
         },
     .kept_when_shrunk = true},
    {.name = "consumer-link",
     .syntax = "RATE[,...]",
     .help = "speed of a consumer's link each way (100Gb/s,0-3=25Gb/s)",
     .default_value = "100Gb/s",
     .set = [](RunRequest& r,
               Text text) { parse_link_speeds(text, r.network.consumer_link, r.network.own_consumer_links); },
     .get =
         [](const RunRequest& r) {
             return link_speeds_text(r.network.consumer_link, r.network.own_consumer_links);
         },
     .kept_when_shrunk = true},
    {.name = "framing",
     .syntax = "roce|tcp|none",
     .help = "protocol headers that go with the payload",
     .default_value = "roce",
     .set = [](RunRequest& r, Text text) { r.network.framing = choose(text, framings); },
     .get = [](const RunRequest& r) { return chosen(r.network.framing, framings); }},
    {.name = "mtu",
     .syntax = "SIZE",
     .help = "RoCE: payload of a packet; tcp: IP packet",
     .default_text = "roce 4096B, tcp 1500B",
     .set =
         [](RunRequest& r, Text text) {
             r.network.mtu = bounded(parse_bytes, text, core::Bytes{256}, core::Bytes{65536});
         },
     .get = [](const RunRequest& r) { return to_text(r.network.mtu); }},
    {.name = "packet-overhead",
     .syntax = "SIZE",
     .help = "headers, preamble and gap of each packet",
     .default_text = "roce 82B, tcp 90B",
     .set =
         [](RunRequest& r, Text text) {
             r.network.packet_overhead = bounded(parse_bytes, text, core::Bytes{0}, core::Bytes{1024});
         },
     .get =
         [](const RunRequest& r) {
             return r.network.packet_overhead ? to_text(*r.network.packet_overhead) : std::string{};
         }},
    {.name = "port-buffer",
     .syntax = "SIZE",
     .help = "datagram, plain switch: room for a port; the rest is lost",
     .default_value = "512KiB",
     .set = [](RunRequest& r, Text text) { r.network.port_buffer = some_bytes(text); },
     .get = [](const RunRequest& r) { return to_text(r.network.port_buffer); }},
    {.name = "latency",
     .syntax = "TIME",
     .help = "one-way delay of a message, hosts and switch together",
     .default_value = "5us",
     .set =
         [](RunRequest& r, Text text) {
             r.network.latency = some_time(text, core::Duration{0}, core::Duration::seconds(1));
         },
     .get = [](const RunRequest& r) { return to_text(r.network.latency); }},
    {.name = "scheduler-time",
     .syntax = "TIME",
     .help = "time that the scheduler needs for each message",
     .default_value = "1us",
     .set =
         [](RunRequest& r, Text text) {
             r.network.scheduler_time = some_time(text, core::Duration{0}, core::Duration::seconds(1));
         },
     .get = [](const RunRequest& r) { return to_text(r.network.scheduler_time); }},
    {.name = "fault",
     .syntax = "FAULT",
     .help = "a disturbance, as listed below; repeatable",
     .set = [](RunRequest& r, Text text) { r.faults.emplace_back(text); },
     .get = [](const RunRequest& r) { return fmt::format("{}", fmt::join(r.faults, " ")); },
     .repeatable = true},
};

}  // namespace

std::span<const Option> network_options() {
    return network_rows;
}

}  // namespace weir::config
