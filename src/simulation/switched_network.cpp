// Data and control messages through switches, packet by packet, between the NICs of the hosts on which nodes
// sit (core/fabric_layout.hpp). Every pair of nodes that talks has queue pairs (or, with framing `tcp`,
// connections) for data, one, several that messages take in turn, or one for each event, and one for control
// messages; a producer of datagrams has one socket. Control messages may have links of their own. The model
// itself is packet/packet_network.hpp.
//
// What nodes of one host send each other is copied in its memory, one message after the other, and reaches no
// NIC. A host's NICs work on while one of several nodes on it stands still.
#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/fabric_layout.hpp"
#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "packet/packet_network.hpp"
#include "simulation/device_names.hpp"
#include "simulation/pool.hpp"
#include "simulation/separate_control.hpp"
#include "simulation/switched_counters.hpp"

namespace weir::simulation {

using core::Bytes;
using core::Instant;
using packet::PacketNetwork;
using packet::Picoseconds;

namespace {

/// In handles of messages: a control message, not a chunk.
constexpr packet::MessageHandle control_bit = packet::MessageHandle{1} << 32U;
/// Connections of a pair have numbers: 0 and 1 are its classes, then come further ones for data or its
/// events.
constexpr std::uint32_t first_further_number = 2;

PacketNetwork::Setup setup_of(const core::Plan& plan, const core::NetworkPlan& network,
                              const packet::Topology& topology) {
    PacketNetwork::Setup setup{.topology = topology,
                               .switches = network.fabric.switches,
                               .nics = network.fabric.nics,
                               .tcp = network.fabric.tcp,
                               .hosts = network.fabric.hosts,
                               .datagrams = {network.mtu, network.framing != core::Framing::none},
                               .seed = plan.seed,
                               .begin = Picoseconds::of(network.clock_ahead)};
    const core::PacketShape shape = core::packet_shape(network);
    if (network.framing == core::Framing::tcp) {
        setup.tcp.payload = {shape.payload};
        setup.tcp.overhead = {shape.overhead};
    } else {
        setup.nics.payload = {shape.payload};
        setup.nics.overhead = {shape.overhead};
    }
    return setup;
}

class SwitchedNetwork final : public SeparateControl {
  public:
    SwitchedNetwork(const core::Plan& plan, const core::NetworkPlan& network, Events& events,
                    NetworkClient& client)
        : SeparateControl(plan, network, events, client),
          begin_(Instant{} - plan.warmup - network.clock_ahead),
          plan_(network),
          datagrams_(plan.lossy()),
          receives_into_sockets_(datagrams_ && network.fabric.hosts.socket_buffer.count > 0),
          placement_(network, plan.producers, plan.consumers, plan.seed),
          topology_(topology_of(plan, network, placement_)),
          network_(setup_of(plan, network, topology_)),
          counters_({topology_, network_, placement_, row(), plan_, begin_}),
          memory_free_(placement_.hosts().size(), begin_),
          link_factors_(row().size(), 1.0) {
        for (std::uint32_t producer = 0; datagrams_ && producer < plan.producers; ++producer) {
            sockets_.push_back(
                network_.open_socket(first_nic(row().producer(producer)), network.fabric.data_priority));
        }
        used_flows_.resize(plan.producers);
        add_background(plan_.fabric.background, 0);
        for (const core::TrafficClass& one : plan_.fabric.classes) {
            add_background(one.traffic, 1U + one.traffic.priority);
        }
    }

