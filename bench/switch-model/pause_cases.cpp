// PFC: shares, victims, a ring with and without deadlock, and what a test of switches demands.
#include <fmt/core.h>

#include <array>
#include <cmath>
#include <tuple>

#include "cases.hpp"
#include "rig.hpp"

namespace weir::switch_model {

namespace {

constexpr core::Duration loop = core::Duration::microseconds(4);

core::SwitchPlan pause_at_40_kb() {
    core::SwitchPlan switches = plain_switch();
    switches.lossless = 1;
    switches.pool = {100'000'000};
    switches.ingress_threshold = {40'000};
    switches.headroom_at_100g = {200'000};
    return switches;
}

/// Gb/s of each flow, from 5 to 25 ms.
std::vector<double> rates(Rig& rig, const std::vector<FlowIndex>& flows) {
    rig.run_to(millisecond * 5);
    std::vector<double> found = arrivals(rig, flows, millisecond * 25);
    for (double& rate : found) {
        rate *= 8000 / 0.02 / 1e9;
    }
    return found;
}

std::vector<Value> fairness(const std::vector<std::uint32_t>& flows_of_port) {
    const auto ports = static_cast<std::uint32_t>(flows_of_port.size());
    Rig rig(ports + 1, 40 * giga, loop, pause_at_40_kb(), plain_nic());
    std::vector<FlowIndex> flows;
    std::vector<double> expected;
    for (std::uint32_t port = 0; port < ports; ++port) {
        for (std::uint32_t flow = 0; flow < flows_of_port[port]; ++flow) {
            flows.push_back(rig.stream(port, ports));
            expected.push_back(40.0 / ports / flows_of_port[port]);
        }
    }
    const std::vector<double> found = rates(rig, flows);
    std::vector<Value> values;
    for (const std::size_t flow : {std::size_t{0}, flows.size() - 1}) {
        values.push_back({fmt::format("flow {}, Gb/s", flow), fmt::format("{:.2f}", expected[flow]), 'P',
                          expected[flow] * 0.98, expected[flow] * 1.02, found[flow]});
    }
    values.push_back(
        {"packets dropped", "0", 'P', 0, 0, static_cast<double>(rig.counts(Rig::down(ports)).dropped)});
    return values;
}

std::vector<Value> head_of_line(std::uint32_t others, double measured, double paused) {
    const std::uint32_t shared = others + 1;
    const std::uint32_t idle = others + 2;
    Rig rig(others + 3, 40 * giga, loop, pause_at_40_kb(), plain_nic());
    std::vector<FlowIndex> flows{rig.stream(0, idle), rig.stream(0, shared)};
    for (std::uint32_t other = 1; other <= others; ++other) {
        flows.push_back(rig.stream(other, shared));
    }
    const std::vector<double> found = rates(rig, flows);
    const double share = 40.0 / (others + 1);
    double into_shared = 0;
    for (std::size_t flow = 1; flow < found.size(); ++flow) {
        into_shared += found[flow];
    }
    return {{"victim, Gb/s", fmt::format("{:.2f}", measured), 'M', share * 0.85, share, found[0]},
            {"victim / its port-mate", "1", 'M', 0.97, 1.03, found[0] / found[1]},
            {"share of time that its link is paused", fmt::format("{:.2f}", paused), 'M', paused - 0.04,
             paused + 0.04, rig.counts(Rig::up(0)).paused.seconds() / 0.025},
            {"shared egress, of its rate", "full", 'M', 0.99, 1.0, into_shared / 40}};
}

/// Switches A, B, C, D in a ring. Flow 1: host at A to host at D by B and C; flow 2: C to B by D and A;
/// flow 3, of `third` Gb/s if above 0, between two further hosts at B and C.
struct RingResult {
    std::array<double, 2> rates{};   ///< of flows 1 and 2, Gb/s
    std::array<double, 4> paused{};  ///< ring links A-B, B-C, C-D, D-A: share of time
    double last_arrivals = 0;        ///< packets in the last 20 ms, all flows
    double first_queue_kb = 0;       ///< largest of flow 1 at B in the first 0.2 ms
};

RingResult run_ring(double third, core::Arbitration arbitration) {
    packet::Topology topology = packet::ring(std::vector<core::BitRate>(4, {40 * giga}), {40 * giga},
                                             core::Duration::microseconds(1));
    const auto switch_of = [](std::uint32_t position) { return packet::NodeIndex{4 + position % 4}; };
    const auto ring_link = [](std::uint32_t position) { return 2 * (4 + position % 4); };
    for (std::uint32_t hop = 0; hop < 3; ++hop) {
        topology.set_way(switch_of(hop), {3}, ring_link(hop));
        topology.set_way(switch_of(2 + hop), {1}, ring_link(2 + hop));
    }
    const packet::NodeIndex third_from = topology.add_host();
    const packet::NodeIndex third_to = topology.add_host();
    const std::int64_t third_rate = third > 0 ? static_cast<std::int64_t>(third * 1e9) : giga;
    topology.connect(third_from, switch_of(1), {third_rate}, core::Duration::microseconds(1));
    topology.connect(third_to, switch_of(2), {40 * giga}, core::Duration::microseconds(1));

    core::SwitchPlan switches = pause_at_40_kb();
    switches.arbitration = arbitration;
    Rig rig(topology, switches, plain_nic());
    std::vector<FlowIndex> flows{rig.stream(0, 3), rig.stream(2, 1)};
    if (third > 0) {
        flows.push_back(rig.stream(third_from.value, third_to.value));
    }
    RingResult result;
    rig.run_to(microsecond * 200);
    result.first_queue_kb = static_cast<double>(rig.counts(ring_link(1)).peak_queue_bytes) / 1e3;
    rig.run_to(millisecond * 10);
    const std::vector<double> packets = arrivals(rig, flows, millisecond * 60);
    for (std::size_t flow = 0; flow < 2; ++flow) {
        result.rates[flow] = packets[flow] * 8000 / 0.05 / 1e9;
    }
    for (std::uint32_t link = 0; link < 4; ++link) {
        result.paused[link] = rig.counts(ring_link(link)).paused.seconds() / 0.06;
    }
    for (const double count : arrivals(rig, flows, millisecond * 80)) {
        result.last_arrivals += count;
    }
    return result;
}

std::vector<Value> ring(core::Arbitration arbitration) {
    const RingResult found = run_ring(0, arbitration);
    return {{"flow A-B-C-D at B, largest queue of the first 0.2 ms, KB", "18", 'P', 18 * 0.8, 18 * 1.2,
             found.first_queue_kb},
            {"flow A-B-C-D, Gb/s", "20", 'P', 19.6, 20.4, found.rates[0]},
            {"flow C-D-A-B, Gb/s", "20", 'P', 19.6, 20.4, found.rates[1]},
            {"link B-C paused, share of time", "above 0", 'P', 0.05, 1, found.paused[1]},
            {"link D-A paused, share of time", "above 0", 'P', 0.05, 1, found.paused[3]},
            {"link A-B paused, share of time", "0", 'P', 0, 0, found.paused[0]},
            {"link C-D paused, share of time", "0", 'P', 0, 0, found.paused[2]}};
}

std::vector<Value> ring_with_third(double third, bool deadlock, core::Arbitration arbitration) {
    const RingResult found = run_ring(third, arbitration);
    return {{"packets that arrive from 60 to 80 ms, of all flows", deadlock ? "0: deadlock" : "no deadlock",
             'P', deadlock ? 0.0 : 50'000, deadlock ? 0.0 : 300'000, found.last_arrivals}};
}

/// sonic-mgmt's pass criteria for RoCE v2: three senders to one receiver.
std::vector<Value> three_to_one(bool dcqcn) {
    core::SwitchPlan switches;  // 16 MB shared, alpha 1/8
    switches.lossless = 1U << 3U;
    switches.strict = core::mask_of(urgent);
    switches.ecn.on = dcqcn;
    core::NicPlan nics;
    nics.ack_priority = nics.cnp_priority = urgent;
    nics.strict = core::mask_of(urgent);
    nics.dcqcn.on = dcqcn;
    packet::Topology topology =
        packet::star(std::vector<core::BitRate>(4, {100 * giga}), core::Duration::nanoseconds(500));
    Rig rig(topology, switches, nics);
    PacketNetwork& network = rig.network();
    std::vector<FlowIndex> flows;
    for (std::uint32_t source = 0; source < 3; ++source) {
        flows.push_back(network.connect({source}, {3}, 3));
        network.post({}, flows.back(), 0, {40'000'000'000});
    }
    const auto sum_of = [&](auto count) {
        double sum = 0;
        for (std::uint32_t source = 0; source < 3; ++source) {
            sum += static_cast<double>(count(network.counts(Rig::up(source), 3)));
        }
        return sum;
    };
    const auto pauses = [](const packet::LinkCounts& counts) { return counts.pauses; };
    const auto sent = [](const packet::LinkCounts& counts) { return counts.packets; };
    const LinkIndex down = Rig::down(3);
    rig.run_to(millisecond * 100);
    const double pauses_before = sum_of(pauses);
    const double sent_before = sum_of(sent);
    const std::uint64_t forwarded_before = network.counts(down, 3).packets;
    const std::vector<double> packets = arrivals(rig, flows, millisecond * 600);
    const auto naks = static_cast<double>(network.counts(down, 3).dropped);
    const auto forwarded = static_cast<double>(network.counts(down, 3).packets - forwarded_before);
    const auto [least, most] = std::minmax_element(packets.begin(), packets.end());
    std::vector<Value> values{
        {"packets lost", "0", 'P', 0, 0, naks},
        {"sent again", "0", 'P', 0, 0, static_cast<double>(network.flow(flows[0]).packets_sent_again())}};
    if (dcqcn) {
        values.push_back({"PAUSE frames", "at most 100", 'P', 0, 100, sum_of(pauses) - pauses_before});
        values.push_back({"slowest / fastest sender", "at least 0.7", 'P', 0.7, 1, *least / *most});
        values.push_back({"packets of senders / packets of the switch", "within 2 %", 'P', 0.98, 1.02,
                          (sum_of(sent) - sent_before) / forwarded});
    } else {
        values.push_back({"PAUSE frames", "above 0", 'P', 1, 1e9, sum_of(pauses) - pauses_before});
    }
    return values;
}

void add_rings(std::vector<Case>& cases, const std::string& section, const std::string& inputs) {
    for (const auto& [arbitration, suffix, how] :
         {std::tuple{core::Arbitration::fifo, "", ", switches send in the order of arrival"},
          std::tuple{core::Arbitration::ingress_round_robin, "-in-turn",
                     ", switches serve ingress ports in turn"}}) {
        const std::string ring_inputs = inputs + how;
        cases.push_back({fmt::format("ring{}", suffix), section,
                         "four switches, flows A-B-C-D and C-D-A-B; " + ring_inputs,
                         [arbitration = arbitration] { return ring(arbitration); }});
        const std::vector<std::tuple<double, bool, std::string>> thirds{
            {2, false, "of 2 Gb/s"}, {3, true, "of 3 Gb/s"}, {40, true, "at full speed"}};
        for (const auto& [third, deadlock, speed] : thirds) {
            cases.push_back({fmt::format("ring-{:.0f}-gbps{}", third, suffix), section,
                             fmt::format("a third flow B-C {}; {}", speed, ring_inputs),
                             [third = third, deadlock = deadlock, arbitration = arbitration] {
                                 return ring_with_third(third, deadlock, arbitration);
                             }});
        }
    }
}

}  // namespace

void add_pauses(std::vector<Case>& cases) {
    const std::string section = "PFC";
    const std::string inputs = "40 Gb/s, XOFF 40 KB, loop 4 us";
    cases.push_back({"pfc-fairness-3-1", section, "ports with 3 and 1 flows into one; " + inputs,
                     [] { return fairness({3, 1}); }});
    cases.push_back({"pfc-fairness-4-1-1-1", section, "ports with 4, 1, 1 and 1 flows into one; " + inputs,
                     [] { return fairness({4, 1, 1, 1}); }});
    const std::vector<std::array<double, 3>> victims{{2, 12.22, 0.38}, {3, 9.07, 0.54}, {7, 4.46, 0.77}};
    for (const auto& [others, measured, paused] : victims) {
        cases.push_back(
            {fmt::format("head-of-line-{:.0f}", others), section,
             fmt::format("a port with a victim and a flow to an egress that it shares with {:.0f} others; {}",
                         others, inputs),
             [others = others, measured = measured, paused = paused] {
                 return head_of_line(static_cast<std::uint32_t>(others), measured, paused);
             }});
    }
    add_rings(cases, section, inputs);
    const std::string sonic = "sonic-mgmt: three senders of 100 Gb/s to one receiver, 16 MB, alpha 1/8, ";
    const std::string window = "; from 0.1 to 0.6 s (there: 12 to 180 s)";
    cases.push_back(
        {"three-to-one-pfc", section, sonic + "PFC" + window, [] { return three_to_one(false); }});
    cases.push_back(
        {"three-to-one-dcqcn", section, sonic + "PFC and DCQCN" + window, [] { return three_to_one(true); }});
}

}  // namespace weir::switch_model
