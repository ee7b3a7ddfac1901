#include "simulation/switched_network.hpp"

#include <algorithm>

namespace weir::simulation {

using core::Bytes;
using core::Duration;
using core::Instant;
using packet::PacketNetwork;
using packet::Picoseconds;

namespace {

/// In handles of messages: a control message, not a chunk.
constexpr packet::MessageHandle control_bit = packet::MessageHandle{1} << 32U;

PacketNetwork::Setup setup_of(const core::Plan& plan, const core::NetworkPlan& network,
                              const packet::Topology& topology) {
    PacketNetwork::Setup setup{.topology = topology,
                               .switches = network.fabric.switches,
                               .nics = network.fabric.nics,
                               .tcp = network.fabric.tcp,
                               .seed = plan.seed};
    const core::PacketShape shape = core::packet_shape(network.framing, network.mtu);
    if (network.framing == core::Framing::tcp) {
        setup.tcp.payload = {shape.payload};
        setup.tcp.overhead = {shape.overhead};
    } else {
        setup.nics.payload = network.mtu;
        setup.nics.overhead = {network.framing == core::Framing::none ? 0 : shape.overhead};
    }
    return setup;
}

/// The scheduler, the producers, the consumers. The latency of the plan is that of two cables and a switch.
packet::Topology topology_of(const core::Plan& plan, const core::NetworkPlan& network) {
    std::vector<core::BitRate> rates(1 + plan.producers, network.producer_link);
    rates.insert(rates.end(), plan.consumers, network.consumer_link);
    return packet::star(rates, {network.latency.ns / 2});
}

}  // namespace

SwitchedNetwork::SwitchedNetwork(const core::Plan& plan, const core::NetworkPlan& network, Events& events,
                                 NetworkClient& client)
    : begin_(Instant{} - plan.warmup),
      row_{plan.producers, plan.consumers},
      plan_(network),
      events_(events),
      client_(client),
      random_(plan.seed, core::random_stream(core::RandomPurpose::delay, 0)),
      topology_(topology_of(plan, network)),
      network_(setup_of(plan, network, topology_)),
      counters_({topology_, network_, row_, plan_, begin_}) {}

// Sending

packet::FlowIndex SwitchedNetwork::flow(FlatNode from, FlatNode to, Class use) {
    const std::uint64_t key = ((std::uint64_t{from} << 32U) | to) * 2 + (use == Class::control ? 1 : 0);
    const auto [known, added] = flows_.try_emplace(key);
    if (added) {
        const core::Priority priority =
            use == Class::control ? plan_.fabric.control_priority : plan_.fabric.data_priority;
        known->second =
            network_.connect({from}, {to}, priority,
                             plan_.framing == core::Framing::tcp ? PacketNetwork::Protocol::tcp
                                                                 : PacketNetwork::Protocol::queue_pair);
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
        post(now, row_.producer(producer), row_.consumer(chunk.to.value), Class::data, index,
             chunk.chunk.length);
    }
}

void SwitchedNetwork::send_message(Instant now, FlatNode from, FlatNode to, Bytes bytes,
                                   std::uint32_t handle) {
    post(now, from, to, Class::control, control_bit | handle, bytes);
}

void SwitchedNetwork::send_result(Instant now, FlatNode from, Bytes bytes, std::uint32_t handle) {
    post(now, from, 0, Class::control, control_bit | handle, bytes);
}

// Time

Instant SwitchedNetwork::next(Instant /*now*/, Instant until) {
    if (delivered_ == reports_.size()) {
        reports_ = network_.advance(until == Instant::never() ? Picoseconds::never() : since_begin(until));
        delivered_ = 0;
    }
    return delivered_ == reports_.size() ? Instant::never()
                                         : begin_ + (reports_[delivered_].at.instant() - Instant{});
}

void SwitchedNetwork::advance(Instant now) {
    report(now, reports_[delivered_++]);
}

void SwitchedNetwork::report(Instant now, const PacketNetwork::Report& report) {
    const auto index = static_cast<std::uint32_t>(report.message);
    const bool arrived = report.kind == PacketNetwork::Report::Kind::arrived;
    if ((report.message & control_bit) != 0) {
        if (arrived) {
            message_arrived(now, report.flow, index);
        }
    } else if (arrived) {
        chunk_arrived(index);
    } else {
        chunk_left(index);
    }
}

void SwitchedNetwork::handle(Instant /*now*/, const Event& event) {
    switch (static_cast<Kind>(event.kind)) {
        case Kind::chunk_left:
            chunk_left(event.a);
            return;
        case Kind::chunk_arrived:
            chunk_arrived(event.a);
            return;
        case Kind::message:
            client_.message_arrived(event.a);
            return;
    }
}

void SwitchedNetwork::message_arrived(Instant now, packet::FlowIndex flow, std::uint32_t handle) {
    if (extra_delay_ == Duration{} && last_arrival_.empty()) {
        client_.message_arrived(handle);
        return;
    }
    const auto most = static_cast<std::uint64_t>(extra_delay_.ns);
    Instant& last = last_arrival_[flow.value];
    last = std::max(last, now + Duration{static_cast<std::int64_t>(random_.below(most + 1))});
    events_.push(last, {true, static_cast<std::uint8_t>(Kind::message), handle, 0});
}

void SwitchedNetwork::chunk_left(std::uint32_t index) {
    Chunk& chunk = chunks_[index];
    const ChunkRun run = chunk.run;
    const FlatNode producer = row_.producer(run.producer);
    if (client_.stands_still(producer)) {
        client_.hold(producer, {true, static_cast<std::uint8_t>(Kind::chunk_left), index, 0});
        return;
    }
    chunk.left = true;
    if (chunk.arrived) {
        chunks_.remove(index);
    }
    client_.chunks_left(run);
}

void SwitchedNetwork::chunk_arrived(std::uint32_t index) {
    Chunk& chunk = chunks_[index];
    const ChunkRun run = chunk.run;
    const FlatNode consumer = row_.consumer(run.chunk.to.value);
    if (client_.stands_still(consumer)) {
        client_.hold(consumer, {true, static_cast<std::uint8_t>(Kind::chunk_arrived), index, 0});
        return;
    }
    chunk.arrived = true;
    if (chunk.left) {
        chunks_.remove(index);
    }
    client_.chunks_arrived(run);
}

void SwitchedNetwork::set_link(Instant now, FlatNode node, double factor) {
    network_.set_speed(since_begin(now), {node}, factor);
}

}  // namespace weir::simulation
