// A consumer with its recorder.
#pragma once

#include <span>

#include "core/consumer.hpp"
#include "core/plan.hpp"
#include "participant/node.hpp"
#include "participant/row_output.hpp"
#include "record/consumer_recorder.hpp"
#include "record/latencies.hpp"

namespace weir::participant {

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

}  // namespace weir::participant