    void send_chunks(core::Instant now, std::uint32_t producer,
                     std::span<const core::SendChunk> chunks) override {
        const FlatNode from = row().producer(producer);
        for (const core::SendChunk& chunk : chunks) {
            const std::uint32_t index = chunks_.add({{producer, chunk, 1}, false, false});
            const FlatNode to = row().consumer(chunk.to.value);
            const Bytes length = chunk.chunk.length;
            if (placement_.on_one_host(from, to)) {
                const Instant at = copied_at(now, from, length);
                push(at, chunk_has_arrived, index);
                push(at, chunk_has_left, index);
            } else if (datagrams_) {
                network_.post_datagram(since_begin(now), sockets_[producer], first_nic(to), index, length);
            } else {
                const packet::FlowIndex used = plan_.fabric.queue_pairs.of_events
                                                   ? flow_of_event(now, producer, chunk)
                                                   : next_flow(from, to, Class::data);
                network_.post(since_begin(now), used, index, length);
            }
        }
    }
    void send_message(core::Instant now, FlatNode from, FlatNode to, core::Bytes bytes,
                      std::uint32_t handle) override {
        if (plan_.separate_control) {
            SeparateControl::send_message(now, from, to, bytes, handle);
        } else {
            post_message(now, from, to, bytes, handle);
        }
    }
    void send_result(core::Instant now, FlatNode from, core::Bytes bytes, std::uint32_t handle) override {
        if (plan_.separate_control) {
            SeparateControl::send_result(now, from, bytes, handle);
        } else {
            post_message(now, from, 0, bytes, handle);
        }
    }

    [[nodiscard]] core::Instant next(core::Instant /*now*/, core::Instant until) override {
        if (delivered_ == reports_.size()) {
            const Picoseconds limit = until == Instant::never() ? Picoseconds::never() : since_begin(until);
            if (network_.next_time() > limit) {
                return Instant::never();
            }
            reports_ = network_.advance(limit);
            delivered_ = 0;
        }
        return delivered_ == reports_.size() ? Instant::never()
                                             : begin_ + (reports_[delivered_].at.instant() - Instant{});
    }
    void advance(core::Instant now) override { report(now, reports_[delivered_++]); }

    [[nodiscard]] SwitchedCounters* counters() override { return &counters_; }

    std::optional<core::SocketState> read_socket(FlatNode node) override {
        if (!receives_into_sockets_ || !row().is_consumer(node)) {
            return std::nullopt;
        }
        return core::SocketState{.receive_drops = network_.queue_counts(first_nic(node)).socket_dropped,
                                 .occupancy_bytes = network_.restart_socket_peak(first_nic(node))};
    }

    void set_failed(core::Instant now, std::uint32_t number, const Disturbance& disturbance,
                    bool on) override {
        counters_.failures().set(now, number, disturbance, on);
    }
    void set_link(core::Instant now, FlatNode node, double factor) override {
        link_factors_[node] = factor;
        const core::Placement::Host& host = host_of(node);
        for (const FlatNode other : host.ranks) {
            factor = std::min(factor, link_factors_[other]);
        }
        for (std::uint32_t port = host.first_port; port < host.first_port + host.nics; ++port) {
            network_.set_speed(since_begin(now), {port}, factor);
        }
    }
    void set_flooded(FlatNode consumer, bool on) override { network_.set_flooded(first_nic(consumer), on); }
    [[nodiscard]] bool links_stop_with(FlatNode node) const override {
        return !receives_into_sockets_ && host_of(node).ranks.size() == 1;
    }

  private:
    enum Kind : std::uint8_t {
        chunk_has_left = first_data_kind,  ///< a: index in chunks_; its producer stood still
        chunk_has_arrived,                 ///< a: index in chunks_; its consumer stood still
    };
    enum class Class : std::uint8_t { data, control };

