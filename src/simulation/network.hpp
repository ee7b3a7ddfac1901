// The seam between the nodes of a simulation and a model of the network. The simulator drives nodes over a
// virtual clock and hands the network what they send; the network reports what has left, arrived and was
// dropped. A model decides everything in between: rates, queues, packets, marks, pauses.
//
// Time: a model may put its events into the queue that it shares with the simulator (they come back through
// handle(), at equal instants in the order in which they were put in), or keep them itself and name the next
// one (next(), advance()), or both.
//
// Models that report late: a model need not report every chunk at the instant at which it passes. Chunks
// carry no information of their own, so this changes no decision, as long as a node's chunks are reported
// before anything else happens to it (catch_up), before a producer generates (report_left), and in its rows
// in the right instant (record). A model that reports at once leaves all four functions as they are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/actions.hpp"
#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/units.hpp"
#include "record/producer_recorder.hpp"
#include "simulation/event_queue.hpp"

namespace weir::simulation {

/// A node by its number in one row: the scheduler, then the producers, then the consumers.
using FlatNode = std::uint32_t;

struct NodeRow {
    std::uint32_t producers = 0;
    std::uint32_t consumers = 0;

    [[nodiscard]] FlatNode producer(std::uint32_t index) const { return 1 + index; }
    [[nodiscard]] FlatNode consumer(std::uint32_t index) const { return 1 + producers + index; }
    [[nodiscard]] FlatNode size() const { return 1 + producers + consumers; }
    [[nodiscard]] bool is_producer(FlatNode node) const { return node != 0 && node <= producers; }
    [[nodiscard]] bool is_consumer(FlatNode node) const { return node > producers; }
    [[nodiscard]] FlatNode flat(core::NodeId node) const {
        switch (node.role) {
            case core::Role::scheduler:
                return 0;
            case core::Role::producer:
                return producer(node.index);
            case core::Role::consumer:
                break;
        }
        return consumer(node.index);
    }
    /// In streams of random numbers: the same whatever other nodes there are.
    [[nodiscard]] std::uint32_t identity(FlatNode node) const {
        const core::NodeId its_id = id(node);
        return static_cast<std::uint32_t>(its_id.role) << 29U | its_id.index;
    }
    [[nodiscard]] core::NodeId id(FlatNode node) const {
        if (node == 0) {
            return core::scheduler_node();
        }
        return is_producer(node) ? core::NodeId{core::Role::producer, node - producer(0)}
                                 : core::NodeId{core::Role::consumer, node - consumer(0)};
    }
};

/// An event in the queue that the simulator and the network share. Two words, each written at once: a
/// load that spans several pending stores stalls.
struct QueueEvent {
    QueueEvent() = default;
    QueueEvent(bool networks, std::uint32_t its_kind, std::uint32_t first, std::uint32_t second = 0)
        : what_and_a(std::uint64_t{first} << 32U | (its_kind * 2 + (networks ? 1U : 0U))), b(second) {}
    [[nodiscard]] bool of_network() const { return what_and_a % 2 != 0; }
    /// The owner's.
    [[nodiscard]] std::uint8_t kind() const { return static_cast<std::uint8_t>(what_and_a / 2); }
    /// What it is about, by kind, as `b` is.
    [[nodiscard]] std::uint32_t a() const { return static_cast<std::uint32_t>(what_and_a >> 32U); }

    std::uint64_t what_and_a = 0;  ///< a(), before kind() and of_network()
    std::uint64_t b = 0;
};
using Events = EventQueue<QueueEvent>;

/// Chunks in a row of one producer's transfer, `chunk` as if they were one.
struct ChunkRun {
    std::uint32_t producer = 0;
    core::SendChunk chunk;
    std::uint32_t count = 1;
};

/// Whoever drives a network: what is reported to it, and what the network may ask of it.
class NetworkClient {
  public:
    NetworkClient() = default;
    NetworkClient(const NetworkClient&) = delete;
    NetworkClient& operator=(const NetworkClient&) = delete;
    virtual ~NetworkClient() = default;

    /// Chunks have left their producer. It has a turn, in which it may send more.
    virtual void chunks_left(const ChunkRun& run) = 0;
    /// Chunks have arrived at their consumer. It has a turn.
    virtual void chunks_arrived(const ChunkRun& run) = 0;
    /// A chunk will not arrive: the network had no room for it. Lossy transports only.
    virtual void chunk_dropped(const ChunkRun& run) = 0;
    /// A message or a result has arrived, with the handle under which it was sent. Its receiver has a turn.
    virtual void message_arrived(std::uint32_t handle) = 0;

    /// The node stands still: it gets no input. What would reach it is held with hold().
    [[nodiscard]] virtual bool stands_still(FlatNode node) const = 0;
    /// Keeps an event of the network until the node goes on: it comes back through Network::handle().
    virtual void hold(FlatNode node, const QueueEvent& event) = 0;

