// All ranks of a run in one process on a virtual clock: the very nodes that `weir run` drives, over a model
// of the network (network.hpp). Deterministic: what happens depends on the plan, the network and the seed,
// never on the machine.
//
// A turn of a node is what it is under MPI: inputs, then the actions that they led to are carried out. Time
// jumps from one thing that happens to the next: events of the queue that the simulator and the network
// share, what else happens in the network, deadlines of nodes, in this order where they are equal. The
// scheduler handles one message after the other, each for `scheduler_time`.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/actions.hpp"
#include "core/indexed_heap.hpp"
#include "core/network_plan.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"
#include "participant/rank_node.hpp"
#include "record/latencies.hpp"
#include "simulation/checker.hpp"
#include "simulation/disturbance.hpp"
#include "simulation/network.hpp"
#include "simulation/network_recorder.hpp"
#include "simulation/pool.hpp"

namespace weir::simulation {

/// How a simulation came to its end.
struct SimulationEnd {
    enum class Kind : std::uint8_t {
        regular,      ///< the protocol came to its end on every node
        stopped,      ///< the caller ended it
        node_died,    ///< a node fell silent for longer than the silence timeout
        rule_broken,  ///< a checker objects
        stuck,        ///< nothing happens any more, or it goes on long after it should have ended
    };
    Kind kind = Kind::regular;
    std::string what;
    std::optional<core::NodeId> node;  ///< node_died
};

// More functions: it is what the network reports to, and has one for each kind of event and of disturbance.
class Simulator final : private NetworkClient {
  public:
    using SchedulerMaker = std::function<std::unique_ptr<participant::SchedulerNode>(
        core::Instant start, participant::RowOutput& output)>;

    struct Setup {
        const core::Plan& plan;
        core::NetworkPlan network;
        std::vector<Disturbance> disturbances{};
        core::Duration silence_timeout = core::Duration::seconds(5);
        /// Where a node's rows go.
        std::function<participant::RowOutput&(core::NodeId)> output;
        /// Makes another scheduler than weir's: tests of the checkers.
        SchedulerMaker scheduler{};
        /// Records what the network's devices count, if it has any; nullptr: nothing is recorded.
        NetworkRecorder* recorder = nullptr;
    };
    /// What `setup` refers to must outlive the simulator.
    explicit Simulator(const Setup& setup);

    /// Until the end, or until `go_on` returns false; it is called every 10 ms of virtual time.
    SimulationEnd run(const std::function<bool(core::Instant now)>& go_on);

    [[nodiscard]] const participant::Node& node(core::NodeId node) const { return *nodes_[row_.flat(node)]; }
    [[nodiscard]] const participant::SchedulerNode& scheduler() const { return *scheduler_; }
    [[nodiscard]] const participant::ProducerNode& producer_node(core::ProducerId producer) const {
        return producers_[producer.value];
    }
    /// For each of core::Scheduler::losses(): since when the consumer had been silent.
    [[nodiscard]] const std::vector<core::Instant>& silent_since() const { return silent_since_; }
    /// Over all nodes.
    [[nodiscard]] const record::Latencies& latencies() const { return latencies_; }
    [[nodiscard]] const std::vector<core::Fault>& faults() const { return found_faults_; }
    [[nodiscard]] std::uint64_t fault_count() const { return fault_count_; }

  private:
    /// A control message, with the 80 bytes that carry it in a packet of a measured run.
    static constexpr core::Bytes message_bytes{static_cast<std::int64_t>(sizeof(core::ControlMessage)) + 80};

    enum class Kind : std::uint8_t {
        message,             ///< a: index in messages_; its receiver stood still when it arrived
        handled,             ///< a: index in messages_; the scheduler has worked on it
        heartbeat,           ///< the scheduler's, to all producers
        second,              ///< rows are closed on every node
        switch_row,          ///< rows of switches are closed
        producers_begin,     ///< to generate: the first credits are known
        disturbance_begins,  ///< a: index in setup.disturbances
        disturbance_ends,    ///< a: index in setup.disturbances
        noticed,             ///< a: node that died, or has been silent
    };
    /// A control message under way, or the result of an event.
    struct Message {
        FlatNode from = 0;
        FlatNode to = 0;
        std::variant<core::ControlMessage, core::SendResult> content;
    };
    /// What disturbances make of a node.
    struct NodeCondition {
        std::uint32_t pauses = 0;
        core::Instant paused_since{};
        bool dead = false;
        // --on-failure continue, a consumer.
        std::uint32_t deaths = 0;  ///< of the disturbances that last
        std::uint32_t cuts = 0;
        bool restarts = false;  ///< it was dead: when it goes on, it is a new process
        core::Instant silent_since{};
        std::vector<std::uint32_t> unsent{};  ///< indices in messages_: what it sends while it is cut off
        std::vector<double> link_factors{};   ///< of the disturbances that last
        std::vector<double> slow_factors{};
        std::vector<double> drifts_ppm{};
        std::uint32_t floods = 0;
        std::vector<QueueEvent> held{};  ///< what happened to it while it stood still
        [[nodiscard]] bool away() const { return dead || pauses > 0; }
        [[nodiscard]] bool silent() const { return away() || cuts > 0; }
    };

