#include "core/pressure.hpp"

#include <algorithm>
#include <cmath>

#include "core/datagram_frames.hpp"
#include "core/distribution.hpp"
#include "core/memory_need.hpp"
#include "core/placement.hpp"
#include "core/switch_memory.hpp"
#include "core/uplink_queues.hpp"

namespace weir::core {

IntoPort into_port(const Plan& plan, Bytes largest, std::uint32_t senders) {
    IntoPort into{.transfers = plan.places(), .transfer = largest, .senders = senders};
    const auto limit = [&](std::uint64_t transfers, Pressure::Limit by) {
        if (transfers < into.transfers) {
            into.transfers = transfers;
            into.limit = by;
        }
    };
    limit(std::uint64_t{plan.streams} * senders, Pressure::Limit::streams);
    if (plan.pulls()) {
        limit(plan.requests, Pressure::Limit::requests);
    }
    if (plan.builds() && plan.assigned_events > 0) {
        limit(std::uint64_t{plan.assigned_events} * plan.producers, Pressure::Limit::outstanding);
    }
    const Bytes window = plan.chunk_size * plan.window;
    if (!plan.lossy() && window < largest) {
        into.transfer = window;
        into.window_bound = true;
    }
    return into;
}

Bytes largest_fragment(const Plan& plan) {
    const Bytes largest = std::min(plan.slot_size, Bytes{largest_size(plan.event_size)});
    const bool cut = plan.generation == Generation::sets && !plan.addressed();
    return cut ? std::min(largest, plan.set_bytes()) : largest;
}

double on_the_wire(const Plan& plan, const NetworkPlan& network, Bytes payload) {
    const std::int64_t capacity = chunk_capacity_bytes(plan);
    const auto chunks = static_cast<double>(detail::ceil_div(payload.count, capacity));
    if (plan.lossy()) {
        return chunks * static_cast<double>(wire_cost(plan.chunk_size.count, network.mtu.count).bytes);
    }
    const PacketShape shape = packet_shape(network);
    const std::int64_t packets = detail::ceil_div(capacity + chunk_header_bytes, shape.payload);
    return static_cast<double>(payload.count) +
           chunks * (static_cast<double>(chunk_header_bytes) + static_cast<double>(packets * shape.overhead));
}

namespace {

/// Where a threshold is 0, and what is above all others.
constexpr double highest_pressure = 1e6;

Pressure begun(const IntoPort& into, std::uint32_t consumers_per_port) {
    Pressure pressure;
    pressure.transfers = into.transfers * consumers_per_port;
    pressure.transfer = into.transfer;
    pressure.limit = into.limit;
    pressure.window_bound = into.window_bound;
    pressure.under_way = {static_cast<std::int64_t>(std::min(into.bytes() * consumers_per_port, 9e18))};
    return pressure;
}

BitRate slowest(const std::vector<BitRate>& links) {
    return links.empty() ? BitRate{} : *std::min_element(links.begin(), links.end());
}
BitRate fastest(const std::vector<BitRate>& links) {
    return links.empty() ? BitRate{} : *std::max_element(links.begin(), links.end());
}

RanksPerPort ranks_per_port(const Plan& plan, const NetworkPlan& network) {
    const Placement placement(network, plan.producers, plan.consumers, plan.seed);
    const bool by_rail = network.fabric.placement.kind == PlacementKind::by_rail;
    return by_rail ? RanksPerPort{} : RanksPerPort{placement.most_producers(), placement.most_consumers()};
}

PortQueue at_consumer(const Plan& plan, const NetworkPlan& network, const IntoPort& into,
                      const RanksPerPort& ranks, bool disturbed) {
    const double transfer = on_the_wire(plan, network, into.transfer);
    const auto transfers = static_cast<double>(into.transfers);
    const BitRate rate = slowest(consumer_links(network, plan.consumers));
    const BitRate sender = fastest(producer_links(network, plan.producers));
    // A host that pauses the switch stops the port, too.
    const bool flows = !disturbed && network.fabric.hosts.pause_above == 0;
    const double sent_meanwhile = flows ? std::min(1.0, static_cast<double>(rate.bits_per_second) /
                                                            static_cast<double>(sender.bits_per_second))
                                        : 0;
    const PacketShape shape = packet_shape(network);
    const auto two_packets = 2 * static_cast<double>(shape.payload + shape.overhead);
    const bool spread = flows && !plan.addressed() && plan.policy != PolicyKind::random;
    const auto senders = static_cast<double>(std::max(into.senders, 1U));
    const double into_one_port = spread ? std::ceil(transfers / senders) : transfers;
    const double most_of_sender = std::min<double>(plan.streams, into_one_port * plan.consumers);
    PortQueue port{.port = Pressure::Port::consumer, .rate = rate};
    const double for_port = transfers * ranks.consumers;
    port.queue =
        transfer * (senders > 1 ? for_port - sent_meanwhile : for_port * (1 - sent_meanwhile)) + two_packets;
    port.of_sender = most_of_sender * transfer * ranks.producers;
    const double ports_to_consumers = std::ceil(static_cast<double>(plan.consumers) / ranks.consumers);
    const double ports_of_producers = std::ceil(static_cast<double>(plan.producers) / ranks.producers);
    port.in_switch =
        std::max(port.queue, std::min(port.queue * ports_to_consumers, port.of_sender * ports_of_producers));
    return port;
}

/// Results, which a consumer has under way for each of its slots.
PortQueue at_scheduler(const Plan& plan, const NetworkPlan& network, const PortQueue& consumer) {
    const Bytes largest{largest_size(plan.result_size)};
    const PacketShape shape = packet_shape(network);
    const std::int64_t packets = detail::ceil_div(largest.count, shape.payload);
    const double of_consumer = plan.slots * static_cast<double>(largest.count + packets * shape.overhead);
    const double all = of_consumer * plan.consumers;
    return {
        Pressure::Port::scheduler, network.producer_link, all, of_consumer, consumer.in_switch + all, true};
}

double ratio(double part, double whole) {
    return whole > 0 ? std::min(part / whole, highest_pressure) : highest_pressure;
}

/// `share` of what is free of `pool`, unless there is a fixed `threshold`.
double moving(double bytes, double in_switch, double pool, double share, Bytes threshold) {
    return threshold.count > 0
               ? std::max(ratio(bytes, static_cast<double>(threshold.count)), ratio(in_switch, pool))
               : ratio(bytes, share * pool) + ratio(in_switch, pool);
}

void add(Pressure& all, Pressure::Setting setting, const PortQueue& at, double pressure) {
    pressure = std::min(pressure, highest_pressure);
    const Pressure::Acting acting{
        .setting = setting,
        .port = at.port,
        .queue = {static_cast<std::int64_t>(std::ceil(at.queue))},
        .acts_at = {pressure > 0 ? std::llround(at.queue / pressure) : std::llround(at.queue)},
        .pressure = pressure};
    const auto same = std::find_if(all.settings.begin(), all.settings.end(),
                                   [&](const Pressure::Acting& other) { return other.setting == setting; });
    if (same == all.settings.end()) {
        all.settings.push_back(acting);
    } else if (same->pressure < pressure) {
        *same = acting;
    }
}

void add_settings(Pressure& all, const Plan& plan, const NetworkPlan& network, const PortQueue& at) {
    const SwitchPlan& switches = network.fabric.switches;
    const Priority priority = at.results ? network.fabric.control_priority : network.fabric.data_priority;
    const SharedMemory memory = least_shared(network, plan.producers, plan.consumers);
    if (switches.is_lossless(priority)) {
        // A sender uses one slice; what comes from all of them is spread over all slices.
        add(all, Pressure::Setting::pause, at,
            moving(at.of_sender * switches.slices, at.in_switch, static_cast<double>(memory.pool.count),
                   switches.ingress_alpha, switches.ingress_threshold));
    } else {
        add(all, Pressure::Setting::drop, at,
            moving(at.queue, at.in_switch, static_cast<double>(memory.of_queues.count), switches.egress_alpha,
                   switches.egress_threshold));
    }
    const EcnPlan& ecn = switches.ecn_of(priority);
    const bool is_marked = switches.ecn.on && ecn.on && (at.results || !plan.lossy()) &&
                           (network.framing != Framing::tcp || network.fabric.tcp.ecn);
    if (is_marked) {
        const Bytes none_below = in_proportion(ecn.none_below, at.rate, ecn.of_rate);
        add(all, Pressure::Setting::mark, at, ratio(at.queue, static_cast<double>(none_below.count)));
    }
}

}  // namespace

Pressure measured_pressure(const Plan& plan, std::uint32_t consumers_per_port, std::optional<Bytes> acts_at) {
    Pressure pressure = begun(into_fullest_port(plan, &IntoPort::bytes), consumers_per_port);
    if (!acts_at) {
        pressure.unknown = Pressure::Unknown::real_switch;
        return pressure;
    }
    const PacketShape shape = packet_shape(Framing::tcp, Bytes{1500});
    const double waiting = static_cast<double>(pressure.under_way.count) *
                           static_cast<double>(shape.payload + shape.overhead) /
                           static_cast<double>(shape.payload);
    add(pressure, Pressure::Setting::given,
        {.port = Pressure::Port::consumer, .rate = {}, .queue = waiting, .of_sender = 0, .in_switch = 0},
        ratio(waiting, static_cast<double>(acts_at->count)));
    return pressure;
}

Pressure simulated_pressure(const Plan& plan, const NetworkPlan& network, bool disturbed) {
    const IntoPort into = into_fullest_port(plan, &IntoPort::bytes);
    const bool packets = network.model == NetworkModel::packet;
    const RanksPerPort ranks = packets ? ranks_per_port(plan, network) : RanksPerPort{};
    Pressure pressure = begun(into, ranks.consumers);
    if (!packets) {
        pressure.unknown = Pressure::Unknown::no_switch;
        return pressure;
    }
    if (network.fabric.of_others().bits_per_second > 0) {
        pressure.unknown = Pressure::Unknown::other_traffic;
        return pressure;
    }
    const PortQueue consumer = at_consumer(plan, network, into, ranks, disturbed);
    add_settings(pressure, plan, network, consumer);
    if (network.fabric.topology.kind != TopologyKind::star) {
        for (const PortQueue& uplink : uplink_queues(plan, network, ranks, disturbed)) {
            add_settings(pressure, plan, network, uplink);
        }
    }
    if (plan.result_size.kind != DistributionKind::none && !network.separate_control) {
        add_settings(pressure, plan, network, at_scheduler(plan, network, consumer));
    }
    return pressure;
}

}  // namespace weir::core