    // For networks that report late.

    /// Chunks, not the last ones of their transfer, that left or arrived before now and are in the node's
    /// rows. Only from within Network::catch_up() of the producer or the consumer.
    virtual void chunks_left_before(const ChunkRun& run) = 0;
    virtual void chunks_arrived_before(const ChunkRun& run) = 0;
    /// Gives the node a turn in which nothing happens but what catch_up() reports.
    virtual void give_turn(FlatNode node) = 0;
    /// For the node's rows: chunks that have passed, by when.
    virtual void record_chunks(FlatNode node, std::span<const record::ChunkBytes> chunks) = 0;
    /// For the node's rows, just before the end of a second: bytes that have passed of chunks that have not
    /// passed whole, and since when something of which no chunk has arrived is on its way (Instant::never():
    /// nothing is).
    virtual void record_moving(FlatNode node, core::Bytes bytes, core::Instant since) = 0;
};

class SwitchedCounters;
struct Disturbance;

class Network {
  public:
    Network() = default;
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;
    virtual ~Network() = default;

    /// Once, before anything else.
    virtual void start(core::Instant /*now*/) {}

    // What nodes send.

    /// Chunks that a producer hands over in one turn, in order.
    virtual void send_chunks(core::Instant now, std::uint32_t producer,
                             std::span<const core::SendChunk> chunks) = 0;
    /// A control message of so many bytes. Messages between two nodes arrive in order. `handle` is the
    /// caller's.
    virtual void send_message(core::Instant now, FlatNode from, FlatNode to, core::Bytes bytes,
                              std::uint32_t handle) = 0;
    /// The result of an event, to the scheduler. It arrives before messages that are sent after it.
    virtual void send_result(core::Instant now, FlatNode from, core::Bytes bytes, std::uint32_t handle) = 0;

    /// The transfer on this stream is not to go on: what has not left does not leave. Only after all that has
    /// left was reported to the producer (catch_up). Not every model can.
    virtual void cancel(core::Instant now, std::uint32_t producer, core::StreamId stream);

    // Time.

    /// When something happens that is not in the shared queue; never(): nothing does. Asked whenever time may
    /// move on, before the queue is. Up to `until` nothing else happens, so the network may go on until then
    /// by itself as long as it has nothing to report.
    [[nodiscard]] virtual core::Instant next(core::Instant now, core::Instant until) = 0;
    /// `now` is what next() returned: carries out one thing that happens now.
    virtual void advance(core::Instant now) = 0;
    /// An event of the network, from the shared queue or held for a node.
    virtual void handle(core::Instant now, const QueueEvent& event) = 0;

    /// What its devices count; nullptr: it has none.
    [[nodiscard]] virtual SwitchedCounters* counters() { return nullptr; }

    // Disturbances.

    /// From now on, or no more: a disturbance of the network itself, by its number.
    virtual void set_failed(core::Instant now, std::uint32_t number, const Disturbance& disturbance, bool on);
    /// From now on the node's links carry `factor` (0 to 1) of what they should.
    virtual void set_link(core::Instant now, FlatNode node, double factor) = 0;
    /// Whether a node that stands still takes its links down with it: nothing receives for it meanwhile.
    [[nodiscard]] virtual bool links_stop_with(FlatNode /*node*/) const { return true; }
    /// Datagrams: from now on, or no more, the switch sends what is for this consumer to its other hosts as
    /// well.
    virtual void set_flooded(FlatNode /*consumer*/, bool /*on*/) {}
    /// From now on each message takes up to `most` longer, at random.
    virtual void set_extra_delay(core::Duration most) = 0;

    /// What the socket of a node has counted so far, if it has one; the occupancy is the most since the last
    /// call.
    virtual std::optional<core::SocketState> read_socket(FlatNode /*node*/) { return std::nullopt; }

    // For networks that report late.

    /// How late the notice that chunks have left may come to a producer, outside of its turns; 0: never late.
    [[nodiscard]] virtual core::Duration report_period() const { return {}; }
    /// Brings the node's rows and the node up to now. Before each of its turns.
    virtual void catch_up(FlatNode /*node*/) {}
    /// Brings the node's rows up to now. Before rows are closed.
    virtual void record(FlatNode /*node*/) {}
    /// Reports all chunks of a producer that have left, in turns of it. Before it generates.
    virtual void report_left(core::Instant /*now*/, FlatNode /*producer*/) {}
};

/// The network that the plan asks for. All arguments must outlive it.
std::unique_ptr<Network> make_network(const core::Plan& plan, const core::NetworkPlan& network,
                                      Events& events, NetworkClient& client);
/// Packet by packet: switched_network.cpp.
std::unique_ptr<Network> make_switched_network(const core::Plan& plan, const core::NetworkPlan& network,
                                               Events& events, NetworkClient& client);

}  // namespace weir::simulation
