#include "participant/consumer_node.hpp"

#include <optional>

#include "core/distribution.hpp"
#include "core/random.hpp"

namespace weir::participant {

namespace {

core::Sampler make_processing_times(const core::Plan& plan, core::ConsumerId id) {
    return {plan.busy, core::Random(plan.seed, random_stream(core::RandomPurpose::processing, id.value))};
}

std::optional<core::Sampler> make_result_sizes(const core::Plan& plan, core::ConsumerId id) {
    if (plan.result_size.kind == core::DistributionKind::none) {
        return std::nullopt;
    }
    return core::Sampler(plan.result_size,
                         core::Random(plan.seed, random_stream(core::RandomPurpose::result_size, id.value)));
}

}  // namespace

ConsumerNode::ConsumerNode(const core::Plan& plan, core::ConsumerId id, core::Instant start,
                           record::Latencies& latencies, RowOutput& output)
    : core_(plan, id, make_processing_times(plan, id), make_result_sizes(plan, id)),
      recorder_(plan, id, start, latencies,
                [&output](const record::ConsumerRow& row, const record::LiveSample& report) {
                    output.put(row, report);
                }) {}

void ConsumerNode::on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                              core::Actions& out) {
    if (!std::holds_alternative<core::Heartbeat>(message)) {
        core_.on_message(now, from, message, out);
    }
}

void ConsumerNode::die(core::Instant now) {
    core_.die();
    record(now, {});
}

void ConsumerNode::record(core::Instant now, const core::Actions& out) {
    for (const core::Observation& observation : out.observations) {
        recorder_.observe(now, observation);
    }
    const core::SlotUse use = core_.slot_use();
    recorder_.set_state(now, {.free_slots = use.free,
                              .receiving_slots = use.receiving,
                              .queued_slots = use.queued,
                              .processing = core_.processing()});
    recorder_.integrity(now, core_.ledger().corrupt.events, core_.ledger().duplicate.events);
}

void ConsumerNode::record_moving(core::Bytes bytes, core::Instant since) {
    recorder_.moving(bytes);
    if (since != core::Instant::never()) {
        recorder_.on_its_way(since);
    }
}

record::RankSummary ConsumerNode::summary() const {
    record::RankSummary summary = recorder_.summary();
    summary.ledger = core_.ledger();
    summary.ledger_known = core_.finished();
    return summary;
}

NodeAccount ConsumerNode::account() const {
    NodeAccount account{.summary = summary(),
                        .lost = {},
                        .traffic = record::traffic_entries(core_.received_from()),
                        .event_marks = {},
                        .datagrams = recorder_.datagrams(),
                        .transfers = {},
                        .phase_ends = {},
                        .completions = {},
                        .broken_off = {.taken_back_events = 0,
                                       .doubtful_events = 0,
                                       .refused_bytes = core_.stale().bytes,
                                       .deliveries = {}}};
    if (const auto& transfers = recorder_.transfers()) {
        account.transfers = transfers->times();
        account.phase_ends = transfers->phase_ends();
        account.completions = transfers->completions();
    }
    for (const core::EventId event : core_.given_up()) {
        account.lost.push_back(
            {event.producer(), event.sequence(), event.sequence(), core::LostRange::Reason::on_the_way});
    }
    return account;
}

}  // namespace weir::participant
