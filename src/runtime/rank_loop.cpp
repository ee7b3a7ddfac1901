#include "runtime/rank_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "participant/exit_status.hpp"
#include "runtime/signals.hpp"
#include "runtime/silence.hpp"

namespace weir::runtime {

namespace {

constexpr auto look_period = core::Duration::milliseconds(100);

}  // namespace

RankLoop::RankLoop(const Parts& parts)
    : parts_(parts),
      scheduler_rank_(parts.settings.roles.scheduler_rank()),
      outbox_(parts.settings.roles, parts.transport),
      results_(parts.settings.roles.ranks()),
      heartbeats_(core::heartbeat_periods(parts.settings.roles.ranks(), parts.settings.silence_timeout)) {
    const core::Plan& plan = parts_.settings.plan;
    if (plan.busy_burns_cpu && parts_.settings.roles.node(parts_.rank).role == core::Role::consumer) {
        burner_.emplace();
    }
}

LoopEnd RankLoop::run() {
    core::Instant now = parts_.clock.now();
    last_turn_ = next_heartbeat_ = next_look_ = now;
    parts_.watch.forgive(now);
    parts_.node.on_start(now, actions_);
    while (!end_) {
        try {
            turn(now);
        } catch (const transport::TransportError& error) {
            blame_the_dead(now);
            transport_failed(now, error);
        }
        const core::Instant next =
            std::min(parts_.node.next_deadline(), std::min(next_heartbeat_, next_look_));
        if (found_.empty()) {
            parts_.idle.wait(next - now);
        } else {
            parts_.idle.worked();
        }
        now = parts_.clock.now();
    }
    if (burner_) {
        burner_->set(false);
    }
    if (end_->kind == LoopEnd::Kind::regular) {
        parts_.node.finish_recording(now);
    }
    return *end_;
}

void RankLoop::turn(core::Instant now) {
    parts_.watchdog.alive();
    const core::Duration gap = now - last_turn_;
    last_turn_ = now;
    if (is_absence(gap)) {
        // The others may have given this rank up meanwhile, and said so: wait whether the job is being ended
        // before saying anything about them.
        listen_until_ = now + patience_after_absence;
    }
    if (gap > core::Duration::seconds(1)) {
        parts_.watch.forgive(now);  // we were away, not they
    }
    found_.clear();
    parts_.transport.poll(found_);

    parts_.node.record_poll_gap(now, gap);
    record_socket(now);
    parts_.node.on_time(now, actions_);
    std::span<const transport::ChunkSent> sent = found_.sent;
    while (const std::uint32_t count = transport::successive(sent)) {
        parts_.node.on_chunks_sent(now, sent[0].stream, sent[0].sequence, count, actions_);
        sent = sent.subspan(count);
    }
    for (const transport::ChunkArrived& chunk : found_.chunks) {
        parts_.node.on_chunk(now, chunk.slot,
                             {.source = parts_.settings.roles.node(chunk.source.value),
                              .header_intact = chunk.header_intact,
                              .payload_intact = chunk.payload_intact,
                              .chunk = chunk.chunk},
                             actions_);
    }
    take_packets(now);
    parts_.node.record(now, actions_);
    carry_out();
    if (burner_) {
        burner_->set(parts_.node.processing());
    }

    if (leads()) {
        parts_.collector->poll(now);
        if (parts_.node.finished() && !end_) {
            end_ = LoopEnd{};
            for (int rank = 0; rank < parts_.settings.roles.ranks(); ++rank) {
                if (rank != parts_.rank) {
                    send_notice(rank, make_notice(EndReason::none, parts_.rank, 0, {}));
                }
            }
        }
    }
    if (now >= next_heartbeat_) {
        next_heartbeat_ = now + (leads() ? heartbeats_.scheduler : heartbeats_.others);
        send_heartbeats(now);
    }
    if (now >= next_look_ || (signal_ == 0 && caught_signal() != 0)) {
        next_look_ = now + (signal_ != 0 ? core::Duration::milliseconds(10) : look_period);
        look_at_own_log(now);
        look_at_signals(now);
        look_after_peers(now);
    }
}

void RankLoop::record_socket(core::Instant now) {
    const transport::SocketState* const state = parts_.transport.socket_state();
    if (state == nullptr) {
        return;
    }
    parts_.node.record_socket(now, {.sent = state->sent_datagrams,
                                    .sent_bytes = state->sent_bytes,
                                    .sent_frames = state->sent_frames,
                                    .wire_bytes = state->wire_bytes,
                                    .send_retries = state->send_retries,
                                    .refused_by_queue = state->refused_by_queue,
                                    .receive_drops = state->receive_drops,
                                    .strays = state->strays,
                                    .occupancy_bytes = state->occupancy_bytes,
                                    .send_buffer_bytes = state->send_buffer_bytes,
                                    .receive_buffer_bytes = state->receive_buffer_bytes,
                                    .mtu_bytes = state->mtu_bytes});
}

void RankLoop::take_packets(core::Instant now) {
    for (const transport::PacketArrived& packet : found_.packets) {
        const int rank = packet.source.value;
        parts_.watch.heard(rank, now);
        const auto content = found_.content(packet);
        const auto kind = packet_kind(content);
        if (kind == PacketKind::control) {
            take_control(now, rank, content);
        } else if (kind == PacketKind::report && leads() && decode_packet(content, reports_)) {
            for (const telemetry::SecondReport& report : reports_) {
                parts_.collector->add(report);
            }
        } else if (kind == PacketKind::result && leads()) {
            take_result(now, rank, content);
        } else if (kind == PacketKind::notice && decode_packet(content, notices_)) {
            for (const Notice& notice : notices_) {
                take_notice(now, notice);
            }
        } else {
            cannot_go_on(now, fmt::format("a packet of {} bytes from {} that nobody can read", content.size(),
                                          rank_text(parts_.settings, rank)));
        }
    }
}

void RankLoop::take_control(core::Instant now, int rank, std::span<const std::byte> packet) {
    if (!decode_packet(packet, messages_)) {
        cannot_go_on(now, fmt::format("a control packet of {} bytes from {} whose length is wrong",
                                      packet.size(), rank_text(parts_.settings, rank)));
        return;
    }
    const core::NodeId from = parts_.settings.roles.node(rank);
    control_packets_ += !messages_.empty() && messages_.front().kind != core::MessageKind::heartbeat ? 1 : 0;
    for (const core::ControlMessage& message : messages_) {
        parts_.node.on_message(now, from, message, actions_);
    }
}

void RankLoop::take_result(core::Instant now, int rank, std::span<const std::byte> packet) {
    const ResultArrivals::Taken taken = results_.take(rank, packet);
    if (!taken.refusal.empty()) {
        cannot_go_on(now, fmt::format("from {}: {}", rank_text(parts_.settings, rank), taken.refusal));
    } else if (taken.whole) {
        parts_.node.on_result(now, parts_.settings.roles.node(rank), *taken.whole, actions_);
    }
}

void RankLoop::carry_out() {
    for (const core::SlotId slot : actions_.open_slots) {
        parts_.transport.open_slot(slot);
    }
    for (const core::SendChunk& chunk : actions_.chunks) {
        parts_.transport.send_chunk(chunk);
    }
    for (const core::SendResult& result : actions_.results) {
        send_result(parts_.transport, {scheduler_rank_}, result, packet_);
    }
    for (const core::SendMessage& message : actions_.messages) {
        outbox_.add(message);
    }
    outbox_.flush();
    parts_.node.record_control_packets(last_turn_, control_packets_ + outbox_.packets());
    if (actions_.close_slots) {
        parts_.transport.close_slots();
    }
    take_faults();
    actions_.clear();
}

void RankLoop::take_faults() {
    for (const core::Fault& fault : actions_.faults) {
        ++fault_count_;
        const telemetry::FaultRecord record = telemetry::fault_record(fault);
        if (faults_.size() < telemetry::RunRecord::listed_max) {
            faults_.push_back(record);
        }
        if (fault.kind == core::Fault::Kind::protocol_violation) {
            cannot_go_on(last_turn_, telemetry::fault_text(record));
        }
    }
}

void RankLoop::send_heartbeats(core::Instant now) {
    const core::ControlMessage heartbeat{.kind = core::MessageKind::heartbeat,
                                         .bytes = parts_.node.no_credit_time(now).ns};
    if (!leads()) {
        outbox_.add({core::scheduler_node(), heartbeat});
    } else {
        for (int rank = 0; rank < parts_.settings.roles.ranks(); ++rank) {
            if (rank != parts_.rank) {
                outbox_.add({parts_.settings.roles.node(rank), heartbeat});
            }
        }
    }
    outbox_.flush();
}

void RankLoop::take_report(const telemetry::SecondReport& report) {
    if (leads()) {
        parts_.collector->add(report);
        return;
    }
    encode_packet(PacketKind::report, std::span(&report, 1), packet_);
    parts_.transport.send_packet({scheduler_rank_}, packet_);
}

// Ends before their time

void RankLoop::look_at_signals(core::Instant now) {
    if (signal_ == 0) {
        signal_ = caught_signal();
        if (signal_ == 0) {
            return;
        }
        signalled_at_ = now;
        if (was_away()) {
            end_ = LoopEnd{.kind = LoopEnd::Kind::told, .status = participant::exit_failed, .failure = {}};
            return;
        }
        if (!leads()) {
            leave_at_ = std::min(leave_at_, now + patience_after_signal);
            send_notice(scheduler_rank_, make_notice(EndReason::interrupted, parts_.rank, signal_, {}));
        }
    }
    if (const auto gone = parts_.watch.gone(); gone && !was_away()) {
        peer_gone(now, *gone);
    }
    if (leads() && now - signalled_at_ >= settle_signal && !end_) {
        decide_on_signal(now);
    }
}

void RankLoop::decide_on_signal(core::Instant now) {
    const Silence silence = explain_signal(parts_.settings, parts_.watch, parts_.rank, signal_, signalled_at_,
                                           missed_limit(), now);
    if (silence.rank < 0) {
        end_ = LoopEnd{.kind = LoopEnd::Kind::interrupted, .signal = signal_, .failure = {}};
    } else if (silence.rank == parts_.rank || now - signalled_at_ >= settle_signal + listening_after_signal()) {
        fail(EndReason::rank_silent, silence.rank, silence.what);
    } else if (!told_of_signal_) {
        told_of_signal_ = true;
        if (parts_.on_signal) {
            parts_.on_signal(signal_);
        }
    }
}

void RankLoop::look_after_peers(core::Instant now) {
    const auto gone = parts_.watch.next_gone();
    if (end_ || was_away()) {
        return;
    }
    if (gone) {
        peer_gone(now, *gone);
    }
    const core::Duration limit = parts_.settings.silence_timeout;
    if (leads()) {
        note_silence(now);
        if (const auto silent = parts_.watch.silent(now, limit)) {
            const Silence silence = explain_silence(parts_.settings, parts_.watch, parts_.rank, *silent, now);
            fail(EndReason::rank_silent, silence.rank, silence.what);
        }
    } else if (parts_.watch.silent(scheduler_rank_, now, limit)) {
        lose_scheduler(fmt::format("{} has not been heard for {:.1f} s",
                                   rank_text(parts_.settings, scheduler_rank_), limit.in_seconds()));
    } else if (now >= leave_at_) {
        // MPI itself may hang on the scheduler's rank: Open MPI's TCP does when a rank on another host dies.
        const std::string scheduler = rank_text(parts_.settings, scheduler_rank_);
        lose_scheduler(signal_ == 0
                           ? fmt::format("{} did not answer when the run had to end", scheduler)
                           : fmt::format("signal {} ({}) came, and {} did not answer; if another rank has "
                                         "died, the launcher names it",
                                         signal_, strsignal(signal_), scheduler));
    }
}

core::Duration RankLoop::missed_limit() const {
    // Of many ranks, each is heard more seldom.
    return std::min(std::max(missed_after, heartbeats_.others * 2),
                    core::Duration{parts_.settings.silence_timeout.ns / 2});
}

core::Duration RankLoop::listening_after_signal() const {
    return std::max(settle_silence, heartbeats_.others * 2);
}

void RankLoop::note_silence(core::Instant now) {
    const int missed = parts_.watch.silent(now, missed_limit()).value_or(-1);
    if (missed != missed_) {
        missed_ = missed;
        if (parts_.on_silence) {
            parts_.on_silence(missed);
        }
    }
}

void RankLoop::peer_gone(core::Instant now, int rank) {
    const std::string what =
        fmt::format("{} is gone: its process does not exist any more", rank_text(parts_.settings, rank));
    if (leads()) {
        fail(EndReason::rank_gone, rank, what);
    } else if (rank == scheduler_rank_) {
        lose_scheduler(what);
    } else if (!said_why_) {
        said_why_ = true;
        leave_at_ = std::min(leave_at_, now + patience_after_failure);
        send_notice(scheduler_rank_, make_notice(EndReason::rank_gone, rank, 0, what));
    }
}

void RankLoop::blame_the_dead(core::Instant now) {
    const auto gone = parts_.watch.gone();
    if (gone && (leads() || *gone == scheduler_rank_) && !was_away()) {
        peer_gone(now, *gone);
    }
}

bool RankLoop::was_away() const {
    const core::Instant now = parts_.clock.now();
    return now < listen_until_ || is_absence(now - last_turn_);
}

bool RankLoop::is_absence(core::Duration gap) const {
    return gap.ns > parts_.settings.silence_timeout.ns / 2;
}

void RankLoop::look_at_own_log(core::Instant now) {
    if (parts_.output.error()) {
        cannot_go_on(now, parts_.output.error()->message());
    }
}

void RankLoop::cannot_go_on(core::Instant now, const std::string& why) {
    give_up(now, parts_.rank, fmt::format("{}: {}", rank_text(parts_.settings, parts_.rank), why));
}

void RankLoop::give_up(core::Instant now, int rank, const std::string& what) {
    if (leads()) {
        fail(EndReason::rank_failed, rank, what);
    } else if (!said_why_) {
        said_why_ = true;
        leave_at_ = std::min(leave_at_, now + patience_after_failure);
        try {
            send_notice(scheduler_rank_, make_notice(EndReason::rank_failed, rank, 0, what));
        } catch (const transport::TransportError&) {
            lose_network(rank, what);
        }
    }
}

void RankLoop::transport_failed(core::Instant now, const transport::TransportError& error) {
    const int peer = error.peer().value;
    const int self = parts_.rank;
    Silence cause{self, fmt::format("{}: {}", rank_text(parts_.settings, self), error.what())};
    if (peer >= 0 && peer < parts_.settings.roles.ranks() && peer != self) {
        // Only the scheduler's rank hears all others.
        const core::Duration missed = leads() ? missed_limit() : core::Duration::max();
        cause = explain_failed_transfer(parts_.settings, parts_.watch, self, peer, error.what(), missed, now);
    }
    give_up(now, cause.rank, cause.what);
    if (error.control_works()) {
        actions_.clear();  // it came while they were carried out; the scheduler's rank decides what follows
    } else {
        lose_network(cause.rank, cause.what);
    }
}

void RankLoop::lose_network(int rank, const std::string& what) {
    if (!end_) {
        fail(EndReason::rank_failed, rank, what);
        end_->kind = LoopEnd::Kind::scheduler_lost;
    }
}

void RankLoop::take_notice(core::Instant now, const Notice& notice) {
    if (notice.rank < 0 || notice.rank >= parts_.settings.roles.ranks()) {
        cannot_go_on(now, "a notice about a rank that does not exist");
        return;
    }
    const std::string_view text(notice.text, strnlen(notice.text, sizeof notice.text));
    switch (notice.reason) {
        case EndReason::none:
            if (!leads() && !end_) {
                end_ = LoopEnd{};
            }
            return;
        case EndReason::ended:
            if (!leads() && !end_) {
                end_ = LoopEnd{.kind = LoopEnd::Kind::told, .status = notice.detail, .failure = {}};
            }
            return;
        case EndReason::interrupted:
            if (leads() && signal_ == 0 && !was_away()) {
                signal_ = notice.detail;
                signalled_at_ = now;
                next_look_ = now;
            }
            return;
        case EndReason::rank_gone:
        case EndReason::rank_silent:
        case EndReason::rank_failed:
            blame_the_dead(now);
            if (leads() && !was_away()) {
                fail(notice.reason, notice.rank, std::string(text));
            }
            return;
    }
    cannot_go_on(now, "a notice of unknown kind");
}

void RankLoop::fail(EndReason /*reason*/, int rank, const std::string& what) {
    if (end_ && end_->kind != LoopEnd::Kind::interrupted) {
        return;
    }
    const core::NodeId node = parts_.settings.roles.node(rank);
    end_ = LoopEnd{.kind = LoopEnd::Kind::failed,
                   .status = participant::exit_failed,
                   .signal = signal_,
                   .failure = {.what = what,
                               .rank = rank,
                               .role = telemetry::node_text(node),
                               .host = parts_.settings.places[static_cast<std::size_t>(rank)].host}};
}

void RankLoop::lose_scheduler(const std::string& what) {
    if (end_) {
        return;
    }
    fail(EndReason::rank_gone, scheduler_rank_, what);
    end_->kind = LoopEnd::Kind::scheduler_lost;
}

void RankLoop::send_notice(int rank, const Notice& notice) {
    encode_packet(PacketKind::notice, std::span(&notice, 1), packet_);
    parts_.transport.send_packet({rank}, packet_);
}

void RankLoop::tell_all_to_leave(int status) {
    const core::Instant deadline = parts_.clock.now() + core::Duration::milliseconds(200);
    try {
        for (int rank = 0; rank < parts_.settings.roles.ranks(); ++rank) {
            if (rank != parts_.rank) {
                send_notice(rank, make_notice(EndReason::ended, parts_.rank, status, {}));
            }
        }
        while (parts_.transport.packets_under_way() > 0 && parts_.clock.now() < deadline) {
            found_.clear();
            parts_.transport.poll(found_);
        }
    } catch (const transport::TransportError&) {
        // The network is what broke: the others will notice by themselves.
    }
}

}  // namespace weir::runtime
