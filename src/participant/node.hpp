// A node: one core state machine and the recorder that watches it. Nodes neither know a clock nor a
// transport; the loop of a rank (or a simulator) hands them what happened and carries out what they ask for.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/actions.hpp"
#include "core/consumer.hpp"
#include "core/plan.hpp"
#include "core/producer.hpp"
#include "core/scheduler.hpp"
#include "participant/row_output.hpp"
#include "telemetry/consumer_recorder.hpp"
#include "telemetry/event_series.hpp"
#include "telemetry/latencies.hpp"
#include "telemetry/producer_recorder.hpp"
#include "telemetry/rank_summary.hpp"
#include "telemetry/scheduler_recorder.hpp"
#include "telemetry/second_clock.hpp"
#include "telemetry/traffic_matrix.hpp"

namespace weir::participant {

class Node {
  public:
    Node() = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    virtual ~Node() = default;

    /// Once, before any other input.
    virtual void on_start(core::Instant now, core::Actions& out) = 0;
    virtual void on_time(core::Instant now, core::Actions& out) = 0;
    virtual void on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                            core::Actions& out) = 0;
    virtual void on_chunk(core::Instant now, core::SlotId slot, const core::ArrivedChunk& chunk,
                          core::Actions& out);
    /// `count` chunks in a row have left, from `first` on.
    virtual void on_chunks_sent(core::Instant now, core::StreamId stream, std::uint32_t first,
                                std::uint32_t count, core::Actions& out);
    /// `count` chunks in a row have left one by one, which nobody looked at; others follow them.
    virtual void on_chunks_passed(core::StreamId stream, std::uint32_t count, core::Actions& out);
    virtual void on_result(core::Instant now, core::NodeId from, const core::SendResult& result,
                           core::Actions& out);

    /// Records what the inputs since the last call led to. After every turn.
    virtual void record(core::Instant now, const core::Actions& out) = 0;
    virtual void record_poll_gap(core::Instant now, core::Duration gap) = 0;
    /// Producer, consumer: chunks that have left or arrived since the last input, in order of time; what else
    /// they led to is nothing. The node need not have been told of them yet, but is before its next input.
    virtual void record_chunks(std::span<const telemetry::ChunkBytes> /*chunks*/) {}
    /// Producer, consumer, in a simulation, just before the end of a second: what of chunks that have not
    /// passed whole has passed, and since when something of which no chunk has arrived is on its way
    /// (Instant::never(): nothing is).
    virtual void record_moving(core::Bytes /*bytes*/, core::Instant /*since*/) {}
    /// Producer, consumer: the rank's socket as it is now, where chunks are datagrams.
    virtual void record_socket(core::Instant /*now*/, const telemetry::SocketCounts& /*counts*/) {}
    /// Scheduler: packets of control messages that the rank has sent and taken in so far.
    virtual void record_control_packets(core::Instant /*now*/, std::uint64_t /*packets*/) {}
    /// Closes the last row.
    virtual void finish_recording(core::Instant now) = 0;

    [[nodiscard]] virtual core::Instant next_deadline() const = 0;
    /// The protocol has come to its end for this node.
    [[nodiscard]] virtual bool finished() const = 0;
    /// Scheduler: time in which offers waited and no consumer had a credit; travels with its heartbeats.
    [[nodiscard]] virtual core::Duration no_credit_time(core::Instant /*now*/) const { return {}; }
    /// Consumer: is working on an event.
    [[nodiscard]] virtual bool processing() const { return false; }
    /// Producer: generated and not yet sent.
    [[nodiscard]] virtual core::Bytes backlog() const { return {}; }
    /// Consumer: from now on each event takes `factor` times as long.
    virtual void slow_down(double factor);
    /// Events that were lost: a producer's own, and what a consumer gave up.
    [[nodiscard]] virtual std::vector<core::LostRange> lost_ranges() const { return {}; }
    /// Consumer: what it received, by producer; those from which nothing came are left out.
    [[nodiscard]] virtual std::vector<telemetry::ProducerTraffic> traffic() const { return {}; }
    /// Scheduler: when so many events were done.
    [[nodiscard]] virtual std::vector<telemetry::EventMark> event_marks() const { return {}; }
    /// Producer, consumer: datagrams by peer, where chunks are datagrams.
    [[nodiscard]] virtual std::vector<telemetry::PeerDatagrams> datagrams() const { return {}; }
    /// With the ledger filled in.
    [[nodiscard]] virtual telemetry::RankSummary summary() const = 0;
};

class ProducerNode final : public Node {
  public:
    /// `latencies` and `output` must outlive the node, as in the other nodes.
    ProducerNode(const core::Plan& plan, core::ProducerId id, core::Instant start,
                 telemetry::Latencies& latencies, RowOutput& output);

