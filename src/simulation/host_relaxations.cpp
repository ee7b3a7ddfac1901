// What receiving hosts of a simulated network may have more room for.
#include <fmt/format.h>

#include <cstdint>

#include "core/switch_plan.hpp"
#include "files/formatting.hpp"
#include "simulation/relaxations.hpp"

namespace weir::simulation {

namespace {

using judge::CauseKind;

Relaxation larger_ring(const core::HostPlan& hosts) {
    Relaxation relaxation{.what = CauseKind::host_loss, .where = {}, .steps = {}};
    for (const std::uint32_t factor : {2U, 4U, 16U, 64U}) {
        const std::uint32_t wanted = hosts.ring_packets * factor;
        relaxation.steps.push_back(
            {[wanted](SimulatedRun& changed) { changed.network.fabric.hosts.ring_packets = wanted; },
             fmt::format("with room for {} packets in the receive rings of hosts instead of {}", wanted,
                         hosts.ring_packets),
             fmt::format("receive rings of {} packets on hosts (switch file: [host] ring-packets)", wanted)});
    }
    return relaxation;
}

Relaxation larger_sockets(const core::HostPlan& hosts) {
    Relaxation relaxation{.what = CauseKind::host_loss, .where = {}, .steps = {}};
    for (const std::int64_t factor : {2, 4, 16, 64}) {
        const core::Bytes wanted = hosts.socket_buffer * factor;
        relaxation.steps.push_back(
            {[wanted](SimulatedRun& changed) { changed.network.fabric.hosts.socket_buffer = wanted; },
             fmt::format("with sockets that hold {} instead of {}", files::readable(wanted),
                         files::readable(hosts.socket_buffer)),
             fmt::format("sockets that hold {} (--socket-buffer)", files::readable(wanted))});
    }
    return relaxation;
}

}  // namespace

std::vector<Relaxation> host_relaxations(const core::HostPlan& hosts) {
    std::vector<Relaxation> table;
    const bool takes_time = hosts.receive_time.ns + hosts.interrupt_delay.ns > 0 ||
                            hosts.receive_rate.bits_per_second > 0;  // else no packet waits in a ring
    if (hosts.ring_packets > 0 && takes_time) {
        table.push_back(larger_ring(hosts));
    }
    if (hosts.socket_buffer.count > 0) {
        table.push_back(larger_sockets(hosts));
    }
    return table;
}

}  // namespace weir::simulation
