#include "participant/scheduler_node.hpp"

#include <utility>

#include "core/policies/policy_table.hpp"
#include "core/random.hpp"

namespace weir::participant {

namespace {

std::uint64_t policy_seed(const core::Plan& plan) {
    return core::Random(plan.seed, random_stream(core::RandomPurpose::policy, 0)).next();
}

}  // namespace

SchedulerNode::SchedulerNode(const core::Plan& plan, core::Instant start, RowOutput& output)
    : SchedulerNode(plan, start, output, core::make_policy(plan, policy_seed(plan))) {}

SchedulerNode::SchedulerNode(const core::Plan& plan, core::Instant start, RowOutput& output,
                             std::unique_ptr<core::Policy> policy)
    : fragments_per_event_(plan.fragments_per_event()),
      outlives_consumers_(plan.outlives_consumers),
      core_(plan, std::move(policy)),
      recorder_(plan, start, [&output](const record::SchedulerRow& row, const record::LiveSample& report) {
          output.put(row, report);
      }) {}

void SchedulerNode::on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                               core::Actions& out) {
    if (std::holds_alternative<core::Heartbeat>(message)) {
        if (outlives_consumers_ && from.role == core::Role::consumer) {
            core_.on_message(now, from, message, out);
        }
        return;
    }
    recorder_.message(now, message);
    const core::Tally before = core_.done();
    core_.on_message(now, from, message, out);
    const auto* const done = std::get_if<core::Done>(&message);
    if (done != nullptr && done->fragments == fragments_per_event_ && core_.done().events > before.events) {
        series_.done(now, core_.done().bytes - before.bytes, core_.events_without_credit());
    }
}

void SchedulerNode::on_result(core::Instant now, core::NodeId from, const core::SendResult& result,
                              core::Actions& out) {
    recorder_.result(now, result.bytes);
    core_.on_result(from, result, out);
}

void SchedulerNode::record(core::Instant now, const core::Actions& /*out*/) {
    recorder_.granted(now, core_.granted_events() - std::exchange(granted_events_, core_.granted_events()));
    recorder_.set_state(now, {.offers_waiting = core_.waiting_events() > 0,
                              .credits_available = core_.consumer_available(),
                              .offers = core_.waiting_events(),
                              .credits = core_.free_slots(),
                              .events_without_credit = core_.events_without_credit(),
                              .outstanding = core_.outstanding()});
}

record::RankSummary SchedulerNode::summary() const {
    record::RankSummary summary = recorder_.summary();
    summary.ledger.received = core_.done();
    summary.ledger.results = core_.results();
    summary.ledger_known = core_.closed();
    return summary;
}

NodeAccount SchedulerNode::account() const {
    return {.summary = summary(),
            .lost = {},
            .traffic = {},
            .event_marks = series_.marks(),
            .datagrams = {},
            .transfers = {},
            .phase_ends = {},
            .completions = {},
            .broken_off = {}};
}

}  // namespace weir::participant
