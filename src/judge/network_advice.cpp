#include "judge/network_advice.hpp"

#include <fmt/format.h>

#include <vector>

#include "files/formatting.hpp"

namespace weir::judge {

namespace {

using Mechanism = NetworkMechanism;

/// Ports that were used this far on average are full.
constexpr double full_use = 0.95;

Mechanism first_mechanism(const RunFacts& facts) {
    return facts.network == nullptr || facts.network->mechanisms.empty() ? Mechanism::unknown
                                                                         : facts.network->mechanisms.front();
}

NetworkAdvice lower_the_rate(std::string text) {
    return {std::move(text),
            "lower --rate, or use more consumers (--consumers) or faster links (--producer-link, "
            "--consumer-link): no setting of a switch makes room on a full link"};
}

/// Payload in bits per second.
double carried_by(const core::NetworkPlan& network, const std::vector<core::BitRate>& links) {
    double carried = 0;
    for (const core::BitRate wire : links) {
        carried += static_cast<double>(core::payload_rate(network, wire).bits_per_second);
    }
    return carried;
}

/// Simulated links that cannot carry the rate, whatever the switch does; an empty text: they can.
NetworkAdvice judge_links(const core::Plan& plan, const core::NetworkPlan& network) {
    const auto need = [&](double needed, const std::vector<core::BitRate>& links, const char* whose) {
        const double carried = carried_by(network, links);
        return needed < carried ? NetworkAdvice{}
                                : lower_the_rate(fmt::format(
                                      "The links of {} carry {} of payload together, and {} are needed.",
                                      whose, files::rate_text(carried), files::rate_text(needed)));
    };
    const double needed = static_cast<double>(plan.rate.bits_per_second) * plan.producers;
    NetworkAdvice advice = need(needed, core::producer_links(network, plan.producers), "producers");
    return advice.text.empty() ? need(needed, core::consumer_links(network, plan.consumers), "consumers")
                               : advice;
}

/// "Ports to consumers were used from 89 % to 90 %."
std::string used_text(const record::SwitchTotals& switches) {
    const record::SwitchTotals::ConsumerPorts ports = switches.consumer_ports();
    return ports.least_name == ports.most_name
               ? fmt::format("The port to {} was used {}.", ports.least_name, files::percent(ports.least))
               : fmt::format("Ports to consumers were used from {} to {}.", files::percent(ports.least),
                             files::percent(ports.most));
}

/// Where classes are counted apart, what others lose is no loss of the run.
record::SwitchRow counts_of_data(const core::NetworkPlan& network, const record::SwitchTotals& switches) {
    return switches.classes.empty() ? switches.sum() : switches.sum(network.fabric.data_priority);
}

NetworkAdvice of_simulated_losses(const core::NetworkPlan& network, const record::SwitchTotals& switches,
                                  const std::string& dropping_host) {
    const core::FabricPlan& fabric = network.fabric;
    const record::SwitchRow sum = counts_of_data(network, switches);
    if (!dropping_host.empty() && sum.dropped_packets == 0) {
        return {fmt::format("Hosts dropped packets in full receive rings, {} most; the switch dropped none.",
                            dropping_host),
                "try larger receive rings of hosts (switch file: [host] ring-packets)"};
    }
    if (const std::uint64_t lost = switches.failures.lost_packets(); lost > 0 && sum.dropped_packets == 0) {
        return {fmt::format("Failures of the network lost {}, and {} were sent again.",
                            files::counted(lost, "packet"),
                            files::percent(switches.reactions.packets_sent_again, sum.packets_seen())),
                "repair what failed (--fault)"};
    }
    const std::string text =
        sum.dropped_packets > 0
            ? fmt::format("The network lost packets: the switch dropped {} of them, and {} were sent again.",
                          files::percent(sum.dropped_packets, sum.packets_seen()),
                          files::percent(switches.reactions.packets_sent_again, sum.packets_seen()))
            : fmt::format(
                  "Packets were lost or overtook each other, and none{} was dropped by a switch; {} "
                  "were sent again.",
                  switches.classes.empty() ? "" : " of the class of data",
                  files::percent(switches.reactions.packets_sent_again, sum.packets_seen()));
    if (fabric.switches.is_lossless(fabric.data_priority)) {
        return {text,
                "PFC is on, so packets were lost behind the pauses: give the switch more `headroom`, or a "
                "larger `pool` (switch file)"};
    }
    if (fabric.switches.egress_threshold.count > 0) {  // drop-tail, or a switch file's fixed size
        return {text,
                "queues have a fixed size: try a larger --port-buffer (`egress-threshold` of a switch file), "
                "or --pfc on with a "
                "switch whose ports share memory (--switch shallow)"};
    }
    if (network.framing == core::Framing::tcp) {
        return {text,
                "try --ecn on with DCTCP (`[tcp] control = \"dctcp\"`), or a switch with more memory "
                "(--switch deep)"};
    }
    if (fabric.switches.ecn.on) {
        return {text,
                "marks come too late for this memory: lower `none-below` and `all-above` of `[ecn]`, "
                "or add --pfc on"};
    }
    return {text,
            "try --pfc on, --ecn on, or a switch with more memory (--switch deep): `weir-compare` ranks "
            "them"};
}

NetworkAdvice of_simulated_pauses(const core::NetworkPlan& network, const record::SwitchTotals& switches) {
    const record::SwitchTotals::Stopped stopped = switches.producers_stopped();
    const record::SwitchTotals::ConsumerPorts ports = switches.consumer_ports();
    const std::size_t with_room = switches.ports_with_room().size();
    std::string text = fmt::format(
        "PFC stopped producers for {} of the time{}.", files::percent(stopped.mean_share),
        with_room == 0
            ? std::string{}
            : fmt::format(", and meanwhile {} to consumers had room", files::counted(with_room, "port")));
    if (ports.least >= full_use) {
        return lower_the_rate(text + ' ' + used_text(switches));
    }
    const record::SwitchPortTotals* fullest = switches.fullest();
    const std::string where =
        fullest == nullptr ? "" : fmt::format("; the longest queue leads to {}", fullest->port.peer);
    if (network.fabric.switches.ecn.on) {
        return {text,
                "pauses come before marks: lower `none-below` and `all-above` of `[ecn]`, so that only "
                "the senders of the full port slow down" +
                    where};
    }
    return {text, (with_room > 0 ? "try --ecn on, which slows down only the senders of the full port"
                                 : "try --ecn on, or a larger `pool` (switch file)") +
                      where};
}

NetworkAdvice of_simulated_marks(const core::NetworkPlan& network, const record::SwitchTotals& switches) {
    const record::SwitchRow sum = counts_of_data(network, switches);
    const std::string text =
        fmt::format("the switch marked {} of the packets, and producers slowed down. {}",
                    files::percent(sum.marked_packets, sum.packets_seen()), used_text(switches));
    if (switches.consumer_ports().least >= full_use) {
        return lower_the_rate(text);
    }
    return {text,
            "the ports had room: raise `none-below` and `all-above` of `[ecn]`, or try --switch dcqcn-tuned; "
            "DCQCN needs seconds to converge, so also a longer --warmup"};
}

NetworkAdvice of_simulated(const core::Plan& plan, const RunFacts& facts) {
    const core::NetworkPlan& network = *facts.simulated;
    NetworkAdvice links = judge_links(plan, network);
    if (!links.text.empty()) {
        return links;
    }
    if (facts.switches != nullptr) {
        switch (first_mechanism(facts)) {
            case Mechanism::lossy:
                return of_simulated_losses(network, *facts.switches, facts.network->dropping_host);
            case Mechanism::held_back_by_pfc:
            case Mechanism::pauses_sent:
                return of_simulated_pauses(network, *facts.switches);
            case Mechanism::controlled_by_ecn:
            case Mechanism::slowed_by_cnp:
                return of_simulated_marks(network, *facts.switches);
            case Mechanism::nothing_counted:
                if (facts.switches->consumer_ports().least >= full_use) {
                    return lower_the_rate(used_text(*facts.switches));
                }
                return {"No loss, pause, mark or notification was counted. " + used_text(*facts.switches),
                        "try more slots (--slots) or streams (--streams)"};
            case Mechanism::unknown:
                break;
        }
    }
    const double carried = carried_by(network, core::consumer_links(network, plan.consumers));
    const double needed = static_cast<double>(plan.rate.bits_per_second) * plan.producers;
    return {
        fmt::format("The rate is {} of what the links of consumers carry.", files::percent(needed / carried)),
        "try more slots (--slots) or streams (--streams), or faster links (--consumer-link)"};
}

NetworkAdvice of_measured(const RunFacts& facts) {
    const std::string ports = "read the drop counters of the switch's ports";
    const std::string check = "`weir check` compares MTU, pause frames and priorities of all hosts";
    const Mechanism mechanism = first_mechanism(facts);
    if (mechanism == Mechanism::unknown) {
        return {"",
                "more slots (--slots) or streams (--streams) may help; `weir check` looks for faults of "
                "hosts and links, --scenario ceiling measures what they transfer without a scheduler"};
    }
    const NetworkVerdict& network = *facts.network;
    // TCP counts at who sends again, and drops are on the way from there.
    const bool of_senders = network.counted.find("tcp.") != std::string::npos;
    const std::string first =
        network.worst_host.empty() || of_senders ? "" : ", first of that to " + network.worst_host;
    switch (mechanism) {
        case Mechanism::lossy:
            return {
                fmt::format("{}: {}.",
                            network.dropping_host.empty() && of_senders
                                ? "Packets were lost or overtook each other"
                                : "The network lost packets",
                            network.counted),
                network.dropping_host.empty()
                    ? fmt::format("{}{}; {}", ports, first, check)
                    : fmt::format("look at {}, which dropped packets itself: {}; {}", network.dropping_host,
                                  network.counted.find("qdisc_drops") != std::string::npos
                                      ? "the queue before its interface (`tc -s qdisc`)"
                                      : "its receive rings (`ethtool -g`), CPU and PCIe link",
                                  check)};
        case Mechanism::held_back_by_pfc:
        case Mechanism::pauses_sent:
            return {fmt::format("Pause frames held hosts up: {}.", network.counted),
                    network.pausing_host.empty()
                        ? "find the port of the switch with the longest queue: who receives there holds the "
                          "others up; " +
                              check
                        : fmt::format("look at {}, which sent pauses, so it receives too slowly: its CPU, "
                                      "memory and PCIe link (`weir check`)",
                                      network.pausing_host)};
        case Mechanism::controlled_by_ecn:
            return {fmt::format("ECN slowed senders down: {}.", network.counted),
                    "compare how far the switch's ports were used: if they had room, marks begin too early "
                    "(Kmin, Kmax); DCQCN needs seconds to converge, so use --warmup 3s or more"};
        case Mechanism::slowed_by_cnp:
            return {fmt::format("CNPs slowed senders down: {}.", network.counted),
                    fmt::format("packets may be lost or reordered, of which NICs notify too: {}{}", ports,
                                first)};
        case Mechanism::nothing_counted:
        case Mechanism::unknown:
            break;
    }
    return {"Hosts counted no losses, pauses, marks or notifications to speak of.",
            "try more slots (--slots) or streams (--streams); --scenario ceiling measures what the network "
            "transfers without a scheduler"};
}

}  // namespace

NetworkAdvice advise_on_network(const core::Plan& plan, const RunFacts& facts) {
    return facts.simulated != nullptr ? of_simulated(plan, facts) : of_measured(facts);
}

}  // namespace weir::judge
