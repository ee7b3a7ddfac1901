// All ranks of a run in one process on a virtual clock: the very nodes that `weir run` drives, over a fluid
// model of the network. Deterministic: what happens depends on the plan, the network and the seed, never on
// the machine.
//
// What is modelled: a transfer moves at its fair share of two links from the instant at which the producer
// hands over its first chunk; a chunk has left when the fluid has moved its bytes, and has arrived `latency`
// later. A control message takes `latency` and its bytes, and never overtakes another one between the same
// two nodes. The scheduler handles one message after the other, each for `scheduler_time`.
//
// Chunks count late and together, at the next of: their transfer's end, a tick (every 10 ms), their
// producer's next set. They carry no information of their own, so this changes no decision, and it makes the
// number of events that of the transfers and not that of the chunks. The first chunk of a transfer arrives on
// time. What counts at a tick is worked out, and told to the nodes, only when it matters: before anything
// else happens to them, their rate changes, or rows are closed (simulator_progress.cpp). Rows are also told
// how much of the chunks under way has moved when a second ends.
//
// With shaping, a chunk is a transfer of its own, because each has its own instant. Datagrams are not
// shared out at all: each goes through its producer's link, one after the other, and then through the
// switch's port to the consumer, whose buffer is finite (datagram_network.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/actions.hpp"
#include "core/indexed_heap.hpp"
#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/random.hpp"
#include "participant/consumer_node.hpp"
#include "participant/producer_node.hpp"
#include "participant/row_output.hpp"
#include "participant/scheduler_node.hpp"
#include "simulation/checker.hpp"
#include "simulation/datagram_network.hpp"
#include "simulation/event_queue.hpp"
#include "simulation/fault.hpp"
#include "simulation/fluid_network.hpp"
#include "telemetry/latencies.hpp"

namespace weir::simulation {

/// Nodes in one row: the scheduler, then the producers, then the consumers.
using FlatNode = std::uint32_t;

/// How a simulation came to its end.
struct SimulationEnd {
    enum class Kind : std::uint8_t {
        regular,      ///< the protocol came to its end on every node
        stopped,      ///< the caller did not want to go on
        node_died,    ///< a node fell silent for longer than the silence timeout
        rule_broken,  ///< a checker objects
        stuck,        ///< nothing happens any more, or it goes on long after it should have ended
    };
    Kind kind = Kind::regular;
    std::string what;
    std::optional<core::NodeId> node;  ///< node_died
};

class Simulator {
  public:
    using SchedulerMaker = std::function<std::unique_ptr<participant::SchedulerNode>(
        core::Instant start, participant::RowOutput& output)>;

    struct Setup {
        const core::Plan& plan;
        core::NetworkPlan network;
        std::vector<InjectedFault> faults{};
        core::Duration silence_timeout = core::Duration::seconds(5);
        /// Where a node's rows go.
        std::function<participant::RowOutput&(core::NodeId)> output;
        /// Makes another scheduler than weir's: tests of the checkers.
        SchedulerMaker scheduler{};
    };
    /// What `setup` refers to must outlive the simulator.
    explicit Simulator(const Setup& setup);

    /// Until the end, or until `go_on` says no; it is asked every 10 ms of virtual time.
    SimulationEnd run(const std::function<bool(core::Instant now)>& go_on);

    [[nodiscard]] const participant::Node& node(core::NodeId node) const { return *nodes_[flat(node)]; }
    /// Of all nodes together.
    [[nodiscard]] const telemetry::Latencies& latencies() const { return latencies_; }
    [[nodiscard]] const std::vector<core::Fault>& faults() const { return found_faults_; }
    [[nodiscard]] std::uint64_t fault_count() const { return fault_count_; }

  private:
    static constexpr core::Duration tick_period = core::Duration::milliseconds(10);
    /// A control message, with the 80 bytes that carry it in a packet of the runtime.
    static constexpr core::Bytes message_bytes{static_cast<std::int64_t>(sizeof(core::ControlMessage)) + 80};

