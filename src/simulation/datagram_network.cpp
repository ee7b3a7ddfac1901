#include "simulation/datagram_network.hpp"

namespace weir::simulation {

using core::Instant;

void DatagramNetwork::send_chunks(Instant now, std::uint32_t producer,
                                  std::span<const core::SendChunk> chunks) {
    for (const core::SendChunk& chunk : chunks) {
        links_.hand_over(now, row().producer(producer), datagrams_.add({producer, chunk}),
                         chunk.chunk.length);
    }
}

void DatagramNetwork::advance(Instant now) {
    const DatagramLinks::Passed passed = links_.pop_next();
    if (row().is_producer(passed.node)) {
        has_left(now, passed.datagram);
    } else {
        push(now + latency(), arrived, passed.datagram);
    }
}

void DatagramNetwork::handle_data(Instant now, const Event& event) {
    if (event.kind == left) {
        has_left(now, event.a);
    } else {
        has_arrived(event.a);
    }
}

void DatagramNetwork::has_left(Instant now, std::uint32_t index) {
    const ChunkRun datagram = datagrams_[index];
    const FlatNode producer = row().producer(datagram.producer);
    if (client().stands_still(producer)) {
        client().hold(producer, {true, left, index});
        return;
    }
    const FlatNode consumer = row().consumer(datagram.chunk.to.value);
    if (!links_.reach_port(now, consumer, index, datagram.chunk.chunk.length)) {
        datagrams_.remove(index);
        client().chunk_dropped(datagram);
    }
    client().chunks_left(datagram);
}

void DatagramNetwork::has_arrived(std::uint32_t index) {
    ChunkRun datagram = datagrams_[index];
    const FlatNode consumer = row().consumer(datagram.chunk.to.value);
    if (client().stands_still(consumer)) {
        client().hold(consumer, {true, arrived, index});
        return;
    }
    datagrams_.remove(index);
    // A datagram's header does not have them.
    datagram.chunk.chunk.event_bytes = {};
    datagram.chunk.chunk.generated_at = {};
    client().chunks_arrived(datagram);
}

}  // namespace weir::simulation
