#include "simulation/switched_network.hpp"

#include <algorithm>
#include <utility>

#include "simulation/switched_topology.hpp"

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

}  // namespace

SwitchedNetwork::SwitchedNetwork(const core::Plan& plan, const core::NetworkPlan& network, Events& events,
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

/// By the first NICs. Each producer's host begins with another consumer's.
void SwitchedNetwork::add_background(const core::BackgroundPlan& traffic, std::uint32_t number) {
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

// Sending

packet::FlowIndex SwitchedNetwork::next_flow(FlatNode from, FlatNode to, Class use) {
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
            use == Class::control ? plan_.fabric.control_priority : plan_.fabric.data_priority, protocol(),
            hashed_number(placement_, row(), from, to, number)));
        if (use == Class::control) {
            pairs_of_messages_[pair.flows.back().value] = {from, to};
        }
    }
    return pair.flows[turn];
}

PacketNetwork::Protocol SwitchedNetwork::protocol() const {
    return plan_.framing == core::Framing::tcp ? PacketNetwork::Protocol::tcp
                                               : PacketNetwork::Protocol::queue_pair;
}

packet::FlowIndex SwitchedNetwork::flow_of_event(Instant now, std::uint32_t producer,
                                                 const core::SendChunk& chunk) {
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
            known->second =
                network_.connect({ports.from}, {ports.to}, plan_.fabric.data_priority, protocol(), number);
        }
    }
    return known->second;
}

Instant SwitchedNetwork::copied_at(Instant now, FlatNode from, Bytes bytes) {
    Instant& free = memory_free_[placement_.host_of(from)];
    free = std::max(now, free) + core::time_for(plan_.fabric.placement.memory_rate, bytes);
    return free + plan_.fabric.placement.memory_delay;
}

void SwitchedNetwork::send_chunks(Instant now, std::uint32_t producer,
                                  std::span<const core::SendChunk> chunks) {
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

void SwitchedNetwork::post_message(Instant now, FlatNode from, FlatNode to, Bytes bytes,
                                   std::uint32_t handle) {
    if (placement_.on_one_host(from, to)) {
        push_message(copied_at(now, from, bytes), from, to, handle);
    } else {
        network_.post(since_begin(now), next_flow(from, to, Class::control), control_bit | handle, bytes);
    }
}

void SwitchedNetwork::send_message(Instant now, FlatNode from, FlatNode to, Bytes bytes,
                                   std::uint32_t handle) {
    if (plan_.separate_control) {
        SeparateControl::send_message(now, from, to, bytes, handle);
    } else {
        post_message(now, from, to, bytes, handle);
    }
}

void SwitchedNetwork::send_result(Instant now, FlatNode from, Bytes bytes, std::uint32_t handle) {
    if (plan_.separate_control) {
        SeparateControl::send_result(now, from, bytes, handle);
    } else {
        post_message(now, from, 0, bytes, handle);
    }
}

// Time

Instant SwitchedNetwork::next(Instant /*now*/, Instant until) {
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

void SwitchedNetwork::advance(Instant now) {
    report(now, reports_[delivered_++]);
}

void SwitchedNetwork::report(Instant now, const PacketNetwork::Report& report) {
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
            chunk_arrived(now, index);
            return;
        case sent:
            chunk_left(index);
            return;
        case lost:
            chunk_lost(index);
            return;
    }
}

void SwitchedNetwork::handle_data(Instant now, const QueueEvent& event) {
    if (event.kind() == chunk_has_left) {
        chunk_left(event.a());
    } else {
        chunk_arrived(now, event.a());
    }
}

void SwitchedNetwork::message_arrived(Instant now, packet::FlowIndex flow, std::uint32_t handle) {
    if (delays_messages()) {
        const Pair& pair = pairs_of_messages_.at(flow.value);
        push_message(now, pair.from, pair.to, handle);
    } else {
        client().message_arrived(handle);
    }
}

void SwitchedNetwork::chunk_left(std::uint32_t index) {
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

void SwitchedNetwork::chunk_arrived(Instant now, std::uint32_t index) {
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

void SwitchedNetwork::chunk_lost(std::uint32_t index) {
    const ChunkRun run = chunks_[index].run;
    end(index);
    client().chunk_dropped(run);
}

void SwitchedNetwork::end(std::uint32_t index) {
    chunks_[index].ended = true;
    if (chunks_[index].left) {
        remove(index);
    }
}

/// Messages of a connection arrive and are acknowledged in order, so with its last one an event is through.
void SwitchedNetwork::remove(std::uint32_t index) {
    const ChunkRun& run = chunks_[index].run;
    const core::ChunkDescription& chunk = run.chunk.chunk;
    if (!flows_of_events_.empty() && chunk.offset + chunk.length == chunk.event_bytes) {
        if (const auto found = flows_of_events_.find(chunk.event.value); found != flows_of_events_.end()) {
            used_flows_[run.producer].push_back(found->second);
            flows_of_events_.erase(found);
        }
    }
    chunks_.remove(index);
}

std::optional<core::SocketState> SwitchedNetwork::read_socket(FlatNode node) {
    if (!receives_into_sockets_ || !row().is_consumer(node)) {
        return std::nullopt;
    }
    return core::SocketState{.receive_drops = network_.queue_counts(first_nic(node)).socket_dropped,
                             .occupancy_bytes = network_.restart_socket_peak(first_nic(node))};
}

void SwitchedNetwork::set_failed(Instant now, std::uint32_t number, const Disturbance& disturbance, bool on) {
    counters_.failures().set(now, number, disturbance, on);
}

/// Of several nodes on a host, the one with the slowest links counts.
void SwitchedNetwork::set_link(Instant now, FlatNode node, double factor) {
    link_factors_[node] = factor;
    const core::Placement::Host& host = host_of(node);
    for (const FlatNode other : host.ranks) {
        factor = std::min(factor, link_factors_[other]);
    }
    for (std::uint32_t port = host.first_port; port < host.first_port + host.nics; ++port) {
        network_.set_speed(since_begin(now), {port}, factor);
    }
}

}  // namespace weir::simulation