    participant::ProducerNode& producer(FlatNode node) { return producers_[node - row_.producer(0)]; }
    participant::ConsumerNode& consumer(FlatNode node) { return consumers_[node - row_.consumer(0)]; }

    // The course of time.
    void make_nodes();
    void start();
    [[nodiscard]] core::Duration credits_known_after() const;
    [[nodiscard]] core::Instant latest_end() const;
    void step(core::Instant limit);
    void advance_to(core::Instant next);
    void push(core::Instant at, Kind kind, std::uint32_t a = 0) {
        events_.push(at, {false, static_cast<std::uint8_t>(kind), a, 0});
    }
    void handle(const QueueEvent& event);
    void send_heartbeats();
    void close_rows();
    void close_switch_rows();
    void record_socket(FlatNode node);
    void set_deadline(FlatNode node);
    [[nodiscard]] bool finished() const;
    void finish();

    // Turns.
    template <typename Input>
    void turn(FlatNode node, const Input& input) {
        if (conditions_[node].away()) {
            return;
        }
        network_->catch_up(node);
        input(actions_);
        carry_out(node);
        set_deadline(node);
    }
    void carry_out(FlatNode node);
    void hand_over_chunks(std::uint32_t producer);
    void send_message(FlatNode from, const core::SendMessage& sent);
    void send_result(FlatNode from, const core::SendResult& result);
    void serve_next();
    void message_handled(std::uint32_t index);
    void deliver(std::uint32_t index);
    void feed_arrived(const ChunkRun& run);

    // What the network reports.
    void chunks_left(const ChunkRun& run) override;
    void chunks_arrived(const ChunkRun& run) override;
    void chunk_dropped(const ChunkRun& run) override;
    void message_arrived(std::uint32_t index) override;
    [[nodiscard]] bool stands_still(FlatNode node) const override { return conditions_[node].silent(); }
    void hold(FlatNode node, const QueueEvent& event) override { conditions_[node].held.push_back(event); }
    void chunks_left_before(const ChunkRun& run) override;
    void chunks_arrived_before(const ChunkRun& run) override;
    void give_turn(FlatNode node) override {
        turn(node, [](core::Actions&) {});
    }
    void record_chunks(FlatNode node, std::span<const record::ChunkBytes> chunks) override;
    void record_moving(FlatNode node, core::Bytes bytes, core::Instant since) override;

    // Disturbances.
    void disturb(std::uint32_t number, bool begins);
    void set_pause(FlatNode node, bool begins);
    void set_slowness(FlatNode node);
    void set_clock(FlatNode node);
    void set_link(FlatNode node);
    void resume(FlatNode node);

    // --on-failure continue.
    [[nodiscard]] bool is_outlived(FlatNode node) const {
        return plan_.outlives_consumers && row_.is_consumer(node);
    }
    void set_absence(FlatNode node, Disturbance::Kind kind, bool begins);
    void go_on(FlatNode node);
    void drop_messages(FlatNode node);
    void notice_silence(FlatNode node);

    Setup setup_;
    const core::Plan& plan_;
    NodeRow row_;
    core::Instant now_;
    Checker checker_;
    record::Latencies latencies_;
    std::unique_ptr<participant::SchedulerNode> scheduler_;
    std::deque<participant::ProducerNode> producers_;
    std::deque<participant::ConsumerNode> consumers_;
    std::vector<participant::Node*> nodes_;  ///< all of them
    std::vector<NodeCondition> conditions_;
    Events events_;
    std::unique_ptr<Network> network_;
    core::Duration report_period_;  ///< the network's
    core::Instant next_report_{
        std::numeric_limits<std::int64_t>::min()};  ///< the first after now, once known
    core::IndexedHeap<std::int64_t> deadlines_;

    Pool<Message> messages_;
    /// Indices in messages_, in the order in which they came: the one that it works on, those that wait.
    core::RingQueue<std::uint32_t> at_scheduler_{std::numeric_limits<std::size_t>::max()};
    core::Duration scheduler_time_;
    std::vector<core::Duration> extra_delays_;  ///< of the disturbances that last
    std::vector<core::Instant> silent_since_;

    core::Actions actions_;
    std::optional<SimulationEnd> end_;
    std::vector<core::Fault> found_faults_;
    std::uint64_t fault_count_ = 0;
    std::uint64_t steps_at_now_ = 0;
};

}  // namespace weir::simulation