    enum class Kind : std::uint8_t {
        message,           ///< a: place in messages_
        first_chunk,       ///< a: transfer, b: its serial number
        all_left,          ///< a: transfer; its producer was away when the last byte left
        datagram_left,     ///< a: place in datagrams_; its producer was away when it left
        datagram_arrived,  ///< a: place in datagrams_
        rest_arrived,      ///< a: transfer
        tick,              ///< chunks that have left and arrived count
        heartbeat,         ///< the scheduler's, to all producers
        second,            ///< rows are closed on every node
        producers_begin,   ///< to generate: the first credits are known
        fault_begins,      ///< a: place in setup.faults
        fault_ends,        ///< a: place in setup.faults
        noticed,           ///< a: node that died
    };
    struct Event {
        Kind kind = Kind::tick;
        std::uint32_t a = 0;
        std::uint32_t b = 0;
    };
    struct Message {
        FlatNode from = 0;
        FlatNode to = 0;
        core::ControlMessage message;
        bool served = false;  ///< it is the one that the scheduler works on
        bool result = false;  ///< no message but the result of an event: its slot, event and bytes
    };
    struct Transfer {
        FlowId flow;
        std::uint32_t serial = 0;  ///< which one of those that had this place
        bool active = false;
        bool moving = false;  ///< is in the network
        core::SendChunk first;
        std::uint32_t producer = 0;
        core::Bytes bytes;                 ///< of the whole transfer
        std::uint32_t first_sequence = 0;  ///< of its chunks
        std::uint32_t chunks = 0;
        std::uint32_t sent = 0;
        std::uint32_t arrived = 0;
        std::uint32_t sent_told = 0;      ///< of those sent, the producer knows
        std::uint32_t arrived_told = 0;   ///< of those arrived, the consumer knows
        std::uint64_t ticks = 0;          ///< so many have been counted
        BitNanoseconds sent_next = 0;     ///< when this has moved, the next chunk has left
        BitNanoseconds arrived_next = 0;  ///< when this has arrived, the next chunk has
        core::Bytes sent_credited;        ///< rows know that so much has left
        core::Bytes arrived_credited;     ///< rows know that so much has arrived
    };
    /// What the transfers of a node do at ticks, between its turns.
    struct Progress {
        std::vector<std::uint32_t> transfers{};  ///< places of those that go on; by_transfer()
        std::uint64_t recorded = 0;              ///< so many ticks are in its rows
        std::uint64_t caught_up = 0;             ///< so many ticks it has been told of
        std::vector<core::Bytes> bytes{};        ///< that count at ticks recorded + 1, recorded + 2, ...

        /// The account of the ticks from `first`, which is not recorded yet, to `last`.
        std::span<core::Bytes> at_ticks(std::uint64_t first, std::uint64_t last) {
            if (bytes.size() < last - recorded) {
                bytes.resize(last - recorded);
            }
            return std::span(bytes).subspan(first - recorded - 1, last - first + 1);
        }
    };
    /// What moves past an end of a transfer at ticks.
    struct Passing {
        BitNanoseconds moved = 0;  ///< at the first tick
        BitNanoseconds step = 0;   ///< from tick to tick
        std::uint32_t most = 0;    ///< so many chunks can have passed
    };
    /// What a node's transfers have moved beyond the chunks that count.
    struct Moving {
        core::Bytes bytes;
        core::Instant since = core::Instant::never();  ///< of the oldest of which no chunk has arrived
    };
    struct Datagram {
        core::SendChunk chunk;
        std::uint32_t producer = 0;
    };
    struct Condition {
        std::uint32_t pauses = 0;
        bool dead = false;
        std::vector<double> link_factors{};  ///< of the faults that last
        std::vector<double> slow_factors{};
        std::vector<Event> held{};  ///< what happened to it while it was paused
        [[nodiscard]] bool away() const { return dead || pauses > 0; }
    };

    [[nodiscard]] FlatNode flat(core::NodeId node) const;
    [[nodiscard]] core::NodeId id(FlatNode node) const;
    participant::ProducerNode& producer(FlatNode node) { return producers_[node - 1]; }
    participant::ConsumerNode& consumer(FlatNode node) { return consumers_[node - producers_end_]; }
    [[nodiscard]] LinkId up(FlatNode node) const { return {2 * node}; }
    [[nodiscard]] LinkId down(FlatNode node) const { return {2 * node + 1}; }

    void start();
    [[nodiscard]] core::Duration credits_known_after() const;
    void advance_to(core::Instant next);
    void handle(const Event& event);
    void handle_message(const Event& event);
    void serve_next();
    void handle_tick();
    void handle_fault(const InjectedFault& fault, bool begins);
    void handle_deadline(FlatNode node);
    void end_flow(FlowId flow);
    void all_left(std::uint32_t place);

