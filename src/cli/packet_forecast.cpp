#include "cli/packet_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "config/passes.hpp"
#include "config/quantities.hpp"
#include "core/fabric_layout.hpp"
#include "core/plan.hpp"
#include "files/formatting.hpp"

namespace weir::cli {

namespace {

using config::RunRequest;
using files::readable;

/// On a core of about 3 GHz, in whole simulations of lhcb2021-2 with PFC or without: what bench/micro
/// measures of the packets alone with 14 x 72. Where many packets are sent again it is two thirds of that.
constexpr double transmissions_per_cpu_second = 15e6;
constexpr double acceptable_cpu_seconds = 60;

/// Links from a producer to a consumer, on average, if all pairs have equal shares.
double hops(const core::FabricPlan& fabric) {
    const core::TopologyPlan& topology = fabric.topology;
    if (topology.kind == core::TopologyKind::star) {
        return 2;
    }
    // Of what goes to another leaf or pod, two more for each.
    const bool in_rails = topology.kind == core::TopologyKind::rail_optimized &&
                          fabric.placement.kind == core::PlacementKind::by_rail;
    const double leaves = in_rails ? static_cast<double>(topology.leaves) / topology.nics : topology.leaves;
    const double pods = topology.kind == core::TopologyKind::three_tier ? topology.pods : 1;
    return 2 + 2 * (1 - 1 / leaves) + 2 * (1 - 1 / pods);
}

double bytes_in_all(const RunRequest& request, const Forecast& f) {
    const core::Plan& plan = request.plan;
    const double seconds = (plan.warmup + plan.duration).in_seconds();
    if (f.rate_known()) {
        return f.producer_bytes_per_second * f.producers * seconds;
    }
    const auto sum = [](const std::vector<core::BitRate>& links) {
        double bits = 0;
        for (const core::BitRate link : links) {
            bits += static_cast<double>(link.bits_per_second);
        }
        return bits;
    };
    const double bits = std::min(sum(core::producer_links(request.network, f.producers)),
                                 sum(core::consumer_links(request.network, f.consumers)));
    return bits / 8 * seconds;
}

double packets_of_others(const RunRequest& request, const Forecast& f) {
    const core::FabricPlan& fabric = request.network.fabric;
    using Kind = core::BackgroundPlan::Kind;
    const auto per_second = [&](const core::BackgroundPlan& traffic) {
        const core::Bytes packet = traffic.kind == Kind::packets ? traffic.packet
                                   : traffic.kind == Kind::tcp   ? fabric.tcp.payload
                                                                 : request.network.mtu;
        return static_cast<double>(traffic.rate.bits_per_second) / 8 / static_cast<double>(packet.count);
    };
    double of_host = per_second(fabric.background);
    for (const core::TrafficClass& one : fabric.classes) {
        of_host += per_second(one.traffic);
    }
    if (of_host == 0) {
        return 0;
    }
    const core::Placement placement(request.network, f.producers, f.consumers, request.plan.seed);
    std::uint32_t senders = 0;
    for (std::uint32_t host = 0; host < placement.hosts().size(); ++host) {
        senders += placement.receivers_of_others(host).empty() ? 0 : 1;
    }
    return of_host * senders * (request.plan.warmup + request.plan.duration).in_seconds();
}

std::string classes_text(const core::FabricPlan& fabric) {
    return fmt::format("priorities: data {}, control {}, acknowledgements {}, CNPs {}", fabric.data_priority,
                       fabric.control_priority, fabric.nics.ack_priority, fabric.nics.cnp_priority);
}

/// How a chip divides the memory, where the switch file says it.
std::string division_text(const core::SwitchPlan& plan) {
    std::string text;
    if (plan.cell.count > 0) {
        text += fmt::format(", in cells of {}", files::exact(plan.cell));
    }
    if (plan.slices > 1) {
        text += fmt::format(", {} slices", plan.slices);
    }
    if (plan.egress_pool.count > 0) {
        text += fmt::format(", and {} for lossy queues", readable(plan.egress_pool));
    }
    return text;
}

std::string memory_text(const RunRequest& request) {
    const core::SwitchPlan& plan = request.network.fabric.switches;
    if (request.switches.drop_tail) {
        return fmt::format("each queue of a port holds {}, and the rest is lost",
                           readable(request.network.port_buffer));
    }
    return fmt::format("{} for all ports{}; a lossy queue holds {}", readable(plan.pool), division_text(plan),
                       plan.egress_threshold.count > 0
                           ? fmt::format("at most {}", readable(plan.egress_threshold))
                           : fmt::format("at most {} x what is free", files::number(plan.egress_alpha)));
}

std::string pfc_text(const RunRequest& request) {
    const core::SwitchPlan& plan = request.network.fabric.switches;
    if (plan.lossless == 0) {
        return "PFC off";
    }
    return fmt::format("{}: a port is paused above {}; headroom {} of the pool",
                       plan.pauses_whole_links ? "802.3x" : "PFC",
                       plan.ingress_threshold.count > 0
                           ? readable(plan.ingress_threshold)
                           : fmt::format("{} x what is free", files::number(plan.ingress_alpha)),
                       readable(config::largest_headroom(request)));
}

/// A line for each class that the switch file names.
std::string class_text(const core::TrafficClass& one, const core::FabricPlan& fabric) {
    const core::Priority priority = one.traffic.priority;
    const core::SwitchPlan& plan = fabric.switches;
    const core::EcnPlan& ecn = plan.ecn_of(priority);
    std::string text = fmt::format("class {}: priority {}, {}, {}", one.name, priority,
                                   plan.is_lossless(priority) ? "lossless" : "lossy",
                                   (plan.strict & core::mask_of(priority)) != 0
                                       ? "strictly first"
                                       : fmt::format("weight {}", plan.weights[priority]));
    if (plan.ecn.on) {
        text += ecn.on
                    ? fmt::format(", marked from {} to {}", readable(ecn.none_below), readable(ecn.all_above))
                    : ", never marked";
    }
    if (one.traffic.rate.bits_per_second > 0) {
        text += fmt::format("; others send {} from each producer's host", readable(one.traffic.rate));
    }
    return text;
}

std::string dcqcn_text(const core::DcqcnPlan& dcqcn) {
    if (!dcqcn.on) {
        return "DCQCN off";
    }
    return fmt::format(
        "DCQCN ({} per {}",
        dcqcn.rules == core::DcqcnRules::hpcc ? "rules of HPCC) with a cut" : "2015) with a CNP",
        readable(dcqcn.cnp_spacing));
}

std::string control_text(const core::NicPlan& nics) {
    switch (nics.control) {
        case core::PairControl::swift:
            return fmt::format("Swift: windows for round trips of {}, for small ones up to {}",
                               readable(nics.swift.target), readable(nics.swift.target + nics.swift.range));
        case core::PairControl::credits:
            return fmt::format("credits of receivers: {} unasked, then {} a credit",
                               readable(nics.credits.unasked), readable(nics.credits.grant));
        case core::PairControl::dcqcn:
            break;
    }
    return dcqcn_text(nics.dcqcn);
}

/// What senders of data do with marks, or without any.
std::string sender_text(const RunRequest& request) {
    const core::FabricPlan& fabric = request.network.fabric;
    if (core::has_queue_pairs(request.plan, request.network)) {
        return control_text(fabric.nics);
    }
    if (request.plan.lossy()) {
        return "datagrams are not marked";
    }
    return fabric.tcp.ecn ? "TCP obeys" : "TCP is not marked";
}

std::string ecn_text(const RunRequest& request) {
    const core::FabricPlan& fabric = request.network.fabric;
    const core::EcnPlan& ecn = fabric.switches.ecn;
    if (!ecn.on) {
        const bool dcqcn = fabric.nics.control == core::PairControl::dcqcn;
        const bool acts =
            core::has_queue_pairs(request.plan, request.network) && (!dcqcn || fabric.nics.dcqcn.on);
        return !acts ? "ECN off"
                     : fmt::format("ECN off; {}{}", dcqcn ? "NICs slow down after losses: " : "",
                                   control_text(fabric.nics));
    }
    const std::string of_rate =
        ecn.of_rate.bits_per_second > 0 ? fmt::format(" of a port of {}", readable(ecn.of_rate)) : "";
    return fmt::format("ECN marks from {} to {}{}, {} there; {}", readable(ecn.none_below),
                       readable(ecn.all_above), of_rate, files::percent(ecn.probability_at_top),
                       sender_text(request));
}

std::string balancing_text(const core::FabricPlan& fabric) {
    const core::BalancingPlan& plan = fabric.switches.balancing;
    const auto after = [](core::Duration gap) { return fmt::format("after a gap of {}", readable(gap)); };
    std::string text;
    switch (plan.kind) {
        case core::BalancingKind::ecmp:
            text = "ECMP";
            break;
        case core::BalancingKind::flowlets:
            text = "flowlets: another way " + after(plan.gap);
            break;
        case core::BalancingKind::spray:
            text = "each packet another way";
            break;
        case core::BalancingKind::adaptive:
            text = "adaptive: the way with the shortest wait " +
                   (plan.adaptive_gap.ns == 0 ? "for each packet" : after(plan.adaptive_gap));
            break;
    }
    text += plan.hashes_queue_pairs ? "" : "; one hash for all flows between two hosts";
    if (plan.reorders()) {
        text += fabric.nics.reorder.count > 0
                    ? fmt::format("; NICs wait for late packets until {} more are there",
                                  readable(fabric.nics.reorder))
                    : "; NICs take packets that are overtaken for lost";
    }
    return text;
}

}  // namespace

PacketCost packet_cost(const RunRequest& request, const Forecast& f) {
    const core::Plan& plan = request.plan;
    const core::FabricPlan& fabric = request.network.fabric;
    const bool tcp = request.network.framing == core::Framing::tcp;
    const core::PacketShape shape = core::packet_shape(request.network);
    const auto payload = static_cast<double>(shape.payload);
    const double bytes = bytes_in_all(request, f);
    const auto chunk = static_cast<double>(core::chunk_capacity_bytes(plan));
    const double chunks = bytes / chunk;
    const double data = chunks * std::ceil(chunk / payload);
    const double acks = plan.lossy() ? 0 : data / (tcp ? 2 : core::packets_per_ack(fabric.nics)) + chunks;
    const double control = f.control_messages_per_second().value_or(0) *
                           (plan.warmup + plan.duration).in_seconds() * 2;  // and their acknowledgements
    PacketCost cost;
    cost.transmissions = hops(fabric) * (data + acks + control + packets_of_others(request, f));
    cost.cpu_seconds = cost.transmissions / transmissions_per_cpu_second;
    // What waits in the switch, and the state of a queue pair of each pair of nodes; measured.
    constexpr double packet_record_bytes = 40;
    constexpr double queue_pair_bytes = 1500;
    constexpr double program_bytes = 8e6;
    const double pool = request.switches.drop_tail ? static_cast<double>(request.network.port_buffer.count) *
                                                         (f.producers + f.consumers)
                                                   : static_cast<double>(fabric.switches.pool.count);
    const double pairs =
        plan.addressed() ? plan.traffic->pairs() : static_cast<double>(f.producers) * f.consumers;
    cost.memory_bytes = program_bytes + simulation_memory_bytes(plan) +
                        queue_pair_bytes * pairs * fabric.queue_pairs.of_a_pair +
                        std::min(pool, bytes) / payload * packet_record_bytes;
    return cost;
}

std::vector<std::string> switch_lines(const RunRequest& request) {
    const core::FabricPlan& fabric = request.network.fabric;
    std::vector<std::string> lines{
        fmt::format("{}: {}", request.packets.switch_name, memory_text(request)), pfc_text(request),
        ecn_text(request),
        request.network.framing == core::Framing::tcp
            ? fmt::format("TCP; {}", classes_text(fabric))
            : fmt::format(
                  "{}; {}",
                  fabric.nics.recovery == core::LossRecovery::selective ? "selective repeat" : "go-back-N",
                  classes_text(fabric))};
    if (fabric.nics.dcqcn.on && core::has_queue_pairs(request.plan, request.network)) {
        lines.insert(lines.begin() + 3, fabric.nics.dcqcn.resets_at_line_rate
                                            ? "DCQCN back at line rate: as never notified, alpha is 1"
                                            : "DCQCN back at line rate: alpha goes on decaying");
    }
    for (const core::TrafficClass& one : fabric.classes) {
        lines.push_back(class_text(one, fabric));
    }
    if (fabric.topology.kind != core::TopologyKind::star) {
        lines.push_back(balancing_text(fabric));
    }
    return lines;
}

std::string cost_text(const PacketCost& cost) {
    const bool many = cost.transmissions >= 1e9;
    return fmt::format("about {} {} transmissions of packets: {} of CPU time, {} of memory",
                       files::number(cost.transmissions / (many ? 1e9 : 1e6)), many ? "billion" : "million",
                       files::seconds_text(cost.cpu_seconds), files::bytes_text(cost.memory_bytes));
}

std::string cheaper_options(const RunRequest& request, const PacketCost& cost) {
    if (cost.cpu_seconds <= acceptable_cpu_seconds || !(request.time_scale == config::Ratio{})) {
        return {};
    }
    // Some sets are enough to see whether they are late.
    const core::Plan& plan = request.plan;
    const core::Duration duration = std::min(plan.duration, plan.interval * 20);
    const core::Duration warmup = std::min(plan.warmup, plan.interval * 2);
    double seconds =
        cost.cpu_seconds * (duration + warmup).in_seconds() / (plan.duration + plan.warmup).in_seconds();
    std::string options;
    for (const std::int64_t part : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
        if (seconds / static_cast<double>(part) <= acceptable_cpu_seconds || part == 1000) {
            seconds /= static_cast<double>(part);
            options = part == 1 ? "" : fmt::format("--time-scale 1/{} ", part);
            break;
        }
    }
    return fmt::format("{}--duration {} --warmup {} ({} of CPU time)", options, config::to_text(duration),
                       config::to_text(warmup), files::seconds_text(seconds));
}

void warn_of_headroom(const RunRequest& request, std::vector<std::string>& warnings) {
    const core::SwitchPlan& plan = request.network.fabric.switches;
    if (plan.lossless == 0) {
        return;
    }
    std::set<core::BitRate> told;
    const auto check = [&](const char* who, core::BitRate rate) {
        const core::Bytes headroom = core::headroom(plan, rate);
        const core::Bytes needed = config::pause_takes(request.network, rate);
        if (told.insert(rate).second && headroom < needed) {
            warnings.push_back(fmt::format(
                "packets can be lost in spite of PFC: the port of {} has {} of headroom, and {} can "
                "arrive after a pause at {} over a cable of {} one way",
                who, readable(headroom), readable(needed), readable(rate),
                readable(core::cable_delay(request.network, core::Tier::host))));
        }
    };
    const core::NetworkPlan& network = request.network;
    for (const auto& [who, usual, own] :
         {std::tuple{"a producer", network.producer_link, &network.own_producer_links},
          std::tuple{"a consumer", network.consumer_link, &network.own_consumer_links}}) {
        check(who, usual);
        for (const core::OwnLinks& some : *own) {
            check(who, some.rate);
        }
    }
}

/// A simulated pause holds until it ends; a real one has to be renewed, and a watchdog sees the renewals.
void warn_of_watchdog(const RunRequest& request, std::vector<std::string>& warnings) {
    const core::WatchdogPlan& watchdog = request.network.fabric.switches.watchdog;
    if (!watchdog.on) {
        return;
    }
    std::vector<core::BitRate> rates = core::producer_links(request.network, request.plan.producers);
    const std::vector<core::BitRate> more = core::consumer_links(request.network, request.plan.consumers);
    rates.insert(rates.end(), more.begin(), more.end());
    const auto slowest = std::min_element(rates.begin(), rates.end());
    if (slowest == rates.end()) {
        return;
    }
    const core::Duration renewed = core::time_for(*slowest, core::pause_renewed_after);
    if (watchdog.restoration < renewed) {
        warnings.push_back(fmt::format(
            "watchdog.restoration is {}, and a pause at {} is renewed only every {}: a real "
            "switch would end its "
            "action in the midst of a storm; write {} or more",
            readable(watchdog.restoration), readable(*slowest), readable(renewed), readable(renewed)));
    }
}

/// By the longest way of the fabric, without transmissions.
void warn_of_round_trip(const RunRequest& request, std::vector<std::string>& warnings) {
    const core::NetworkPlan& network = request.network;
    if (!core::has_queue_pairs(request.plan, network)) {
        return;
    }
    const core::NicPlan& nics = network.fabric.nics;
    const core::TopologyKind kind = network.fabric.topology.kind;
    core::Duration way = core::cable_delay(network, core::Tier::host);
    if (kind != core::TopologyKind::star) {
        way = way + core::cable_delay(network, core::Tier::leaf);
    }
    if (kind == core::TopologyKind::three_tier) {
        way = way + core::cable_delay(network, core::Tier::spine);
    }
    const core::Duration round_trip = way * 4;
    if (nics.control == core::PairControl::swift && nics.swift.target <= round_trip) {
        warnings.push_back(fmt::format(
            "Swift cuts large windows even without a queue: a round trip takes {} by its cables alone, and "
            "[swift] target is {}",
            readable(round_trip), readable(nics.swift.target)));
    }
    const std::vector<core::BitRate> links = core::consumer_links(network, request.plan.consumers);
    const auto fastest = std::max_element(links.begin(), links.end());
    const core::BitRate rate = fastest == links.end() ? network.consumer_link : *fastest;
    const core::Bytes unasked = core::in_proportion(nics.credits.unasked, rate, nics.credits.of_rate);
    if (nics.control == core::PairControl::credits && unasked < core::bytes_in(rate, round_trip)) {
        warnings.push_back(fmt::format(
            "a receiver does not fill its link by credits: a round trip takes {} by its cables alone, and "
            "[credits] unasked is {} of a link of {}",
            readable(round_trip), readable(unasked), readable(rate)));
    }
}

}  // namespace weir::cli
