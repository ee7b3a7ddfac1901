#include "config/derive_packets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/quantities.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

namespace {

using core::FabricPlan;
using core::Priority;

/// A jumbo frame; longer ones are not in use on Ethernet.
constexpr core::Bytes longest_mtu{9216};

/// Vendors recommend it for messages that must not wait, such as CNPs.
constexpr Priority usual_own_priority = 6;

void refuse_options(const RunRequest& request) {
    for (const char* option : {"switch", "pfc", "ecn", "loss-recovery", "control-priority"}) {
        if (request.given(option) && request.origin(option) >= request.origin("network")) {
            throw UsageError(fmt::format("--{}: needs --network packet", option));
        }
    }
}

void set_control_class(FabricPlan& fabric, const std::string& control) {
    if (control == "data") {
        fabric.control_priority = fabric.data_priority;
    } else if (control == "own") {
        constexpr Priority highest = core::priority_count - 1;
        if (fabric.data_priority == highest) {
            throw UsageError("--control-priority: own is above data, which has the highest priority, 7");
        }
        fabric.control_priority = std::max<Priority>(usual_own_priority, fabric.data_priority + 1);
        fabric.switches.strict |= core::mask_of(fabric.control_priority);
        fabric.nics.strict |= core::mask_of(fabric.control_priority);
    } else {
        fabric.control_priority = static_cast<Priority>(parse_count(control, 0, core::priority_count - 1));
    }
}

/// A full packet must fit: it would be lost however often it was sent.
void check_port_buffer(const core::NetworkPlan& network) {
    const core::PacketShape shape = core::packet_shape(network.framing, network.mtu);
    const core::Bytes packet{network.framing == core::Framing::none ? network.mtu.count
                                                                    : shape.payload + shape.overhead};
    if (network.port_buffer < packet) {
        throw UsageError(
            fmt::format("--port-buffer: {} is less than a packet of {} (--mtu {}); make it larger",
                        to_text(network.port_buffer), to_text(packet), to_text(network.mtu)));
    }
}

/// The memory of ports that share none.
void set_drop_tail(FabricPlan& fabric, core::Bytes port_buffer) {
    fabric.switches.pool = {std::int64_t{1} << 50};
    fabric.switches.egress_threshold = port_buffer;
}
/// Time-outs of TCP connections and queue pairs double up to a minute.
constexpr core::Duration longest_recovery = core::Duration::seconds(120);

}  // namespace

void derive_packets(RunRequest& request) {
    PacketOptions& options = request.packets;
    if (request.network.model != core::NetworkModel::packet) {
        refuse_options(request);
        options = {};
        return;
    }
    if (request.plan.lossy()) {
        throw UsageError(
            "--network: the model packet has no datagrams yet; use --network fluid or another --transport");
    }
    if (request.network.mtu > longest_mtu) {
        throw UsageError(
            fmt::format("--mtu: {} is more than the {} that a packet may carry with --network packet",
                        to_text(request.network.mtu), to_text(longest_mtu)));
    }
    SwitchDescription description;
    try {
        description = load_switch(options.switch_name);
    } catch (const UsageError& error) {
        throw UsageError(std::string("--switch: ") + error.what(), error.reach());
    }
    FabricPlan fabric = description.fabric;
    options.pfc = options.pfc.value_or(description.pfc);
    options.ecn = options.ecn.value_or(fabric.switches.ecn.on);
    options.recovery = options.recovery.value_or(fabric.nics.recovery);
    if (options.control.empty()) {
        options.control = description.control;
    }
    set_control_class(fabric, options.control);
    if (description.drop_tail) {
        if (*options.pfc) {
            throw UsageError(
                "--pfc: ports that share no memory pause nobody; use another --switch, for example shallow");
        }
        check_port_buffer(request.network);
        set_drop_tail(fabric, request.network.port_buffer);
    }
    fabric.switches.lossless = *options.pfc ? core::mask_of(fabric.data_priority) : core::PriorityMask{0};
    fabric.switches.ecn.on = fabric.nics.dcqcn.on = fabric.tcp.ecn = *options.ecn;
    fabric.nics.recovery = *options.recovery;
    request.network.fabric = fabric;
    request.plan.recovery_time = longest_recovery;
}

}  // namespace weir::config
