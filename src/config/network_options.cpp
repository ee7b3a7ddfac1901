// Options of the group "network": what a simulation assumes.
#include "config/fabric.hpp"
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
    {"network", "fluid|packet", "model of the network", preset("fluid"),
     as::word<&NetworkPlan::model, models>, kept_when_shrunk},
    {"producer-link", "RATE[,...]", "speed of a producer's link each way (100Gb/s,0-3=25Gb/s)",
     preset("100Gb/s"), links<&NetworkPlan::producer_link, &NetworkPlan::own_producer_links>,
     kept_when_shrunk},
    {"consumer-link", "RATE[,...]", "speed of a consumer's link each way (100Gb/s,0-3=25Gb/s)",
     preset("100Gb/s"), links<&NetworkPlan::consumer_link, &NetworkPlan::own_consumer_links>,
     kept_when_shrunk},
    {"framing", "roce|tcp|none", "protocol headers that go with the payload", preset("roce"),
     as::word<&NetworkPlan::framing, framings>},
    {"mtu", "SIZE", "RoCE: payload of a packet; tcp: IP packet", derived("roce 4096B, tcp 1500B"),
     as::quantity<&NetworkPlan::mtu, Bytes{256}, Bytes{65536}>},
    {"packet-overhead", "SIZE", "headers, preamble and gap of each packet", derived("roce 82B, tcp 90B"),
     as::quantity<&NetworkPlan::packet_overhead, Bytes{0}, Bytes{1024}>},
    {"port-buffer", "SIZE", "datagram, plain switch: room for a port; the rest is lost", preset("512KiB"),
     as::size<&NetworkPlan::port_buffer>},
    {"latency", "TIME", "one-way delay of a message, hosts and switch together", preset("5us"),
     as::quantity<&NetworkPlan::latency, Duration{0}, Duration::seconds(1)>},
    {"scheduler-time", "TIME", "time that the scheduler needs for each message", preset("1us"),
     as::quantity<&NetworkPlan::scheduler_time, Duration{0}, Duration::seconds(1)>},
    {"fault", "FAULT", "a disturbance, as listed below; repeatable", unset, as::texts<&RunRequest::faults>,
     repeatable},
};

}  // namespace

constinit const std::span<const Option> network_options = network_rows;

}  // namespace weir::config