    void on_start(core::Instant now, core::Actions& out) override;
    void on_time(core::Instant now, core::Actions& out) override;
    void on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                    core::Actions& out) override;
    void on_chunks_sent(core::Instant now, core::StreamId stream, std::uint32_t first, std::uint32_t count,
                        core::Actions& out) override;
    void on_chunks_passed(core::StreamId stream, std::uint32_t count, core::Actions& out) override;
    void record(core::Instant now, const core::Actions& out) override;
    void record_poll_gap(core::Instant now, core::Duration gap) override;
    void record_chunks(std::span<const telemetry::ChunkBytes> chunks) override {
        recorder_.chunks_sent(chunks);
    }
    void record_moving(core::Bytes bytes, core::Instant /*since*/) override { recorder_.moving(bytes); }
    void finish_recording(core::Instant now) override;
    void record_socket(core::Instant now, const telemetry::SocketCounts& counts) override {
        recorder_.socket(now, counts);
    }
    [[nodiscard]] std::vector<telemetry::PeerDatagrams> datagrams() const override {
        return recorder_.datagrams();
    }
    [[nodiscard]] core::Instant next_deadline() const override;
    [[nodiscard]] bool finished() const override { return core_.finished(); }
    [[nodiscard]] core::Bytes backlog() const override { return core_.backlog(); }
    [[nodiscard]] std::vector<core::LostRange> lost_ranges() const override { return core_.lost_ranges(); }
    [[nodiscard]] telemetry::RankSummary summary() const override;

  private:
    bool shapes_;
    bool holds_one_set_;
    core::Instant generation_ends_;
    core::Producer core_;
    telemetry::ProducerRecorder recorder_;
};

class ConsumerNode final : public Node {
  public:
    ConsumerNode(const core::Plan& plan, core::ConsumerId id, core::Instant start,
                 telemetry::Latencies& latencies, RowOutput& output);

    void on_start(core::Instant now, core::Actions& out) override;
    void on_time(core::Instant now, core::Actions& out) override;
    void on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                    core::Actions& out) override;
    void on_chunk(core::Instant now, core::SlotId slot, const core::ArrivedChunk& chunk,
                  core::Actions& out) override;
    void record(core::Instant now, const core::Actions& out) override;
    void record_poll_gap(core::Instant now, core::Duration gap) override;
    void record_chunks(std::span<const telemetry::ChunkBytes> chunks) override {
        recorder_.chunks_received(chunks);
    }
    void record_moving(core::Bytes bytes, core::Instant since) override;
    void finish_recording(core::Instant now) override;
    void record_socket(core::Instant now, const telemetry::SocketCounts& counts) override {
        recorder_.socket(now, counts);
    }
    [[nodiscard]] std::vector<telemetry::PeerDatagrams> datagrams() const override {
        return recorder_.datagrams();
    }
    [[nodiscard]] core::Instant next_deadline() const override;
    [[nodiscard]] bool finished() const override { return core_.finished(); }
    [[nodiscard]] bool processing() const override { return core_.processing() && !core_.finished(); }
    void slow_down(double factor) override { core_.slow_down(factor); }
    [[nodiscard]] std::vector<core::LostRange> lost_ranges() const override;
    [[nodiscard]] std::vector<telemetry::ProducerTraffic> traffic() const override {
        return telemetry::traffic_entries(core_.received_from());
    }
    [[nodiscard]] telemetry::RankSummary summary() const override;

  private:
    core::Consumer core_;
    telemetry::ConsumerRecorder recorder_;
};

class SchedulerNode final : public Node {
  public:
    SchedulerNode(const core::Plan& plan, core::Instant start, RowOutput& output);

    void on_start(core::Instant now, core::Actions& out) override;
    void on_time(core::Instant now, core::Actions& out) override;
    void on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                    core::Actions& out) override;
    void on_result(core::Instant now, core::NodeId from, const core::SendResult& result,
                   core::Actions& out) override;
    void record(core::Instant now, const core::Actions& out) override;
    void record_poll_gap(core::Instant now, core::Duration gap) override;
    void record_control_packets(core::Instant now, std::uint64_t packets) override {
        recorder_.control_packets(now, packets);
    }
    void finish_recording(core::Instant now) override;
    [[nodiscard]] core::Instant next_deadline() const override;
    [[nodiscard]] bool finished() const override { return core_.closed(); }
    [[nodiscard]] core::Duration no_credit_time(core::Instant now) const override {
        return core_.no_credit_time(now);
    }
    [[nodiscard]] std::vector<telemetry::EventMark> event_marks() const override { return series_.marks(); }
    [[nodiscard]] telemetry::RankSummary summary() const override;

  private:
    core::Scheduler core_;
    std::uint64_t granted_events_ = 0;  ///< of them, recorded
    telemetry::SchedulerRecorder recorder_;
    telemetry::EventSeries series_;
};

}  // namespace weir::participant
