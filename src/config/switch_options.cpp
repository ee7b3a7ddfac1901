// Options of the group "switch": what a simulation with the model `packet` assumes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/option_rows.hpp"
#include "config/switch_keys.hpp"

namespace weir::config {

namespace {

constexpr Choice<bool> on_off[] = {{"on", true}, {"off", false}};
constexpr Choice<bool> control_networks[] = {{"shared", false}, {"separate", true}};

/// Options of the packet network have no value in another one.
std::string packet_value(const RunRequest& request, const std::string& value) {
    return request.network.model == core::NetworkModel::packet ? value : std::string{};
}

/// A fluid may have a fabric, too.
std::string fabric_value(const RunRequest& request, const std::string& value) {
    return core::has_fabric(request.network) ? value : std::string{};
}

constexpr Option switch_rows[] = {
    {"switch", "NAME|FILE", "the switch: see below, or a file.toml", derived("shallow; datagrams plain"),
     own([](RunRequest& r, Text text) { r.packets.switch_name = text; },
         [](const RunRequest& r) { return fabric_value(r, r.packets.switch_name); })},
    {"switch-set", "KEY=VALUE", "one key of it: ecn.none-below=50kB; repeatable", unset,
     own(
         [](RunRequest& r, Text text) {
             SwitchDescription unused;  // refuses the key or its value here, under the option's name
             set_key(unused, text);
             r.packets.keys.emplace_back(text);
         },
         [](const RunRequest& r) {
             return fabric_value(r, fmt::format("{}", fmt::join(r.packets.keys, " ")));
         }),
     repeatable},
    {"pfc", "on|off", "priority flow control for data", derived("off"),
     own([](RunRequest& r, Text text) { r.packets.pfc = choose(text, on_off); },
         [](const RunRequest& r) { return packet_value(r, chosen(r.switches.pfc, on_off)); })},
    {"ecn", "on|off", "switch marks, NICs do DCQCN; tcp: ECN", derived("off"),
     own([](RunRequest& r, Text text) { r.packets.ecn = choose(text, on_off); },
         [](const RunRequest& r) {
             return packet_value(r, chosen(r.switches.fabric.switches.ecn.on, on_off));
         })},
    {"loss-recovery", "go-back-n|selective", "what a NIC sends again after a loss", derived("go-back-n"),
     own([](RunRequest& r, Text text) { r.packets.recovery = choose(text, loss_recoveries); },
         [](const RunRequest& r) {
             return packet_value(r, chosen(r.switches.fabric.nics.recovery, loss_recoveries));
         })},
    {"control-priority", "data|own|0..7", "class of grants; own: strictly above data", derived("data"),
     own([](RunRequest& r, Text text) { r.packets.control = parse_class(text); },
         [](const RunRequest& r) { return packet_value(r, r.switches.control); }),
     0, "data|own"},
    {"control-network", "shared|separate", "control messages: on data links or not",
     derived("shared; datagrams separate"),
     own([](RunRequest& r, Text text) { r.packets.separate_control = choose(text, control_networks); },
         [](const RunRequest& r) {
             return packet_value(r, chosen(r.network.separate_control, control_networks));
         })},
    {"switch-rows", "TIME", "length of the rows in switch/NAME.csv", derived("1s; short runs: 50 rows"),
     own(
         [](RunRequest& r, Text text) {
             r.packets.row_length =
                 bounded(text, core::Duration::microseconds(10), core::Duration::seconds(1));
         },
         [](const RunRequest& r) { return packet_value(r, to_text(r.packets.row_length)); })},
};

}  // namespace

constinit const std::span<const Option> switch_options = switch_rows;

}  // namespace weir::config
