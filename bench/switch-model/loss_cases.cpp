// Losses without PFC: who has them, and what go-back-N costs.
#include <fmt/core.h>

#include "cases.hpp"
#include "rig.hpp"

namespace weir::switch_model {

namespace {

constexpr std::int64_t message_bytes = 1 << 20;
constexpr std::int64_t hardware_buffer = 5'200'000;

/// 1 MiB messages over RoCE at 100 Gb/s, so many under way for each sender.
struct Hardware {
    double goodput_gbps = 0;
    double wire_gbps = 0;
    double lost_share = 0;   ///< of the packets that were sent
    double sent_again = 0;   ///< for each one lost
    double first_share = 0;  ///< of the goodput, of the first sender
    double first_drop_s = 0;
};

/// The next message for one that is through.
void post_next(PacketNetwork& network, const PacketNetwork::Report& report) {
    if (report.kind == PacketNetwork::Report::Kind::sent) {
        network.post(report.at, report.flow, report.message, {message_bytes});
    }
}

core::DcqcnPlan no_reaction() {
    core::DcqcnPlan plan;
    plan.on = plan.notify_losses = false;
    return plan;
}

/// The reaction point of 2015, with CNPs for losses.
core::DcqcnPlan reaction_of_2015() {
    core::DcqcnPlan plan;
    plan.on = plan.notify_losses = true;
    return plan;
}

/// A CNP with each NAK, and the numbers that HPCC's simulation/run.py has for a NIC of 25 Gb/s.
core::DcqcnPlan reaction_of_hpcc() {
    core::DcqcnPlan plan = reaction_of_2015();
    plan.rules = core::DcqcnRules::hpcc;
    plan.cnp_spacing = core::Duration::microseconds(4);
    plan.alpha_period = core::Duration::microseconds(1);
    plan.rate_period = core::Duration::microseconds(300);
    plan.fast_stages = 1;
    plan.additive_increase = {5'000'000};
    plan.hyper_increase = {50'000'000};
    return plan;
}

/// `messages`: of each sender under way.
Hardware run_hardware(std::uint32_t senders, std::uint32_t messages, const core::DcqcnPlan& reaction) {
    core::SwitchPlan switches = plain_switch();
    switches.egress_threshold = {hardware_buffer};
    core::NicPlan nics;  // 4096 B and 82 B of headers, go-back-N
    nics.ack_priority = nics.cnp_priority = urgent;
    nics.strict = core::mask_of(urgent);
    nics.dcqcn = reaction;
    Rig rig(senders + 1, 100 * giga, core::Duration::microseconds(4), switches, nics);
    PacketNetwork& network = rig.network();
    std::vector<FlowIndex> flows;
    for (std::uint32_t source = 0; source < senders; ++source) {
        flows.push_back(network.connect({source}, {senders}, 0));
        for (std::uint32_t message = 0; message < messages; ++message) {
            network.post({}, flows.back(), message, {message_bytes});
        }
    }
    Hardware found;
    const Picoseconds from = millisecond * 100;
    const Picoseconds until = millisecond * 600;
    std::vector<double> before(senders);
    double sent_before = 0;
    double dropped_before = 0;
    double again_before = 0;
    double wire_before = 0;
    const auto again = [&] {
        double sum = 0;
        for (const FlowIndex flow : flows) {
            sum += static_cast<double>(network.flow(flow).packets_sent_again());
        }
        return sum;
    };
    const auto sent = [&] {
        double sum = 0;
        for (std::uint32_t source = 0; source < senders; ++source) {
            sum += static_cast<double>(rig.counts(Rig::up(source)).packets);
        }
        return sum;
    };
    const LinkIndex out = Rig::down(senders);
    // By the microsecond until something is lost.
    for (Picoseconds now; found.first_drop_s == 0 && senders > 1 && now < from; now += microsecond) {
        for (const PacketNetwork::Report& report : network.advance(now)) {
            post_next(network, report);
        }
        found.first_drop_s = rig.counts(out).dropped > 0 ? now.seconds() : 0;
    }
    bool measuring = false;
    while (network.next_time() <= until) {
        if (!measuring && network.next_time() >= from) {
            measuring = true;
            for (std::uint32_t source = 0; source < senders; ++source) {
                before[source] = rig.arrived(flows[source]);
            }
            sent_before = sent();
            again_before = again();
            dropped_before = static_cast<double>(rig.counts(out).dropped);
            wire_before = static_cast<double>(rig.counts(out).bytes);
        }
        for (const PacketNetwork::Report& report : network.advance(measuring ? until : from)) {
            post_next(network, report);
        }
    }
    double all = 0;
    for (std::uint32_t source = 0; source < senders; ++source) {
        const double packets = rig.arrived(flows[source]) - before[source];
        all += packets;
        found.first_share = source == 0 ? packets : found.first_share;
    }
    found.first_share /= all;
    found.goodput_gbps = all * 4096 * 8 / 0.5 / 1e9;
    found.wire_gbps = (static_cast<double>(rig.counts(out).bytes) - wire_before) * 8 / 0.5 / 1e9;
    const double dropped = static_cast<double>(rig.counts(out).dropped) - dropped_before;
    found.lost_share = dropped / (sent() - sent_before);
    found.sent_again = dropped > 0 ? (again() - again_before) / dropped : 0;
    return found;
}

std::vector<Value> one_flow() {
    const Hardware found = run_hardware(1, 3, no_reaction());
    return {{"goodput, Gb/s", "97.98", 'H', 97.98 * 0.995, 97.98 * 1.005, found.goodput_gbps}};
}

/// Without a reaction, goodput is a matter of what is under way: with two messages of each sender the buffer
/// holds all. With many, every second packet is lost, so one comes in order on average in a round of buffer /
/// C.
std::vector<Value> without_reaction(std::uint32_t messages, const char* expected, double low, double high) {
    const Hardware found = run_hardware(2, messages, no_reaction());
    return {{"goodput, Gb/s", expected, 'C', low, high, found.goodput_gbps}};
}

std::vector<Value> two_to_one(std::uint32_t messages, const core::DcqcnPlan& reaction) {
    const Hardware found = run_hardware(2, messages, reaction);
    const double first_drop_us = static_cast<double>(hardware_buffer) * 8 / 100e3;
    return {{"wire, Gb/s", "99.4", 'H', 98.4, 100, found.wire_gbps},
            {"goodput, Gb/s", "73.9", 'H', 70, 78, found.goodput_gbps},
            {"packets lost, %", "1.65", 'H', 1.0, 2.5, found.lost_share * 100},
            {"share of the first sender, %", "50.4 and 49.6", 'H', 45, 55, found.first_share * 100},
            {"packets sent again for each one lost", "about 16", 'H', 8, 32, found.sent_again},
            {"first loss, us", fmt::format("{:.0f} (buffer / excess)", first_drop_us), 'H',
             first_drop_us * 0.95, first_drop_us * 1.1, found.first_drop_s * 1e6}};
}

std::vector<Value> symmetric(core::LossRecovery recovery) {
    std::vector<double> shares;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        core::SwitchPlan switches = plain_switch();
        switches.egress_threshold = {100'000};
        core::NicPlan nics = plain_nic();
        nics.recovery = recovery;
        Rig rig(3, 10 * giga, core::Duration::microseconds(2), switches, nics, {}, seed);
        const FlowIndex a = rig.stream(0, 2);
        const FlowIndex b = rig.stream(1, 2);
        rig.run_to(millisecond * 50);
        const auto lost_a = static_cast<double>(rig.network().flow(a).traffic.dropped);
        const auto lost_b = static_cast<double>(rig.network().flow(b).traffic.dropped);
        shares.push_back(lost_a / (lost_a + lost_b));
    }
    const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
    return {{"share of all losses, least of 10 seeds", "0.4 to 0.6", 'C', 0.4, 0.6, *least},
            {"share of all losses, most of 10 seeds", "0.4 to 0.6", 'C', 0.4, 0.6, *most}};
}

}  // namespace

void add_losses(std::vector<Case>& cases) {
    const std::string section = "Losses";
    const std::string inputs =
        "ConnectX-5, 100 Gb/s, 1 MiB messages, 4096 B of payload; chosen: egress limit 5.2 MB, loop 4 us; "
        "0.1 to 0.6 s; ";
    cases.push_back({"roce-one-flow", section, "one sender; " + inputs + "3 messages under way", one_flow});
    cases.push_back({"roce-two-to-one", section,
                     "two senders; " + inputs + "3 messages under way for each, no reaction to losses",
                     [] { return two_to_one(3, no_reaction()); }});
    cases.push_back(
        {"roce-two-to-one-cnp", section,
         "two senders; " + inputs + "16 messages under way for each, a CNP for a loss, DCQCN of 2015",
         [] { return two_to_one(16, reaction_of_2015()); }});
    cases.push_back(
        {"roce-two-to-one-hpcc", section,
         "two senders; " + inputs +
             "16 messages under way for each, a CNP for a NAK, rules and numbers of HPCC's simulator",
         [] { return two_to_one(16, reaction_of_hpcc()); }});
    cases.push_back({"roce-two-to-one-2-messages", section,
                     "two senders; " + inputs + "2 messages under way for each, no reaction to losses",
                     [] { return without_reaction(2, "98: nothing is lost", 97.5, 98.5); }});
    cases.push_back({"roce-two-to-one-8-messages", section,
                     "two senders; " + inputs + "8 messages under way for each, no reaction to losses", [] {
                         return without_reaction(8, "below 1: a packet or two for a round of 417 us", 0, 1);
                     }});
    const std::string two = "two senders into a port of 10 Gb/s with 100 KB, 50 ms, ";
    cases.push_back({"symmetric-go-back-n", section, two + "go-back-N",
                     [] { return symmetric(core::LossRecovery::go_back_n); }});
    cases.push_back({"symmetric-selective", section, two + "selective repeat",
                     [] { return symmetric(core::LossRecovery::selective); }});
}

}  // namespace weir::switch_model
