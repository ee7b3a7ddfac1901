#include "core/uplink_queues.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "core/fabric_layout.hpp"
#include "core/memory_need.hpp"
#include "core/placement.hpp"

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

}  // namespace

std::vector<PortQueue> uplink_queues(const Plan& plan, const NetworkPlan& network, const RanksPerPort& ranks,
                                     bool disturbed) {
    if (network.fabric.topology.spines == 0) {
        return {};  // rails that nothing connects
    }
    return UplinkQueues(plan, network, ranks, disturbed).all();
}

}  // namespace weir::core
