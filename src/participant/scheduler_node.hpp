// The scheduler with its recorder.
#pragma once

#include <memory>

#include "core/plan.hpp"
#include "core/policy.hpp"
#include "core/scheduler.hpp"
#include "participant/node.hpp"
#include "participant/row_output.hpp"
#include "record/event_series.hpp"
#include "record/scheduler_recorder.hpp"

namespace weir::participant {

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

}  // namespace weir::participant
