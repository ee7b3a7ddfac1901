// How a rank's loop ends before its time: rank_loop.hpp begins with it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "participant/exit_status.hpp"
#include "runtime/rank_loop.hpp"
#include "runtime/signals.hpp"
#include "runtime/silence.hpp"

namespace weir::runtime {

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
    } else if (silence.rank == parts_.rank ||
               now - signalled_at_ >= settle_signal + listening_after_signal()) {
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
    const core::Instant now = parts_.clock.clock().now();
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
    const core::Instant deadline = parts_.clock.clock().now() + core::Duration::milliseconds(200);
    try {
        for (int rank = 0; rank < parts_.settings.roles.ranks(); ++rank) {
            if (rank != parts_.rank) {
                send_notice(rank, make_notice(EndReason::ended, parts_.rank, status, {}));
            }
        }
        while (parts_.transport.packets_under_way() > 0 && parts_.clock.clock().now() < deadline) {
            found_.clear();
            parts_.transport.poll(found_);
        }
    } catch (const transport::TransportError&) {
        // The network is what broke: the others will notice by themselves.
    }
}

}  // namespace weir::runtime
