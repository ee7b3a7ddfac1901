// The nodes of the three roles, each a core with its recorder, and the one of a rank: as a Node for what all
// roles do, and by its role for the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/actions.hpp"
#include "core/consumer.hpp"
#include "core/messages.hpp"
#include "core/plan.hpp"
#include "core/policy.hpp"
#include "core/producer.hpp"
#include "core/scheduler.hpp"
#include "core/units.hpp"
#include "record/consumer_recorder.hpp"
#include "record/csv_log.hpp"
#include "record/event_series.hpp"
#include "record/latencies.hpp"
#include "record/pairs.hpp"
#include "record/phase_times.hpp"
#include "record/producer_recorder.hpp"
#include "record/rank_summary.hpp"
#include "record/scheduler_recorder.hpp"
#include "show/run_record.hpp"

namespace weir::participant {

// A node: one core state machine and the recorder that watches it. Nodes have neither a clock nor a
// transport: the loop of a rank, or a simulator, hands them what happened and carries out what they ask for.
// What all roles have in common is here; what only one of them does is in its own class, and whoever drives
// nodes holds them by their role (RankNode).

class RowOutput {
  public:
    using Report = std::function<void(const record::LiveSample&)>;

    /// `log` and `burst_log` are not owned; nullptr: rows, or those of bursts, are not logged.
    RowOutput(record::CsvLog* log, Report report, record::CsvLog* burst_log = nullptr)
        : log_(log), burst_log_(burst_log), report_(std::move(report)) {}

    template <typename Row>
    void put(const Row& row, const record::LiveSample& report) {
        if (log_ != nullptr && !error_) {
            error_ = log_->write(row);
        }
        if (burst_log_ != nullptr && !error_) {
            error_ = burst_log_->append(record::burst_csv_lines(row));
        }
        report_(report);
    }

    [[nodiscard]] const files::MaybeIoError& error() const { return error_; }

  private:
    record::CsvLog* log_;
    record::CsvLog* burst_log_;
    Report report_;
    files::MaybeIoError error_;
};

/// --on-failure continue: what came to nothing at consumers that were lost.
struct BrokenOff {
    std::uint64_t taken_back_events = 0;             ///< producer: sent in vain, at least in part
    std::uint64_t doubtful_events = 0;               ///< of them: perhaps received all the same
    core::Bytes refused_bytes{};                     ///< consumer: sent to an earlier life of it
    std::vector<core::BrokenDelivery> deliveries{};  ///< producer: the first ones
};

/// What a node hands in when the run is over; what its role does not have is empty.
struct NodeAccount {
    record::RankSummary summary;          ///< with the ledger filled in
    std::vector<core::LostRange> lost{};  ///< events: a producer's own, and what a consumer gave up
    std::vector<record::ProducerTraffic> traffic{};  ///< consumer: what it received, by producer
    std::vector<record::PairTime> pair_times{};      ///< producer: its transfers, by consumer
    std::vector<record::EventMark> event_marks{};    ///< scheduler: when so many events were done
    std::vector<record::PeerDatagrams> datagrams{};  ///< producer, consumer: what it counted, by peer
    std::vector<record::TransferTimes> transfers{};  ///< consumer, addressed events
    std::vector<record::PhaseEnd> phase_ends{};      ///< consumer, addressed events
    std::vector<core::Duration> completions{};       ///< consumer: each transfer of a trace
    BrokenOff broken_off{};
};

class Node {
  public:
    Node() = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    virtual ~Node() = default;

    /// Once, before any other input.
    virtual void on_start(core::Instant /*now*/, core::Actions& /*out*/) {}
    virtual void on_time(core::Instant now, core::Actions& out) = 0;
    virtual void on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                            core::Actions& out) = 0;

    /// Records what the inputs since the last call led to. After every turn.
    virtual void record(core::Instant now, const core::Actions& out) = 0;
    virtual void record_poll_gap(core::Instant now, core::Duration gap) = 0;
    /// Not of the leader's rank.
    virtual void record_heartbeats(core::Instant /*now*/, const record::HeartbeatDelays& /*delays*/) {}
    /// Closes the last row.
    virtual void finish_recording(core::Instant now) = 0;

    [[nodiscard]] virtual core::Instant next_deadline() const = 0;
    /// The protocol has come to its end for this node.
    [[nodiscard]] virtual bool finished() const = 0;
    [[nodiscard]] virtual record::RankSummary summary() const = 0;
    [[nodiscard]] virtual NodeAccount account() const = 0;
};

/// Not final, and with virtual inputs: tests of the rank loop record what reaches it.
class ProducerNode : public Node {
  public:
    /// `latencies` and `output` must outlive the node, as in the other nodes.
    ProducerNode(const core::Plan& plan, core::ProducerId id, core::Instant start,
                 record::Latencies& latencies, RowOutput& output);

