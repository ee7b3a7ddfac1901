#include "simulation/switched_network.hpp"

#include <algorithm>

namespace weir::simulation {

using core::Bytes;
using core::Instant;
using packet::PacketNetwork;
using packet::Picoseconds;

namespace {

/// In handles of messages: a control message, not a chunk.
constexpr packet::MessageHandle control_bit = packet::MessageHandle{1} << 32U;
/// Connections of a pair have numbers: 0 and 1 are its classes, then come its events.
constexpr std::uint32_t first_event_number = 2;

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
        setup.nics.payload = network.mtu;
        setup.nics.overhead = {network.framing == core::Framing::none ? 0 : shape.overhead};
    }
    return setup;
}

/// The scheduler, the producers, the consumers. The latency of the plan is that of two cables and a switch;
/// each cable between switches has the same delay as one to a host.
packet::Topology topology_of(const core::Plan& plan, const core::NetworkPlan& network) {
    std::vector<core::BitRate> rates = core::producer_links(network, plan.producers);
    rates.insert(rates.begin(), network.producer_link);
    const std::vector<core::BitRate> consumers = core::consumer_links(network, plan.consumers);
    rates.insert(rates.end(), consumers.begin(), consumers.end());
    const core::Duration delay{network.latency.ns / 2};
    const core::TopologyPlan& shape = network.fabric.topology;
    packet::Topology topology = shape.kind == core::TopologyKind::leaf_spine
                                    ? packet::leaf_spine({.leaves = shape.leaves,
                                                          .spines = shape.spines,
                                                          .hosts = std::move(rates),
                                                          .between = shape.uplink_rate,
                                                          .delay = delay,
                                                          .cables = shape.uplinks})
                                    : packet::star(rates, delay);
    const NodeRow row{plan.producers, plan.consumers};
    for (FlatNode node = 0; node < row.size(); ++node) {
        topology.set_identity({node}, row.identity(node));
    }
    return topology;
}

}  // namespace

SwitchedNetwork::SwitchedNetwork(const core::Plan& plan, const core::NetworkPlan& network, Events& events,
                                 NetworkClient& client)
    : SeparateControl(plan, network, events, client),
      begin_(Instant{} - plan.warmup - network.clock_ahead),
      plan_(network),
      datagrams_(plan.lossy()),
      receives_into_sockets_(datagrams_ && network.fabric.hosts.socket_buffer.count > 0),
      topology_(topology_of(plan, network)),
      network_(setup_of(plan, network, topology_)),
      counters_({topology_, network_, row(), plan_, begin_}) {
    for (std::uint32_t producer = 0; datagrams_ && producer < plan.producers; ++producer) {
        sockets_.push_back(network_.open_socket({row().producer(producer)}, network.fabric.data_priority));
    }
    used_flows_.resize(plan.producers);
    add_background();
}

/// Each producer's host begins with another consumer's.
void SwitchedNetwork::add_background() {
    if (plan_.fabric.background.rate.bits_per_second == 0) {
        return;
    }
    std::vector<packet::NodeIndex> consumers;
    consumers.reserve(row().consumers);
    for (std::uint32_t consumer = 0; consumer < row().consumers; ++consumer) {
        consumers.push_back({row().consumer(consumer)});
    }
    for (std::uint32_t producer = 0; producer < row().producers; ++producer) {
        network_.add_background(plan_.fabric.background, {row().producer(producer)}, consumers);
    }
}

// Sending

packet::FlowIndex SwitchedNetwork::flow(FlatNode from, FlatNode to, Class use) {
    const std::uint64_t key = ((std::uint64_t{from} << 32U) | to) * 2 + (use == Class::control ? 1 : 0);
    const auto [known, added] = flows_.try_emplace(key);
    if (added) {
        const core::Priority priority =
            use == Class::control ? plan_.fabric.control_priority : plan_.fabric.data_priority;
        known->second = network_.connect({from}, {to}, priority, protocol(), static_cast<std::uint32_t>(use));
    }
    return known->second;
}

PacketNetwork::Protocol SwitchedNetwork::protocol() const {
    return plan_.framing == core::Framing::tcp ? PacketNetwork::Protocol::tcp
                                               : PacketNetwork::Protocol::queue_pair;
}

packet::FlowIndex SwitchedNetwork::flow_of_event(Instant now, std::uint32_t producer,
                                                 const core::SendChunk& chunk) {
    const auto [known, added] = flows_of_events_.try_emplace(chunk.chunk.event.value);
    if (added) {
        const std::uint32_t number =
            first_event_number + static_cast<std::uint32_t>(chunk.chunk.event.sequence());
        const packet::NodeIndex to{row().consumer(chunk.to.value)};
        std::deque<packet::FlowIndex>& used = used_flows_[producer];
        if (!used.empty() && network_.connect_again(since_begin(now), used.front(), to, protocol(), number)) {
            known->second = used.front();
            used.pop_front();
        } else {
            known->second = network_.connect({row().producer(producer)}, to, plan_.fabric.data_priority,
                                             protocol(), number);
        }
    }
    return known->second;
}

void SwitchedNetwork::post(Instant now, FlatNode from, FlatNode to, Class use, packet::MessageHandle handle,
                           Bytes bytes) {
    network_.post(since_begin(now), flow(from, to, use), handle, bytes);
}

void SwitchedNetwork::send_chunks(Instant now, std::uint32_t producer,
                                  std::span<const core::SendChunk> chunks) {
    for (const core::SendChunk& chunk : chunks) {
        const std::uint32_t index = chunks_.add({{producer, chunk, 1}, false, false});
        const FlatNode consumer = row().consumer(chunk.to.value);
        if (datagrams_) {
            network_.post_datagram(since_begin(now), sockets_[producer], {consumer}, index,
                                   chunk.chunk.length);
        } else if (plan_.fabric.queue_pairs == core::QueuePairs::event) {
            network_.post(since_begin(now), flow_of_event(now, producer, chunk), index, chunk.chunk.length);
        } else {
            post(now, row().producer(producer), consumer, Class::data, index, chunk.chunk.length);
        }
    }
}

void SwitchedNetwork::send_message(Instant now, FlatNode from, FlatNode to, Bytes bytes,
                                   std::uint32_t handle) {
    if (plan_.separate_control) {
        SeparateControl::send_message(now, from, to, bytes, handle);
    } else {
        post(now, from, to, Class::control, control_bit | handle, bytes);
    }
}

void SwitchedNetwork::send_result(Instant now, FlatNode from, Bytes bytes, std::uint32_t handle) {
    if (plan_.separate_control) {
        SeparateControl::send_result(now, from, bytes, handle);
    } else {
        post(now, from, 0, Class::control, control_bit | handle, bytes);
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
        const packet::Flow::Ends& ends = network_.flow(flow).ends();
        push_message(now, ends.from.value, ends.to.value, handle);
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
        network_.read_next(since_begin(now), {consumer});
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
    return core::SocketState{.receive_drops = network_.queue_counts({node}).socket_dropped,
                             .occupancy_bytes = network_.restart_socket_peak({node})};
}

void SwitchedNetwork::set_link(Instant now, FlatNode node, double factor) {
    network_.set_speed(since_begin(now), {node}, factor);
}

}  // namespace weir::simulation
