#include "participant/node.hpp"

#include <optional>
#include <utility>

#include "core/distribution.hpp"
#include "core/event_generator.hpp"
#include "core/random.hpp"

namespace weir::participant {

namespace {

core::EventGenerator make_generator(const core::Plan& plan, core::ProducerId id, core::Instant start) {
    // Fragments of one event are equally large, so that all producers generate equally many in the same time.
    const std::uint32_t sizes_of = plan.pattern == core::Pattern::build ? 0 : id.value;
    const core::Random random(plan.seed, random_stream(core::RandomPurpose::event_size, sizes_of));
    return {plan, core::Sampler(plan.event_size, random), start, core::Instant{} + plan.duration};
}

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

std::uint64_t policy_seed(const core::Plan& plan) {
    return core::Random(plan.seed, random_stream(core::RandomPurpose::policy, 0)).next();
}

}  // namespace

void Node::on_chunk(core::Instant /*now*/, core::SlotId /*slot*/, const core::ArrivedChunk& /*chunk*/,
                    core::Actions& /*out*/) {
    WEIR_UNREACHABLE("only consumers receive chunks");
}

void Node::on_chunks_sent(core::Instant /*now*/, core::StreamId /*stream*/, std::uint32_t /*first*/,
                          std::uint32_t /*count*/, core::Actions& /*out*/) {
    WEIR_UNREACHABLE("only producers send chunks");
}

void Node::on_chunks_passed(core::StreamId /*stream*/, std::uint32_t /*count*/, core::Actions& /*out*/) {
    WEIR_UNREACHABLE("only producers send chunks");
}

void Node::on_result(core::Instant /*now*/, core::NodeId /*from*/, const core::SendResult& /*result*/,
                     core::Actions& /*out*/) {
    WEIR_UNREACHABLE("only the scheduler receives results");
}

void Node::slow_down(double /*factor*/) {
    WEIR_UNREACHABLE("only consumers process events");
}

// Producer

ProducerNode::ProducerNode(const core::Plan& plan, core::ProducerId id, core::Instant start,
                           telemetry::Latencies& latencies, RowOutput& output)
    : shapes_(plan.shaping.kind != core::ShapingKind::none),
      holds_one_set_(plan.generation == core::Generation::sets && plan.buffer <= plan.set_bytes()),
      generation_ends_{plan.duration.ns},
      core_(plan, id, make_generator(plan, id, start)),
      recorder_(plan, id, start, latencies,
                [&output](const telemetry::ProducerRow& row, const telemetry::SecondReport& report) {
                    output.put(row, report);
                }) {}

void ProducerNode::on_start(core::Instant /*now*/, core::Actions& /*out*/) {}

void ProducerNode::on_time(core::Instant now, core::Actions& out) {
    core_.on_time(now, out);
}

void ProducerNode::on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                              core::Actions& out) {
    if (message.kind == core::MessageKind::heartbeat) {
        recorder_.no_credit(now, core::Duration{message.bytes});
        return;
    }
    core_.on_message(now, from, message, out);
}

void ProducerNode::on_chunks_sent(core::Instant now, core::StreamId stream, std::uint32_t first,
                                  std::uint32_t count, core::Actions& out) {
    core_.on_chunks_sent(now, stream, first, count, out);
}

