#include "rig.hpp"

#include <utility>

namespace weir::switch_model {

core::NicPlan plain_nic() {
    core::NicPlan nic;
    nic.payload = {1000};
    nic.overhead = {0};
    nic.ack_priority = nic.cnp_priority = urgent;
    nic.strict = core::mask_of(urgent);
    return nic;
}

core::SwitchPlan plain_switch() {
    core::SwitchPlan settings;
    settings.pool = {giga};
    settings.strict = core::mask_of(urgent);
    return settings;
}

Rig::Rig(packet::Topology topology, const core::SwitchPlan& switches, const core::NicPlan& nics,
         const core::TcpPlan& tcp, std::uint64_t seed)
    : topology_(std::move(topology)),
      network_({.topology = topology_, .switches = switches, .nics = nics, .tcp = tcp, .seed = seed}) {}

Rig::Rig(std::uint32_t hosts, std::int64_t rate, core::Duration loop, const core::SwitchPlan& switches,
         const core::NicPlan& nics, const core::TcpPlan& tcp, std::uint64_t seed)
    : Rig(packet::star(std::vector<core::BitRate>(hosts, {rate}), {loop.ns / 4}), switches, nics, tcp, seed) {
}

FlowIndex Rig::stream(std::uint32_t from, std::uint32_t to, Picoseconds begin,
                      PacketNetwork::Protocol protocol) {
    const FlowIndex flow = network_.connect({from}, {to}, 0, protocol);
    network_.post(begin, flow, 0, endless);
    return flow;
}

void Rig::run_to(Picoseconds until) {
    while (network_.next_time() <= until) {
        network_.advance(until);
    }
}

std::vector<double> arrivals(Rig& rig, const std::vector<FlowIndex>& flows, Picoseconds until) {
    std::vector<double> packets;
    packets.reserve(flows.size());
    for (const FlowIndex flow : flows) {
        packets.push_back(-rig.arrived(flow));
    }
    rig.run_to(until);
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
        packets[flow] += rig.arrived(flows[flow]);
    }
    return packets;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

double fairness_index(const std::vector<double>& values) {
    double sum = 0;
    double squares = 0;
    for (const double value : values) {
        sum += value;
        squares += value * value;
    }
    return sum * sum / (squares * static_cast<double>(values.size()));
}

}  // namespace weir::switch_model