    [[nodiscard]] const core::Placement::Host& host_of(FlatNode node) const {
        return placement_.hosts()[placement_.host_of(node)];
    }
    [[nodiscard]] packet::NodeIndex first_nic(FlatNode node) const { return {host_of(node).first_port}; }
    /// When bytes that stay in the host have arrived.
    core::Instant copied_at(core::Instant now, FlatNode from, core::Bytes bytes) {
        Instant& free = memory_free_[placement_.host_of(from)];
        free = std::max(now, free) + core::time_for(plan_.fabric.placement.memory_rate, bytes);
        return free + plan_.fabric.placement.memory_delay;
    }
    /// The pair's next one in turn.
    packet::FlowIndex next_flow(FlatNode from, FlatNode to, Class use) {
        const std::uint64_t key = ((std::uint64_t{from} << 32U) | to) * 2 + (use == Class::control ? 1 : 0);
        PairFlows& pair = flows_[key];
        const std::uint32_t all = use == Class::control ? 1 : plan_.fabric.queue_pairs.of_a_pair;
        const std::uint32_t turn = std::exchange(pair.next, (pair.next + 1) % all);
        if (turn == pair.flows.size()) {
            const std::uint32_t number =
                turn == 0 ? static_cast<std::uint32_t>(use) : first_further_number + turn - 1;
            const core::Placement::Ports ports = placement_.ports(from, to, number);
            pair.flows.push_back(network_.connect(
                {ports.from}, {ports.to},
                use == Class::control ? plan_.fabric.control_priority : plan_.fabric.data_priority,
                protocol(), hashed_number(placement_, row(), from, to, number)));
            if (use == Class::control) {
                pairs_of_messages_[pair.flows.back().value] = {from, to};
            }
        }
        return pair.flows[turn];
    }
    /// --queue-pairs event: that of the chunk's event.
    packet::FlowIndex flow_of_event(core::Instant now, std::uint32_t producer, const core::SendChunk& chunk) {
        const auto [known, added] = flows_of_events_.try_emplace(chunk.chunk.event.value);
        if (added) {
            const FlatNode from = row().producer(producer);
            const FlatNode to = row().consumer(chunk.to.value);
            const auto sequence = static_cast<std::uint32_t>(chunk.chunk.event.sequence());
            const std::uint32_t number =
                hashed_number(placement_, row(), from, to, first_further_number + sequence);
            const core::Placement::Ports ports = placement_.ports(from, to, first_further_number + sequence);
            std::deque<packet::FlowIndex>& used = used_flows_[producer];
            if (!used.empty() && network_.flow(used.front()).ends().from.value == ports.from &&
                network_.connect_again(since_begin(now), used.front(), {ports.to}, protocol(), number)) {
                known->second = used.front();
                used.pop_front();
            } else {
                known->second = network_.connect({ports.from}, {ports.to}, plan_.fabric.data_priority,
                                                 protocol(), number);
            }
        }
        return known->second;
    }
    [[nodiscard]] packet::PacketNetwork::Protocol protocol() const {
        return plan_.framing == core::Framing::tcp ? PacketNetwork::Protocol::tcp
                                                   : PacketNetwork::Protocol::queue_pair;
    }
    void post_message(core::Instant now, FlatNode from, FlatNode to, core::Bytes bytes,
                      std::uint32_t handle) {
        if (placement_.on_one_host(from, to)) {
            push_message(copied_at(now, from, bytes), from, to, handle);
        } else {
            network_.post(since_begin(now), next_flow(from, to, Class::control), control_bit | handle, bytes);
        }
    }
    void add_background(const core::BackgroundPlan& traffic, std::uint32_t number) {
        if (traffic.rate.bits_per_second == 0) {
            return;
        }
        const std::vector<core::Placement::Host>& hosts = placement_.hosts();
        for (std::uint32_t sender = 0; sender < hosts.size(); ++sender) {
            std::vector<packet::NodeIndex> receivers;
            for (const std::uint32_t receiver : placement_.receivers_of_others(sender)) {
                receivers.push_back({hosts[receiver].first_port});
            }
            if (!receivers.empty()) {
                network_.add_background(traffic, {hosts[sender].first_port}, receivers, number);
            }
        }
    }
    void handle_data(core::Instant now, const QueueEvent& event) override {
        if (event.kind() == chunk_has_left) {
            chunk_left(event.a());
        } else {
            chunk_arrived(now, event.a());
        }
    }
    void report(core::Instant now, const packet::PacketNetwork::Report& report) {
        using enum PacketNetwork::Report::Kind;
        const auto index = static_cast<std::uint32_t>(report.message);
        if ((report.message & control_bit) != 0) {
            if (report.kind == arrived) {
                message_arrived(now, report.flow, index);
            }
            return;
        }
        switch (report.kind) {
            case arrived:
                return chunk_arrived(now, index);
            case sent:
                return chunk_left(index);
            case lost:
                const ChunkRun run = chunks_[index].run;
                end(index);
                client().chunk_dropped(run);
        }
    }
    void message_arrived(core::Instant now, packet::FlowIndex flow, std::uint32_t handle) {
        if (delays_messages()) {
            const Pair& pair = pairs_of_messages_.at(flow.value);
            push_message(now, pair.from, pair.to, handle);
        } else {
            client().message_arrived(handle);
        }
    }
    void chunk_left(std::uint32_t index) {
        Chunk& chunk = chunks_[index];
        const ChunkRun run = chunk.run;
        const FlatNode producer = row().producer(run.producer);
        if (client().stands_still(producer)) {
            client().hold(producer, {true, chunk_has_left, index, 0});
            return;
        }
        chunk.left = true;
        if (chunk.ended) {
            remove(index);
        }
        client().chunks_left(run);
    }
    void chunk_arrived(core::Instant now, std::uint32_t index) {
        ChunkRun run = chunks_[index].run;
        const FlatNode consumer = row().consumer(run.chunk.to.value);
        if (client().stands_still(consumer)) {
            client().hold(consumer, {true, chunk_has_arrived, index, 0});
            return;
        }
        end(index);
        if (datagrams_) {
            // A datagram's header does not have them.
            run.chunk.chunk.event_bytes = {};
            run.chunk.chunk.generated_at = {};
        }
        client().chunks_arrived(run);
        if (datagrams_) {
            network_.read_next(since_begin(now), first_nic(consumer));
        }
    }