void ProducerNode::on_chunks_passed(core::StreamId stream, std::uint32_t count, core::Actions& out) {
    core_.on_chunks_passed(stream, count, out);
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

void ProducerNode::record_poll_gap(core::Instant now, core::Duration gap) {
    recorder_.poll_gap(now, gap);
}

void ProducerNode::finish_recording(core::Instant now) {
    recorder_.finish(now);
}

core::Instant ProducerNode::next_deadline() const {
    return core_.next_deadline();
}

telemetry::RankSummary ProducerNode::summary() const {
    telemetry::RankSummary summary = recorder_.summary();
    summary.ledger = core_.ledger();
    summary.ledger_known = core_.finished();
    summary.overflowed_at_close = core_.overflowed_at_close();
    // A late set and the next one do not fit into a buffer of one set, also if the producer itself was late
    // and what was left had gone when it generated the next one.
    const telemetry::SetsInTime& sets = summary.sets_in_time;
    if (holds_one_set_ && sets.late > 0 && !summary.overflowed()) {
        if (core::Instant{sets.first_late_second * telemetry::ns_per_second} < generation_ends_) {
            summary.first_overflow_second = sets.first_late_second;
            summary.overflow_seconds = 1;
        } else {
            summary.overflowed_at_close = true;
        }
    }
    return summary;
}

// Consumer

ConsumerNode::ConsumerNode(const core::Plan& plan, core::ConsumerId id, core::Instant start,
                           telemetry::Latencies& latencies, RowOutput& output)
    : core_(plan, id, make_processing_times(plan, id), make_result_sizes(plan, id)),
      recorder_(plan, id, start, latencies,
                [&output](const telemetry::ConsumerRow& row, const telemetry::SecondReport& report) {
                    output.put(row, report);
                }) {}

void ConsumerNode::on_start(core::Instant now, core::Actions& out) {
    core_.on_start(now, out);
}

void ConsumerNode::on_time(core::Instant now, core::Actions& out) {
    core_.on_time(now, out);
}

void ConsumerNode::on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                              core::Actions& out) {
    if (message.kind != core::MessageKind::heartbeat) {
        core_.on_message(now, from, message, out);
    }
}

void ConsumerNode::on_chunk(core::Instant now, core::SlotId slot, const core::ArrivedChunk& chunk,
                            core::Actions& out) {
    core_.on_chunk(now, slot, chunk, out);
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
    recorder_.integrity(now, core_.ledger().corrupt.events, core_.ledger().duplicate_events);
}

void ConsumerNode::record_moving(core::Bytes bytes, core::Instant since) {
    recorder_.moving(bytes);
    if (since != core::Instant::never()) {
        recorder_.on_its_way(since);
    }
}

void ConsumerNode::record_poll_gap(core::Instant now, core::Duration gap) {
    recorder_.poll_gap(now, gap);
}

void ConsumerNode::finish_recording(core::Instant now) {
    recorder_.finish(now);
}

core::Instant ConsumerNode::next_deadline() const {
    return core_.next_deadline();
}

std::vector<core::LostRange> ConsumerNode::lost_ranges() const {
    std::vector<core::LostRange> ranges;
    for (const core::EventId event : core_.given_up()) {
        ranges.push_back(
            {event.producer(), event.sequence(), event.sequence(), core::LostRange::Reason::on_the_way});
    }
    return ranges;
}

telemetry::RankSummary ConsumerNode::summary() const {
    telemetry::RankSummary summary = recorder_.summary();
    summary.ledger = core_.ledger();
    summary.ledger_known = core_.finished();
    return summary;
}

// Scheduler

SchedulerNode::SchedulerNode(const core::Plan& plan, core::Instant start, RowOutput& output)
    : core_(plan, core::make_policy(plan, policy_seed(plan))),
      recorder_(plan, start,
                [&output](const telemetry::SchedulerRow& row, const telemetry::SecondReport& report) {
                    output.put(row, report);
                }) {}

void SchedulerNode::on_start(core::Instant /*now*/, core::Actions& /*out*/) {}

void SchedulerNode::on_time(core::Instant now, core::Actions& out) {
    core_.on_time(now, out);
}

void SchedulerNode::on_message(core::Instant now, core::NodeId from, const core::ControlMessage& message,
                               core::Actions& out) {
    if (message.kind == core::MessageKind::heartbeat) {
        return;
    }
    recorder_.message(now, message.kind);
    const core::Tally before = core_.done();
    core_.on_message(now, from, message, out);
    const bool whole = (message.flag & core::DoneFlag::incomplete) == 0;
    if (whole && core_.done().events > before.events) {
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
                              .events_without_credit = core_.events_without_credit()});
}

void SchedulerNode::record_poll_gap(core::Instant now, core::Duration gap) {
    recorder_.poll_gap(now, gap);
}

void SchedulerNode::finish_recording(core::Instant now) {
    recorder_.finish(now);
}

core::Instant SchedulerNode::next_deadline() const {
    return core_.next_deadline();
}

telemetry::RankSummary SchedulerNode::summary() const {
    telemetry::RankSummary summary = recorder_.summary();
    summary.ledger.received = core_.done();
    summary.ledger.results = core_.results();
    summary.ledger_known = core_.closed();
    return summary;
}

}  // namespace weir::participant
