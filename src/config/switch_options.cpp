// Options of the group "switch": what a simulation with the model `packet` assumes.
#include <optional>

#include "config/option_rows.hpp"
#include "config/option_values.hpp"

namespace weir::config {

namespace {

constexpr Choice<bool> on_off[] = {{"on", true}, {"off", false}};
constexpr Choice<core::LossRecovery> recoveries[] = {{"go-back-n", core::LossRecovery::go_back_n},
                                                     {"selective", core::LossRecovery::selective}};

/// Options of the packet network have no value in another one.
std::string packet_value(const RunRequest& request, const std::string& value) {
    return request.network.model == core::NetworkModel::packet ? value : std::string{};
}
template <typename Value, typename Choices>
std::string packet_value(const RunRequest& request, const std::optional<Value>& value,
                         const Choices& choices) {
    return value ? packet_value(request, chosen(*value, choices)) : std::string{};
}

constexpr Option switch_rows[] = {
    {.name = "switch",
     .syntax = "NAME|FILE",
     .completions = "shallow|deep|plain",
     .help = "the switch: shallow, deep, plain",
     .default_text = "shallow",
     .set = [](RunRequest& r, Text text) { r.packets.switch_name = text; },
     .get = [](const RunRequest& r) { return packet_value(r, r.packets.switch_name); }},
    {.name = "pfc",
     .syntax = "on|off",
     .help = "priority flow control for data",
     .default_text = "off",
     .set = [](RunRequest& r, Text text) { r.packets.pfc = choose(text, on_off); },
     .get = [](const RunRequest& r) { return packet_value(r, r.packets.pfc, on_off); }},
    {.name = "ecn",
     .syntax = "on|off",
     .help = "switch marks, NICs do DCQCN; tcp: ECN",
     .default_text = "off",
     .set = [](RunRequest& r, Text text) { r.packets.ecn = choose(text, on_off); },
     .get = [](const RunRequest& r) { return packet_value(r, r.packets.ecn, on_off); }},
    {.name = "loss-recovery",
     .syntax = "go-back-n|selective",
     .help = "what a NIC sends again after a loss",
     .default_text = "go-back-n",
     .set = [](RunRequest& r, Text text) { r.packets.recovery = choose(text, recoveries); },
     .get = [](const RunRequest& r) { return packet_value(r, r.packets.recovery, recoveries); }},
    {.name = "control-priority",
     .syntax = "data|own|0..7",
     .completions = "data|own",
     .help = "class of grants; own: strictly above data",
     .default_text = "data",
     .set = [](RunRequest& r, Text text) { r.packets.control = parse_control_class(text); },
     .get = [](const RunRequest& r) { return packet_value(r, r.packets.control); }},
};

}  // namespace

std::span<const Option> switch_options() {
    return switch_rows;
}

}  // namespace weir::config