    void on_time(core::Instant now, core::Actions& out) override { core_.on_time(now, out); }
    void on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                    core::Actions& out) override;
    /// `count` chunks in a row have left, from `first` on.
    virtual void on_chunks_sent(core::Instant now, core::StreamId stream, std::uint32_t first,
                                std::uint32_t count, core::Actions& out) {
        core_.on_chunks_sent(now, stream, first, count, out);
    }
    /// Simulation: `count` chunks in a row have left one by one without a turn of the node; others follow.
    void on_chunks_passed(core::StreamId stream, std::uint32_t count, core::Actions& out) {
        core_.on_chunks_passed(stream, count, out);
    }

    /// Simulation, shaping `in_step`: core::Pacer::set_clock_error.
    void set_clock_error(std::int64_t ppb) { core_.set_clock_error(ppb); }

    void record(core::Instant now, const core::Actions& out) override;
    void record_poll_gap(core::Instant now, core::Duration gap) override { recorder_.poll_gap(now, gap); }
    void record_heartbeats(core::Instant now, const record::HeartbeatDelays& delays) override {
        recorder_.heartbeats(now, delays);
    }
    /// Chunks that have left since the last input, in order of time, and led to nothing else. They are
    /// handed to on_chunks_passed() before the next input.
    void record_chunks(std::span<const record::ChunkBytes> chunks) { recorder_.chunks_sent(chunks); }
    /// Simulation, just before the end of a second: what has left of chunks that have not left whole.
    void record_moving(core::Bytes bytes) { recorder_.moving(bytes); }
    /// The rank's socket as it is now, where chunks are datagrams.
    void record_socket(core::Instant now, const core::SocketState& state) { recorder_.socket(now, state); }
    void finish_recording(core::Instant now) override { recorder_.finish(now); }

    [[nodiscard]] core::Instant next_deadline() const override { return core_.next_deadline(); }
    [[nodiscard]] bool finished() const override { return core_.finished(); }
    /// Generated and not yet sent.
    [[nodiscard]] core::Bytes backlog() const { return core_.backlog(); }
    [[nodiscard]] const core::Producer& state_machine() const { return core_; }
    [[nodiscard]] record::RankSummary summary() const override;
    /// As far as they are known now.
    [[nodiscard]] const record::SetsInTime& sets_in_time() const { return recorder_.sets_in_time(); }
    [[nodiscard]] NodeAccount account() const override;

  private:
    bool shapes_;
    bool holds_one_set_;
    core::Instant generation_ends_;
    core::Producer core_;
    record::ProducerRecorder recorder_;
};

/// Not final, and with virtual inputs: tests of the rank loop record what reaches it.
class ConsumerNode : public Node {
  public:
    ConsumerNode(const core::Plan& plan, core::ConsumerId id, core::Instant start,
                 record::Latencies& latencies, RowOutput& output);

    void on_start(core::Instant now, core::Actions& out) override { core_.on_start(now, out); }
    void on_time(core::Instant now, core::Actions& out) override { core_.on_time(now, out); }
    void on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                    core::Actions& out) override;
    virtual void on_chunk(core::Instant now, core::PlaceId place, const core::ArrivedChunk& chunk,
                          core::Actions& out) {
        core_.on_chunk(now, place, chunk, out);
    }
    /// From now on each event takes `factor` times as long.
    void slow_down(double factor) { core_.slow_down(factor); }

    // --on-failure continue: core::Consumer. A node that has finished is not concerned any more.
    void die(core::Instant now);
    void begin_again(core::Actions& out) { core_.begin_again(out); }
    [[nodiscard]] core::Traffic stale() const { return core_.stale(); }

    void record(core::Instant now, const core::Actions& out) override;
    void record_poll_gap(core::Instant now, core::Duration gap) override { recorder_.poll_gap(now, gap); }
    void record_heartbeats(core::Instant now, const record::HeartbeatDelays& delays) override {
        recorder_.heartbeats(now, delays);
    }
    /// Chunks that have arrived since the last input, in order of time, and led to nothing else. They are
    /// handed to on_chunk() before the next input.
    void record_chunks(std::span<const record::ChunkBytes> chunks) { recorder_.chunks_received(chunks); }
    /// Simulation, just before the end of a second: what has arrived of chunks that have not arrived whole,
    /// and since when something of which no chunk has arrived is on its way (Instant::never(): nothing is).
    void record_moving(core::Bytes bytes, core::Instant since);
    /// The rank's socket as it is now, where chunks are datagrams.
    void record_socket(core::Instant now, const core::SocketState& state) { recorder_.socket(now, state); }
    void finish_recording(core::Instant now) override { recorder_.finish(now); }

    [[nodiscard]] core::Instant next_deadline() const override { return core_.next_deadline(); }
    [[nodiscard]] bool finished() const override { return core_.finished(); }
    /// Is working on an event.
    [[nodiscard]] bool processing() const { return core_.processing() && !core_.finished(); }
    [[nodiscard]] record::RankSummary summary() const override;
    [[nodiscard]] NodeAccount account() const override;

  private:
    core::Consumer core_;
    record::ConsumerRecorder recorder_;
};

