#include "core/pressure.hpp"

#include <cmath>

#include "core/datagram_frames.hpp"
#include "core/distribution.hpp"
#include "core/fabric_layout.hpp"

namespace weir::core {

namespace {

/// Of so many packets that go the next of so many ways each, the most on one of them.
constexpr std::int64_t most_on_a_way(std::int64_t packets, std::int64_t ways) {
    return ways < 2 || packets < 2 ? packets : (packets - 2) / ways + 2;
}

/// Where the packets of a chunk pass, and how many of them at most.
enum class ChunkPlace : std::uint8_t {
    whole,      ///< all of it
    leaf_up,    ///< a cable from its leaf
    spine,      ///< a spine
    spine_up,   ///< a cable from there to a core
    core,       ///< a core
    core_down,  ///< a cable from there to a pod
    spine_down  ///< a cable to the receiver's leaf
};
constexpr std::size_t chunk_places = 7;

class UplinkQueues {
  public:
    UplinkQueues(const Plan& plan, const NetworkPlan& network, const RanksPerPort& ranks, bool disturbed)
        : plan_(plan),
          network_(network),
          topology_(network.fabric.topology),
          ranks_(ranks),
          in_turn_(is_in_turn(network.fabric.switches.balancing) && !disturbed && !plan.lossy()) {
        find_parts();
        const Bytes largest = into_port(plan, largest_fragment(plan), plan.producers).transfer;
        for (std::size_t stage = 0; stage < chunk_places; ++stage) {
            const auto measure = [&](const IntoPort& into) {
                return into.transfers == 0 ? 0
                                           : static_cast<double>(into.transfers) *
                                                 bytes_at(static_cast<ChunkPlace>(stage), into.transfer);
            };
            of_producer_[stage] = plan.streams * bytes_at(static_cast<ChunkPlace>(stage), largest);
            into_consumer_[stage] = measure(into_fullest_port(plan, measure));
        }
    }

    std::vector<PortQueue> all() {
        const bool cores = topology_.kind == TopologyKind::three_tier;
        for (const FabricPart& leaf : leaves_) {
            const double in_leaf =
                std::min(total(ChunkPlace::whole),
                         out_of(leaf, ChunkPlace::whole) + received(leaf.consumers, ChunkPlace::whole));
            const double of_host = std::min(sent(ranks_.producers, ChunkPlace::whole), in_leaf);
            const double up = out_of(leaf, ChunkPlace::leaf_up);
            const double down = into(leaf, ChunkPlace::spine_down);
            add(topology_.uplink_rate, up, of_host, in_leaf);
            add(topology_.uplink_rate, down, down, in_leaf);  // what has come from a spine
            add(topology_.uplink_rate, down, most_out_of(leaves_, ChunkPlace::leaf_up),
                total(ChunkPlace::spine));
        }
        for (const FabricPart& pod : cores ? pods_ : std::vector<FabricPart>{}) {
            const double up = out_of(pod, ChunkPlace::spine_up);
            const double down = into(pod, ChunkPlace::core_down);
            add(topology_.core_rate, up, most_out_of(leaves_, ChunkPlace::leaf_up), total(ChunkPlace::spine));
            add(topology_.core_rate, down, down, total(ChunkPlace::spine));  // what has come from a core
            add(topology_.core_rate, down, most_out_of(pods_, ChunkPlace::spine_up), total(ChunkPlace::core));
        }
        return std::move(queues_);
    }

  private:
    struct FabricPart {
        std::uint32_t producers = 0;
        std::uint32_t consumers = 0;
        // That may send into it, and receive from it.
        std::uint32_t other_producers = 0;
        std::uint32_t other_consumers = 0;
    };

    static bool is_in_turn(const BalancingPlan& balancing) {
        return balancing.kind == BalancingKind::spray ||
               (balancing.kind == BalancingKind::flowlets && balancing.gap.ns == 0);
    }

    void find_parts() {
        const Placement placement(network_, plan_.producers, plan_.consumers, plan_.seed);
        const FabricLayout layout = fabric_layout(network_, placement);
        leaves_.resize(topology_.leaves);
        pods_.resize(topology_.kind == TopologyKind::three_tier ? topology_.pods : 0);
        for (std::uint32_t rank = 1; rank <= plan_.producers + plan_.consumers; ++rank) {
            const Placement::Host& host = placement.hosts()[placement.host_of(rank)];
            const auto count = [&](FabricPart& part) {
                ++(rank <= plan_.producers ? part.producers : part.consumers);
            };
            std::uint32_t last = topology_.leaves;
            for (std::uint32_t port = host.first_port; port < host.first_port + host.nics; ++port) {
                if (const std::uint32_t leaf = layout.ports[port].leaf; leaf != last) {
                    count(leaves_[leaf]);
                    last = leaf;
                }
            }
            if (!pods_.empty()) {
                count(pods_[last * topology_.pods / topology_.leaves]);
            }
        }
        // Between rails, also ranks of one leaf reach each other over spines.
        const bool rails = topology_.kind == TopologyKind::rail_optimized;
        for (std::vector<FabricPart>* parts : {&leaves_, &pods_}) {
            for (FabricPart& part : *parts) {
                part.other_producers = plan_.producers - (rails ? 0 : part.producers);
                part.other_consumers = plan_.consumers - (rails ? 0 : part.consumers);
            }
        }
    }