    /// The clock of the packets begins with the warm-up, at 0 or what tests set.
    [[nodiscard]] packet::Picoseconds since_begin(core::Instant now) const {
        return packet::Picoseconds::of(now - begin_);
    }

    core::Instant begin_;
    core::NetworkPlan plan_;
    bool datagrams_;
    bool receives_into_sockets_;  ///< which go on when the node stands still
    core::Placement placement_;
    packet::Topology topology_;
    packet::PacketNetwork network_;
    SwitchedCounters counters_;
    struct PairFlows {
        std::vector<packet::FlowIndex> flows;  ///< so far
        std::uint32_t next = 0;
    };
    std::unordered_map<std::uint64_t, PairFlows> flows_;  ///< by class and pair of nodes
    struct Pair {
        FlatNode from = 0;
        FlatNode to = 0;
    };
    std::unordered_map<std::uint32_t, Pair> pairs_of_messages_;             ///< by flow
    std::vector<core::Instant> memory_free_;                                ///< by host
    std::vector<double> link_factors_;                                      ///< by node
    std::vector<packet::FlowIndex> sockets_;                                ///< datagrams: by producer
    std::unordered_map<std::uint64_t, packet::FlowIndex> flows_of_events_;  ///< of those that have begun
    std::vector<std::deque<packet::FlowIndex>> used_flows_;  ///< of events that are through, by producer
    /// A chunk is kept until it has both left (reported to its producer) and arrived or been lost.
    struct Chunk {
        ChunkRun run;
        bool left = false;
        bool ended = false;
    };
    void end(std::uint32_t index) {
        chunks_[index].ended = true;
        if (chunks_[index].left) {
            remove(index);
        }
    }
    void remove(std::uint32_t index) {
        const ChunkRun& run = chunks_[index].run;
        const core::ChunkDescription& chunk = run.chunk.chunk;
        if (!flows_of_events_.empty() && chunk.offset + chunk.length == chunk.event_bytes) {
            if (const auto found = flows_of_events_.find(chunk.event.value);
                found != flows_of_events_.end()) {
                used_flows_[run.producer].push_back(found->second);
                flows_of_events_.erase(found);
            }
        }
        chunks_.remove(index);
    }
    Pool<Chunk> chunks_;
    std::vector<packet::PacketNetwork::Report> reports_;  ///< that advance() is to deliver
    std::size_t delivered_ = 0;                           ///< of them
};

}  // namespace

std::unique_ptr<Network> make_switched_network(const core::Plan& plan, const core::NetworkPlan& network,
                                               Events& events, NetworkClient& client) {
    return std::make_unique<SwitchedNetwork>(plan, network, events, client);
}

}  // namespace weir::simulation
