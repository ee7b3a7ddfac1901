#include "participant/producer_node.hpp"

#include "core/distribution.hpp"
#include "core/event_generator.hpp"
#include "core/random.hpp"
#include "core/set_phase.hpp"

namespace weir::participant {

namespace {

core::EventGenerator make_generator(const core::Plan& plan, core::ProducerId id, core::Instant start) {
    // Fragments of one event are equally large, so that all producers generate equally many in the same time.
    const std::uint32_t sizes_of = plan.builds() ? 0 : id.value;
    const core::Random random(plan.seed, random_stream(core::RandomPurpose::event_size, sizes_of));
    return {plan,
            core::Sampler(plan.event_size, random),
            start,
            core::Instant{} + plan.duration,
            core::set_phase(plan, id),
            id};
}

}  // namespace

ProducerNode::ProducerNode(const core::Plan& plan, core::ProducerId id, core::Instant start,
                           record::Latencies& latencies, RowOutput& output)
    : shapes_(plan.shaping.kind != core::ShapingKind::none),
      holds_one_set_(core::fills_buffer_at_once(plan, id)),
      generation_ends_{plan.duration.ns},
      core_(plan, id, make_generator(plan, id, start)),
      recorder_(plan, id, start, latencies,
                [&output](const record::ProducerRow& row, const record::LiveSample& report) {
                    output.put(row, report);
                }) {}

void ProducerNode::on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                              core::Actions& out) {
    if (const auto* const heartbeat = std::get_if<core::Heartbeat>(&message)) {
        recorder_.no_credit(now, heartbeat->no_credit);
        return;
    }
    core_.on_message(now, from, message, out);
}

void ProducerNode::record(core::Instant now, const core::Actions& out) {
    for (const core::Observation& observation : out.observations) {
        recorder_.observe(now, observation);
    }
    if (shapes_) {
        for (const core::SendChunk& chunk : out.chunks) {
            recorder_.paced(now, chunk.due_at);
        }
    }
    const core::StreamUse use = core_.stream_use();
    recorder_.set_state(now, {.backlog = core_.backlog(),
                              .transferring = use.transferring,
                              .waiting_for_grant = use.waiting_for_grant,
                              .waiting_for_data = use.waiting_for_data});
}

record::RankSummary ProducerNode::summary() const {
    record::RankSummary summary = recorder_.summary();
    summary.ledger = core_.ledger();
    summary.ledger_known = core_.finished();
    summary.overflowed_at_close = core_.overflowed_at_close();
    // A late set and the next one do not fit into a buffer of one set, also if the producer itself was late
    // and what was left had gone when it generated the next one.
    const record::SetsInTime& sets = summary.sets_in_time;
    if (holds_one_set_ && sets.late > 0 && !summary.overflowed()) {
        if (core::Instant{sets.first_late_second * record::ns_per_second} < generation_ends_) {
            summary.first_overflow_second = sets.first_late_second;
            summary.overflow_seconds = 1;
        } else {
            summary.overflowed_at_close = true;
        }
    }
    return summary;
}

NodeAccount ProducerNode::account() const {
    return {.summary = summary(),
            .lost = core_.lost_ranges(),
            .traffic = {},
            .event_marks = {},
            .datagrams = recorder_.datagrams(),
            .transfers = {},
            .phase_ends = {},
            .completions = {},
            .broken_off = {.taken_back_events = core_.taken_back_events(),
                           .doubtful_events = core_.doubtful_events(),
                           .refused_bytes = {},
                           .deliveries = core_.broken_deliveries()}};
}

}  // namespace weir::participant