    /// Of a chunk of so many packets.
    [[nodiscard]] std::int64_t packets_at(ChunkPlace stage, std::int64_t packets) const {
        if (!in_turn_ || stage == ChunkPlace::whole) {
            return packets;
        }
        const std::int64_t up = most_on_a_way(packets, std::int64_t{topology_.spines} * topology_.uplinks);
        const std::int64_t spine = std::min(packets, topology_.uplinks * up);
        if (stage == ChunkPlace::leaf_up) {
            return up;
        }
        if (stage == ChunkPlace::spine || stage == ChunkPlace::spine_down) {
            return stage == ChunkPlace::spine ? spine : most_on_a_way(spine, topology_.uplinks);
        }
        const std::int64_t spine_up =
            most_on_a_way(spine, std::int64_t{topology_.cores} / topology_.spines * topology_.core_links);
        const std::int64_t core = std::min(spine, topology_.core_links * spine_up);
        return stage == ChunkPlace::spine_up ? spine_up
               : stage == ChunkPlace::core   ? core
                                             : most_on_a_way(core, topology_.core_links);
    }

    /// Of a transfer, on the wire.
    [[nodiscard]] double bytes_at(ChunkPlace stage, Bytes transfer) const {
        if (!in_turn_ || stage == ChunkPlace::whole) {
            return on_the_wire(plan_, network_, transfer);
        }
        const PacketShape shape = packet_shape(network_);
        const std::int64_t capacity = chunk_capacity_bytes(plan_);
        const auto of_chunk = [&](std::int64_t payload) {
            const std::int64_t packets = detail::ceil_div(payload + chunk_header_bytes, shape.payload);
            return payload == 0 ? 0 : packets_at(stage, packets) * (shape.payload + shape.overhead);
        };
        const std::int64_t full_chunks = transfer.count / capacity;
        return static_cast<double>(full_chunks * of_chunk(capacity) + of_chunk(transfer.count % capacity));
    }

    [[nodiscard]] double sent(std::uint32_t producers, ChunkPlace stage) const {
        return producers * of_producer_[static_cast<std::size_t>(stage)];
    }
    [[nodiscard]] double received(std::uint32_t consumers, ChunkPlace stage) const {
        return consumers * into_consumer_[static_cast<std::size_t>(stage)];
    }
    [[nodiscard]] double total(ChunkPlace stage) const {
        return std::min(sent(plan_.producers, stage), received(plan_.consumers, stage));
    }
    [[nodiscard]] double out_of(const FabricPart& part, ChunkPlace stage) const {
        return std::min(sent(part.producers, stage), received(part.other_consumers, stage));
    }
    [[nodiscard]] double into(const FabricPart& part, ChunkPlace stage) const {
        return std::min(sent(part.other_producers, stage), received(part.consumers, stage));
    }
    [[nodiscard]] double most_out_of(const std::vector<FabricPart>& parts, ChunkPlace stage) const {
        double fullest = 0;
        for (const FabricPart& part : parts) {
            fullest = std::max(fullest, out_of(part, stage));
        }
        return fullest;
    }
    void add(BitRate rate, double queue, double of_sender, double in_switch) {
        queues_.push_back({Pressure::Port::uplink, rate, queue, of_sender, std::max(in_switch, queue)});
    }

    const Plan& plan_;
    const NetworkPlan& network_;
    const TopologyPlan& topology_;
    RanksPerPort ranks_;
    bool in_turn_;
    std::vector<FabricPart> leaves_;
    std::vector<FabricPart> pods_;
    std::array<double, chunk_places> of_producer_{};  ///< by stage: all that one producer may have under way
    std::array<double, chunk_places> into_consumer_{};  ///< and into one consumer
    std::vector<PortQueue> queues_;
};

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

std::vector<PortQueue> uplink_queues(const Plan& plan, const NetworkPlan& network, const RanksPerPort& ranks,
                                     bool disturbed) {
    if (network.fabric.topology.spines == 0) {
        return {};  // rails that nothing connects
    }
    return UplinkQueues(plan, network, ranks, disturbed).all();
}

}  // namespace weir::core
