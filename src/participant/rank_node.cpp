#include "participant/rank_node.hpp"

#include "core/policies/policy_table.hpp"

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

/// visit() of each part of fixed length, in the order in which they travel.
template <typename Account, typename Visit>
void each_fixed(Account& account, Visit&& visit) {
    visit(account.summary);
    visit(account.latencies);
    visit(account.clock_error_ns);
    visit(account.started_late);
    visit(account.fault_count);
    visit(account.broken_off.taken_back_events);
    visit(account.broken_off.doubtful_events);
    visit(account.broken_off.refused_bytes);
}

/// visit() of each list, in this order. Behind the fixed parts travel the lengths of all, then what is in
/// them.
template <typename Account, typename Visit>
void each_list(Account& account, Visit&& visit) {
    visit(account.faults);
    visit(account.lost);
    visit(account.traffic);
    visit(account.pair_times);
    visit(account.event_marks);
    visit(account.datagrams);
    visit(account.log_error);
    visit(account.host_counters);
    visit(account.ucx_paths);
    visit(account.listening);
    visit(account.broken_off.deliveries);
    visit(account.transfers);
    visit(account.phase_ends);
    visit(account.completions);
}

template <typename T>
void append(std::vector<std::byte>& bytes, const T* items, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t place = bytes.size();
    bytes.resize(place + count * sizeof(T));
    if (count > 0) {
        std::memcpy(bytes.data() + place, items, count * sizeof(T));
    }
}

template <typename T>
bool take(std::span<const std::byte>& bytes, T* items, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (bytes.size() / sizeof(T) < count) {
        return false;
    }
    if (count > 0) {
        std::memcpy(items, bytes.data(), count * sizeof(T));
    }
    bytes = bytes.subspan(count * sizeof(T));
    return true;
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
            .pair_times = recorder_.pair_times(),
            .datagrams = recorder_.datagrams(),
            .broken_off = {.taken_back_events = core_.taken_back_events(),
                           .doubtful_events = core_.doubtful_events(),
                           .deliveries = core_.broken_deliveries()}};
}

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
                        .traffic = record::traffic_entries(core_.received_from()),
                        .datagrams = recorder_.datagrams(),
                        .broken_off = {.refused_bytes = core_.stale().bytes}};
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
    return {.summary = summary(), .event_marks = series_.marks()};
}

RankNode make_node(const core::Plan& plan, core::NodeId id, core::Instant start, record::Latencies& latencies,
                   RowOutput& output) {
    switch (id.role) {
        case core::Role::scheduler:
            return RankNode(std::make_unique<SchedulerNode>(plan, start, output));
        case core::Role::producer:
            return RankNode(
                std::make_unique<ProducerNode>(plan, core::ProducerId{id.index}, start, latencies, output));
        case core::Role::consumer:
            return RankNode(
                std::make_unique<ConsumerNode>(plan, core::ConsumerId{id.index}, start, latencies, output));
    }
    WEIR_UNREACHABLE("a role that does not exist");
}

std::vector<std::byte> encode_account(const RankAccount& account) {
    std::vector<std::byte> bytes;
    each_fixed(account, [&](const auto& part) { append(bytes, &part, 1); });
    each_list(account, [&](const auto& list) {
        const std::uint64_t length = list.size();
        append(bytes, &length, 1);
    });
    each_list(account, [&](const auto& list) { append(bytes, list.data(), list.size()); });
    return bytes;
}

std::optional<RankAccount> decode_account(std::span<const std::byte> bytes) {
    RankAccount account;
    bool whole = true;
    each_fixed(account, [&](auto& part) { whole = whole && take(bytes, &part, 1); });
    each_list(account, [&](auto& list) {
        std::uint64_t length = 0;
        whole = whole && take(bytes, &length, 1) && length <= bytes.size() / sizeof(list[0]);
        list.resize(whole ? length : 0);
    });
    each_list(account, [&](auto& list) { whole = whole && take(bytes, list.data(), list.size()); });
    if (!whole || !bytes.empty() || !account.latencies.adds_up() || !record::is_traffic(account.traffic) ||
        !record::is_pair_times(account.pair_times) || !record::is_datagrams(account.datagrams)) {
        return std::nullopt;
    }
    return account;
}

}  // namespace weir::participant
