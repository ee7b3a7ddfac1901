// Options of the group "network": what a simulation assumes.
#include "config/link_speeds.hpp"
#include "config/option_rows.hpp"

namespace weir::config {

namespace {

constexpr Choice<core::Framing> framings[] = {
    {"roce", core::Framing::roce}, {"tcp", core::Framing::tcp}, {"none", core::Framing::none}};

constexpr Choice<core::NetworkModel> models[] = {{"fluid", core::NetworkModel::fluid},
                                                 {"packet", core::NetworkModel::packet}};

template <auto usual, auto own>
constexpr OptionValue links{
    [](RunRequest& r, Text text) { parse_link_speeds(text, r.network.*usual, r.network.*own); },
    [](const RunRequest& r) { return link_speeds_text(r.network.*usual, r.network.*own); }};

constexpr Option network_rows[] = {
    {.name = "network",
     .syntax = "fluid|packet",
     .help = "model of the network",
     .default_value = "fluid",
     .value = as::word<&NetworkPlan::model, models>,
     .kept_when_shrunk = true},
    {.name = "producer-link",
     .syntax = "RATE[,...]",
     .help = "speed of a producer's link each way (100Gb/s,0-3=25Gb/s)",
     .default_value = "100Gb/s",
     .value = links<&NetworkPlan::producer_link, &NetworkPlan::own_producer_links>,
     .kept_when_shrunk = true},
    {.name = "consumer-link",
     .syntax = "RATE[,...]",
     .help = "speed of a consumer's link each way (100Gb/s,0-3=25Gb/s)",
     .default_value = "100Gb/s",
     .value = links<&NetworkPlan::consumer_link, &NetworkPlan::own_consumer_links>,
     .kept_when_shrunk = true},
    {.name = "framing",
     .syntax = "roce|tcp|none",
     .help = "protocol headers that go with the payload",
     .default_value = "roce",
     .value = as::word<&NetworkPlan::framing, framings>},
    {.name = "mtu",
     .syntax = "SIZE",
     .help = "RoCE: payload of a packet; tcp: IP packet",
     .default_text = "roce 4096B, tcp 1500B",
     .value = as::quantity<&NetworkPlan::mtu, Bytes{256}, Bytes{65536}>},
    {.name = "packet-overhead",
     .syntax = "SIZE",
     .help = "headers, preamble and gap of each packet",
     .default_text = "roce 82B, tcp 90B",
     .value = as::quantity<&NetworkPlan::packet_overhead, Bytes{0}, Bytes{1024}>},
    {.name = "port-buffer",
     .syntax = "SIZE",
     .help = "datagram, plain switch: room for a port; the rest is lost",
     .default_value = "512KiB",
     .value = as::size<&NetworkPlan::port_buffer>},
    {.name = "latency",
     .syntax = "TIME",
     .help = "one-way delay of a message, hosts and switch together",
     .default_value = "5us",
     .value = as::quantity<&NetworkPlan::latency, Duration{0}, Duration::seconds(1)>},
    {.name = "scheduler-time",
     .syntax = "TIME",
     .help = "time that the scheduler needs for each message",
     .default_value = "1us",
     .value = as::quantity<&NetworkPlan::scheduler_time, Duration{0}, Duration::seconds(1)>},
    {.name = "fault",
     .syntax = "FAULT",
     .help = "a disturbance, as listed below; repeatable",
     .value = as::texts<&RunRequest::faults>,
     .repeatable = true},
};

}  // namespace

std::span<const Option> network_options() {
    return network_rows;
}

}  // namespace weir::config