    template <typename Input>
    void turn(FlatNode node, const Input& input) {
        if (conditions_[node].away()) {
            return;
        }
        catch_up(node);
        input(actions_);
        carry_out(node);
        set_deadline(node);
    }
    void carry_out(FlatNode node);
    void send_message(FlatNode from, const core::SendMessage& sent);
    void send_result(FlatNode from, const core::SendResult& result);
    std::uint32_t place_message(const Message& message);
    void take_chunks(FlatNode producer);
    void take_chunk(FlatNode producer, const core::SendChunk& chunk);
    void begin_transfer(FlatNode producer, const core::SendChunk& chunk);
    void send_datagram(FlatNode producer, const core::SendChunk& chunk);
    void datagram_passed();
    void datagram_left(const Event& event);
    void datagram_arrived(const Event& event);
    /// Chunks are moved one by one, and not the transfer that they belong to.
    [[nodiscard]] bool by_chunk() const { return plan_.shaping.kind != core::ShapingKind::none; }
    /// The network moves whole transfers.
    [[nodiscard]] bool by_transfer() const { return !by_chunk() && !plan_.lossy(); }
    void follow(std::uint32_t place);
    [[nodiscard]] core::Instant tick_time(std::uint64_t tick) const {
        return first_tick_ + tick_period * static_cast<std::int64_t>(tick - 1);
    }
    /// Works out which chunks of a transfer have left and arrived at the ticks so far.
    void count_ticks(std::uint32_t place) {
        if (transfers_[place].ticks != ticks_) {
            count_new_ticks(transfers_[place]);
        }
    }
    void count_new_ticks(Transfer& transfer);
    /// Credits rows with what moves, at the last tick of a second.
    void credit_moving();
    void record_moving(FlatNode node, const Moving& moving);
    core::Bytes beyond_chunks(const Transfer& transfer, BitNanoseconds moved, std::uint32_t chunks,
                              core::Bytes& credited) const;
    void count_passing(const Transfer& transfer, Progress& progress, std::uint64_t first,
                       const Passing& passing, std::uint32_t& passed, BitNanoseconds& next) const;
    /// Brings the rows of a node up to the last tick.
    void record_ticks(FlatNode node) {
        if (progress_[node].recorded != ticks_) {
            record_new_ticks(node);
        }
    }
    void record_new_ticks(FlatNode node);
    /// Brings a node and its rows up to the last tick. Before every turn.
    void catch_up(FlatNode node) {
        if (progress_[node].caught_up != ticks_) {
            tell_of_ticks(node);
        }
    }
    void tell_of_ticks(FlatNode node);
    void tell_sent(Transfer& transfer);
    void tell_sent_at_ticks(Transfer& transfer);
    void tell_arrived(Transfer& transfer);
    bool chunks_leave(std::uint32_t place, BitNanoseconds moved);
    void report_sent(std::uint32_t place, BitNanoseconds moved);
    /// Of all transfers that the producer has in the network.
    void report_sent_by(FlatNode producer);
    void report_arrived(std::uint32_t place, BitNanoseconds arrived);
    void report_progress(std::uint32_t place);
    /// Of what has left, what has arrived `latency` later, while the transfer is in the network.
    [[nodiscard]] BitNanoseconds arrived_by_now(const Transfer& transfer) const;
    [[nodiscard]] BitNanoseconds boundary(const Transfer& transfer, std::uint32_t chunks) const;
    /// `count` chunks in a row as if they were one.
    [[nodiscard]] core::ChunkDescription chunks_of(const Transfer& transfer, std::uint32_t first,
                                                   std::uint32_t count) const;
    /// How many chunks more than those `reported`, but not more than to `limit`, are through when so much
    /// has moved. `next`: when the next one is, which it keeps.
    [[nodiscard]] std::uint32_t chunks_until(const Transfer& transfer, std::uint32_t reported,
                                             std::uint32_t limit, BitNanoseconds& next,
                                             BitNanoseconds moved) const;
    void set_links(FlatNode node);
    void set_deadline(FlatNode node);
    void resume(FlatNode node);
    [[nodiscard]] bool finished() const;

    Setup setup_;
    const core::Plan& plan_;
    FlatNode producers_end_;
    FlatNode nodes_end_;
    core::Instant now_;
    core::Random random_;
    Checker checker_;
    telemetry::Latencies latencies_;
    std::unique_ptr<participant::SchedulerNode> scheduler_;
    std::deque<participant::ProducerNode> producers_;
    std::deque<participant::ConsumerNode> consumers_;
    std::vector<participant::Node*> nodes_;  ///< all of them, by FlatNode
    std::vector<Condition> conditions_;
    std::vector<core::BitRate> payload_rates_;  ///< of each node's link, by wire speed alone
    FluidNetwork network_;
    DatagramNetwork datagram_network_;
    std::vector<Datagram> datagrams_;
    std::vector<std::uint32_t> unused_datagrams_;
    EventQueue<Event> queue_;
    core::IndexedHeap<std::int64_t> deadlines_;

    std::vector<Message> messages_;
    std::vector<std::uint32_t> unused_messages_;
    std::vector<Transfer> transfers_;
    std::vector<std::uint32_t> unused_transfers_;
    std::vector<std::uint32_t> transfer_of_flow_;
    std::vector<std::uint32_t> new_transfers_;  ///< since the last settle

    core::Instant first_tick_;
    std::uint64_t ticks_ = 0;  ///< so far
    std::vector<Progress> progress_;
    std::vector<Moving> moving_;                ///< while it is credited
    std::vector<telemetry::ChunkBytes> steps_;  ///< of one node, while they are recorded
    /// Place and serial number of those whose first chunk may not have arrived. It changes what its
    /// consumer's slots do, so it is told at once.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> first_chunk_ahead_;

    core::Duration scheduler_time_;
    /// Places in messages_, in the order in which they came: the one that it works on, those that wait.
    std::deque<std::uint32_t> at_scheduler_;
    std::vector<core::Duration> extra_delays_;  ///< of the faults that last
    std::unordered_map<std::uint64_t, std::int64_t>
        last_arrival_;  ///< by pair; only once messages were delayed

    /// By node: when the last result that it sent has left its link. Empty without results.
    std::vector<core::Instant> results_left_;

    core::Actions actions_;
    std::optional<SimulationEnd> end_;
    std::vector<core::Fault> found_faults_;
    std::uint64_t fault_count_ = 0;
    std::uint64_t steps_at_now_ = 0;
};

}  // namespace weir::simulation