/// Not final: tests derive schedulers that break a rule, and one that records what reaches it.
class SchedulerNode : public Node {
  public:
    SchedulerNode(const core::Plan& plan, core::Instant start, RowOutput& output);
    /// With another policy than the plan's; nullptr only for policy none.
    SchedulerNode(const core::Plan& plan, core::Instant start, RowOutput& output,
                  std::unique_ptr<core::Policy> policy);

    void on_time(core::Instant now, core::Actions& out) override { core_.on_time(now, out); }
    void on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                    core::Actions& out) override;
    /// core::Scheduler::on_consumer_lost.
    virtual void on_consumer_lost(core::Instant now, core::ConsumerId consumer, core::Actions& out) {
        core_.on_consumer_lost(now, consumer, out);
    }
    void on_result(core::Instant now, core::NodeId from, const core::SendResult& result, core::Actions& out);

    void record(core::Instant now, const core::Actions& out) override;
    void record_poll_gap(core::Instant now, core::Duration gap) override { recorder_.poll_gap(now, gap); }
    /// Packets of control messages that the rank has sent and received so far.
    void record_control_packets(core::Instant now, std::uint64_t packets) {
        recorder_.control_packets(now, packets);
    }
    /// It handled messages for `time` until now.
    void record_handling(core::Instant now, core::Duration time) { recorder_.handled(now, time); }
    void finish_recording(core::Instant now) override { recorder_.finish(now); }

    [[nodiscard]] core::Instant next_deadline() const override { return core_.next_deadline(); }
    [[nodiscard]] bool finished() const override { return core_.closed(); }
    /// Time in which offers waited and no consumer had a credit; travels with its heartbeats.
    [[nodiscard]] virtual core::Duration no_credit_time(core::Instant now) const {
        return core_.no_credit_time(now);
    }
    [[nodiscard]] record::RankSummary summary() const override;
    [[nodiscard]] NodeAccount account() const override;

    [[nodiscard]] const core::Scheduler& state_machine() const { return core_; }

  protected:
    [[nodiscard]] core::Scheduler& scheduler() { return core_; }

  private:
    std::uint32_t fragments_per_event_;
    bool outlives_consumers_;
    core::Scheduler core_;
    std::uint64_t granted_events_ = 0;  ///< of them, recorded
    record::SchedulerRecorder recorder_;
    record::EventSeries series_;
};

class RankNode {
  public:
    explicit RankNode(std::unique_ptr<ProducerNode> node) : producer_(node.get()), node_(std::move(node)) {}
    explicit RankNode(std::unique_ptr<ConsumerNode> node) : consumer_(node.get()), node_(std::move(node)) {}
    explicit RankNode(std::unique_ptr<SchedulerNode> node) : scheduler_(node.get()), node_(std::move(node)) {}

    [[nodiscard]] Node* operator->() const { return node_.get(); }
    /// One of these is there; the others are nullptr.
    [[nodiscard]] ProducerNode* producer() const { return producer_; }
    [[nodiscard]] ConsumerNode* consumer() const { return consumer_; }
    [[nodiscard]] SchedulerNode* scheduler() const { return scheduler_; }

  private:
    ProducerNode* producer_ = nullptr;
    ConsumerNode* consumer_ = nullptr;
    SchedulerNode* scheduler_ = nullptr;
    std::unique_ptr<Node> node_;
};

/// The node that `id` names. `latencies` and `output` must outlive it.
RankNode make_node(const core::Plan& plan, core::NodeId id, core::Instant start, record::Latencies& latencies,
                   RowOutput& output);

// What a rank hands in after a regular end, as bytes: its summary, latencies, clock and what went wrong. Own
// encoding of plain structs rather than a library: both sides are the same executable, and 4500 blocks of 50
// kB should be a memcpy each (with 500 producers a consumer's traffic adds up to 12 kB).

struct RankAccount : NodeAccount {
    record::Latencies latencies;
    std::int64_t clock_error_ns = 0;  ///< instants of this rank are at most this far from the scheduler's
    core::Duration started_late;      ///< the loop began this much after the agreed start
    std::uint64_t fault_count = 0;
    std::vector<show::FaultRecord> faults;
    std::string log_error;      ///< of the last row or of closing the file; empty: none
    std::string ucx_paths;      ///< engine ucx: a line each, network, connections and path
    std::string listening;      ///< "tcp 0.0.0.0:41001, ...": where others can send to its process
    std::string host_counters;  ///< record::encode_host, from the rank that records them; else empty
};

std::vector<std::byte> encode_account(const RankAccount& account);

/// Nothing if the bytes are no account.
std::optional<RankAccount> decode_account(std::span<const std::byte> bytes);

}  // namespace weir::participant
