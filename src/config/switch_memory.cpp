#include "config/switch_memory.hpp"

#include <fmt/format.h>

#include "config/quantities.hpp"
#include "config/usage_error.hpp"
#include "core/switch_memory.hpp"

namespace weir::config {

namespace {

using core::BitRate;
using core::Bytes;

constexpr Bytes pause_frame{84};

}  // namespace

Bytes full_packet(const core::NetworkPlan& network) {
    const core::PacketShape shape = core::packet_shape(network);
    return {shape.payload + shape.overhead};
}

Bytes largest_headroom(const RunRequest& request) {
    return core::largest_headroom(request.network, request.plan.producers, request.plan.consumers);
}

Bytes pause_takes(const core::NetworkPlan& network, BitRate rate) {
    const core::Duration both_ways = network.latency;  // twice that of a cable, which is half of it
    const auto on_the_way =
        static_cast<core::WideInteger>(rate.bits_per_second) * both_ways.ns / 8'000'000'000;
    return Bytes{static_cast<std::int64_t>(on_the_way)} + full_packet(network) * 2 + pause_frame;
}

void check_headroom(const RunRequest& request) {
    const core::FabricPlan& fabric = request.network.fabric;
    const bool pauses = fabric.switches.lossless != 0 || fabric.switches.pauses_whole_links;
    if (request.network.model != core::NetworkModel::packet || !pauses) {
        return;
    }
    const Bytes headroom = largest_headroom(request);
    if (headroom >= fabric.switches.pool) {
        throw UsageError(
            fmt::format("--switch: {}: [switch] headroom: {} for a port of 100Gb/s are {} for all ports of a "
                        "switch, and its "
                        "pool has {}; make headroom smaller, or pool larger",
                        request.packets.switch_name, to_text(fabric.switches.headroom_at_100g),
                        rounded_text(headroom), to_text(fabric.switches.pool)));
    }
}

}  // namespace weir::config
