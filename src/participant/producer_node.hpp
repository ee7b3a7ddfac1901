// A producer with its recorder.
#pragma once

#include <span>

#include "core/plan.hpp"
#include "core/producer.hpp"
#include "participant/node.hpp"
#include "participant/row_output.hpp"
#include "record/latencies.hpp"
#include "record/producer_recorder.hpp"

namespace weir::participant {

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

}  // namespace weir::participant
