#include "loop/rank_loop.hpp"

#include <fmt/format.h>

#include "host/signals.hpp"

namespace weir::loop {

using EvidenceKind = ending::Evidence::Kind;

RankLoop::RankLoop(const Parts& parts)
    : parts_(parts),
      outbox_(parts.settings.roles, parts.transport),
      results_(parts.settings.roles.ranks()),
      heartbeats_(core::heartbeat_periods(parts.settings.roles.ranks(), parts.settings.silence_timeout)) {
    const core::Plan& plan = parts_.settings.plan;
    if (plan.busy_burns_cpu && parts_.settings.roles.node(parts_.rank).role == core::Role::consumer) {
        burner_.emplace();
    }
}

ending::RunEnd RankLoop::run() {
    core::Instant now = clock_now();
    last_turn_ = next_heartbeat_ = next_look_ = node_due_ = now;
    parts_.detector.begin_loop(now);
    if (parts_.returns) {
        parts_.node.consumer()->die(now);
        parts_.node.consumer()->begin_again(actions_);
    } else {
        parts_.node->on_start(now, actions_);
    }
    while (!end_) {
        try {
            turn(now);
        } catch (const transport::TransportError& error) {
            transport_failed(error);
            node_due_ = now;
        }
        if (found_work_) {
            parts_.idle.worked();
        } else {
            parts_.idle.wait(std::min(node_due_, std::min(next_heartbeat_, next_look_)) - now);
        }
        now = clock_now();
    }
    parts_.detector.end_loop();
    if (burner_) {
        burner_->set(false);
    }
    if (end_->kind == ending::RunEnd::Kind::complete) {
        parts_.node->finish_recording(now);
    }
    return *end_;
}

void RankLoop::turn(core::Instant now) {
    parts_.watchdog.alive();
    parts_.detector.begin_turn(now);
    const core::Duration gap = now - last_turn_;
    last_turn_ = now;
    found_.clear();
    heartbeat_packets_ = 0;
    parts_.transport.poll(found_);
    if (concerns_node(now, gap)) {
        turn_of_node(now, gap);
    }
    found_work_ = !found_.sent.empty() || !found_.chunks.empty() || !found_.unreachable.empty() ||
                  found_.packets.size() > heartbeat_packets_;
    if (is_leader()) {
        parts_.collector->poll(now);
        end_if_complete();
    }
    if (now >= next_heartbeat_) {
        next_heartbeat_ = now + (is_leader() ? heartbeats_.leader : heartbeats_.others);
        send_heartbeats(now);
    }
    if (parts_.news != nullptr && (now >= next_look_ || parts_.news->is_awaited())) {
        follow_news();
        node_due_ = now;
    }
    if (now >= next_look_ || (parts_.detector.signal() == 0 && host::caught_signal() != 0)) {
        watch_for_failures();
        if (parts_.on_look) {
            parts_.on_look();
        }
        node_due_ = now;
        const bool soon = parts_.detector.signal() != 0 || gone_seen_;
        next_look_ = now + core::Duration::milliseconds(soon ? 10 : 100);
    }
}

/// A node acts on what was found and when its time has come, and else it is as it was: its recorder may
/// account for that time later, but has to see each second end, and all gaps that count in it.
bool RankLoop::concerns_node(core::Instant now, core::Duration gap) const {
    return !found_.empty() || now >= node_due_ || gap > longest_gap_ || gap >= record::PollGaps::stall ||
           parts_.transport.socket_state() != nullptr;
}

void RankLoop::turn_of_node(core::Instant now, core::Duration gap) {
    for (const transport::Unreachable& unreachable : found_.unreachable) {
        look_for_dead_process();
        judge(
            {.kind = EvidenceKind::transfer_failed, .rank = unreachable.rank.value, .text = unreachable.why});
    }
    parts_.node->record_poll_gap(now, gap);
    record_socket(now);
    parts_.node->on_time(now, actions_);
    feed_chunks(now);
    receive_packets(now);
    parts_.node->record(now, actions_);
    carry_out();
    if (participant::SchedulerNode* const scheduler = parts_.node.scheduler();
        scheduler != nullptr && found_.packets.size() > heartbeat_packets_) {
        const core::Instant after = clock_now();
        scheduler->record_handling(after, after - now);
    }
    if (burner_) {
        burner_->set(parts_.node.consumer()->processing());
    }
    const core::Instant second_ends{(record::second_of(now) + 1) * record::ns_per_second};
    longest_gap_ = second_ends == second_ends_ ? std::max(longest_gap_, gap) : gap;
    second_ends_ = second_ends;
    node_due_ = std::min(parts_.node->next_deadline(), second_ends_);
}

/// Chunks leave a producer and arrive at a consumer.
void RankLoop::feed_chunks(core::Instant now) {
    if (participant::ProducerNode* const producer = parts_.node.producer()) {
        std::span<const transport::ChunkSent> sent = found_.sent;
        while (const std::uint32_t count = transport::successive(sent)) {
            producer->on_chunks_sent(now, sent[0].stream, sent[0].sequence, count, actions_);
            sent = sent.subspan(count);
        }
    } else if (participant::ConsumerNode* const consumer = parts_.node.consumer()) {
        for (const transport::ChunkArrived& chunk : found_.chunks) {
            const std::size_t observed = actions_.observations.size();
            consumer->on_chunk(now, chunk.place,
                               {.source = parts_.settings.roles.node(chunk.source.value),
                                .header_intact = chunk.header_intact,
                                .payload_intact = chunk.payload_intact,
                                .payload_checked = chunk.payload_checked,
                                .chunk = chunk.chunk},
                               actions_);
            const std::span observations = std::span(actions_.observations).subspan(observed);
            if (parts_.settings.plan.outlives_consumers &&
                std::any_of(observations.begin(), observations.end(), [](const core::Observation& one) {
                    return one.kind == core::Observation::Kind::chunk_stale;
                })) {
                parts_.transport.open_place(chunk.place);  // it filled the buffer of one that is to come
            }
        }
    }
}

void RankLoop::record_socket(core::Instant now) const {
    const core::SocketState* const state = parts_.transport.socket_state();
    if (state == nullptr) {
        return;
    }
    if (participant::ProducerNode* const producer = parts_.node.producer()) {
        producer->record_socket(now, *state);
    } else if (participant::ConsumerNode* const consumer = parts_.node.consumer()) {
        consumer->record_socket(now, *state);
    }
}

void RankLoop::receive_packets(core::Instant now) {
    for (const transport::PacketArrived& packet : found_.packets) {
        const int rank = packet.source.value;
        parts_.detector.heard(rank);
        const auto content = found_.content(packet);
        if (!receive_packet(now, rank, content)) {
            cannot_continue(fmt::format("a packet of {} bytes from {} that cannot be read", content.size(),
                                        rank_text(parts_.settings, rank)));
        }
    }
}

bool RankLoop::receive_packet(core::Instant now, int rank, std::span<const std::byte> packet) {
    const auto kind = job::packet_kind(packet);
    if (kind == job::PacketKind::control && job::decode_messages(packet, messages_)) {
        receive_messages(now, rank);
    } else if (kind == job::PacketKind::report && is_leader() && job::decode_packet(packet, reports_) &&
               record::are_live_samples(reports_, parts_.settings.roles.node(rank))) {
        for (const record::LiveSample& report : reports_) {
            parts_.collector->add(report);
        }
    } else if (kind == job::PacketKind::result && parts_.node.scheduler() != nullptr) {
        receive_result(now, rank, packet);
    } else if (kind == job::PacketKind::notice && job::decode_packet(packet, notices_)) {
        for (const job::Notice& notice : notices_) {
            receive_notice(rank, notice);
        }
    } else {
        return false;
    }
    return true;
}

void RankLoop::receive_messages(core::Instant now, int rank) {
    const core::NodeId from = parts_.settings.roles.node(rank);
    const bool heartbeats = messages_.empty() || std::holds_alternative<core::Heartbeat>(messages_.front());
    (heartbeats ? heartbeat_packets_ : control_packets_) += 1;
    for (const core::ControlMessage& message : messages_) {
        if (const auto* const heartbeat = std::get_if<core::Heartbeat>(&message)) {
            parts_.node->record_heartbeats(now, parts_.clock.receive(*heartbeat, rank, host::monotonic_ns()));
            if (parts_.on_clock && parts_.clock.follows()) {
                parts_.on_clock(parts_.clock.clock());
            }
        }
        parts_.node->on_message(now, from, message, actions_);
        note_revoked(message);
    }
}

void RankLoop::receive_result(core::Instant now, int rank, std::span<const std::byte> packet) {
    const job::ResultArrivals::Received received = results_.receive(rank, packet);
    if (!received.refusal.empty()) {
        cannot_continue(fmt::format("from {}: {}", rank_text(parts_.settings, rank), received.refusal));
    } else if (received.whole) {
        parts_.node.scheduler()->on_result(now, parts_.settings.roles.node(rank), *received.whole, actions_);
    }
}

void RankLoop::carry_out() {
    for (const core::PlaceId place : actions_.open_places) {
        parts_.transport.open_place(place);
    }
    for (const core::StreamId stream : actions_.cancelled) {
        parts_.transport.cancel(stream);
    }
    for (const int rank : std::exchange(revoked_, {})) {
        parts_.transport.disconnect({rank});
    }
    for (const core::SendChunk& chunk : actions_.chunks) {
        parts_.transport.send_chunk(chunk);
    }
    for (const core::SendResult& result : actions_.results) {
        job::send_result(parts_.transport, {parts_.settings.leader_rank()}, result, packet_);
    }
    for (const core::SendMessage& message : actions_.messages) {
        outbox_.add(message);
    }
    outbox_.flush();
    if (participant::SchedulerNode* const scheduler = parts_.node.scheduler()) {
        scheduler->record_control_packets(last_turn_, control_packets_ + outbox_.packets());
    }
    if (actions_.close_places) {
        parts_.transport.close_places();
    }
    record_faults();
    actions_.clear();
}

void RankLoop::record_faults() {
    for (const core::Fault& fault : actions_.faults) {
        ++fault_count_;
        const show::FaultRecord record = show::fault_record(fault);
        if (faults_.size() < show::RunRecord::listed_max) {
            faults_.push_back(record);
        }
        if (fault.kind == core::Fault::Kind::protocol_violation) {
            cannot_continue(show::fault_text(record));
        }
    }
}

void RankLoop::end_if_complete() {
    if (parts_.node->finished() && !end_) {
        end_ = ending::RunEnd{};
        send_to_others(job::make_notice(job::Notice::Kind::complete, parts_.rank, 0, {}));
    }
}

void RankLoop::send_heartbeats(core::Instant now) {
    const participant::SchedulerNode* const scheduler = parts_.node.scheduler();
    const core::Duration no_credit = scheduler != nullptr ? scheduler->no_credit_time(now) : core::Duration{};
    const auto send = [&](int rank) {
        core::Heartbeat heartbeat{.no_credit = no_credit};
        parts_.clock.stamp(heartbeat, rank, host::monotonic_ns());
        outbox_.add({parts_.settings.roles.node(rank), heartbeat});
        outbox_.flush();  // it leaves at the time of its stamp
    };
    if (!is_leader()) {
        send(parts_.settings.leader_rank());
        return;
    }
    for (int rank = 0; rank < parts_.settings.roles.ranks(); ++rank) {
        if (rank != parts_.rank) {
            send(rank);
        }
    }
}

void RankLoop::send_report(const record::LiveSample& report) {
    if (is_leader()) {
        parts_.collector->add(report);
        return;
    }
    job::encode_packet(job::PacketKind::report, std::span(&report, 1), packet_);
    parts_.transport.send_packet({parts_.settings.leader_rank()}, packet_);
}

}  // namespace weir::loop
