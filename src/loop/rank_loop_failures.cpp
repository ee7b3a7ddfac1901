// How the loop hands evidence of failures to the FailureDetector and carries out its decisions.

#include <fmt/format.h>

#include "host/signals.hpp"
#include "loop/rank_loop.hpp"

namespace weir::loop {

std::string why_gone(job::JobNews* news, const host::ProcessWatch& processes, int rank) {
    const std::string said = news != nullptr ? news->last_words_of(rank) : "";
    return said.empty() ? processes.why_gone(rank) : said;
}

void RankLoop::watch_for_failures() {
    if (parts_.output.error()) {
        cannot_continue(parts_.output.error()->message());
    }
    ending::FailureDetector& detector = parts_.detector;
    if (const int signal = host::caught_signal(); signal != 0 && detector.signal() == 0) {
        judge({.kind = ending::Evidence::Kind::signal, .signal = signal});
    }
    // After a signal, all at once: the job is being ended. Else at the second look: what the process sent
    // of itself before it ended may still be under way.
    const bool at_once = detector.signal() != 0 || gone_seen_;
    const auto gone = at_once ? parts_.processes.gone() : parts_.processes.next_gone();
    if (gone && at_once) {
        judge({.kind = ending::Evidence::Kind::process_gone,
               .rank = *gone,
               .hint = why_gone(parts_.news, parts_.processes, *gone)});
    }
    gone_seen_ = gone.has_value();
    apply(detector.look(clock_now()));
}

/// The rank that reports that another one is gone does not know what that one said to the leader.
job::Notice RankLoop::with_last_words(const job::Notice& notice) const {
    const bool tells = is_leader() && parts_.news != nullptr && notice.kind == job::Notice::Kind::failure &&
                       notice.rank > 0 && notice.rank < parts_.settings.roles.ranks();
    const std::string said = tells ? parts_.news->last_words_of(notice.rank) : "";
    return said.empty() ? notice
                        : job::make_notice(notice.kind, notice.rank, notice.detail,
                                           fmt::format("{}; {}", job::text_of(notice), said));
}

void RankLoop::receive_notice(int from, const job::Notice& notice) {
    if (notice.kind == job::Notice::Kind::failure) {
        look_for_dead_process(from);
    }
    apply(parts_.detector.judge(with_last_words(notice), from, clock_now()));
    if (notice.kind == job::Notice::Kind::signal) {
        next_look_ = last_turn_;
    }
}

void RankLoop::look_for_dead_process(int has_spoken) {
    const auto gone = parts_.processes.gone();
    if (gone == has_spoken) {
        return;
    }
    // Another rank than the leader reports what it has seen itself, unless it can no longer report.
    if (gone && (is_leader() || *gone == parts_.settings.leader_rank())) {
        judge({.kind = ending::Evidence::Kind::process_gone,
               .rank = *gone,
               .hint = why_gone(parts_.news, parts_.processes, *gone)});
    }
}

void RankLoop::transport_failed(const transport::TransportError& error) {
    look_for_dead_process();
    judge({.kind = error.control_works() ? ending::Evidence::Kind::transfer_failed
                                         : ending::Evidence::Kind::network_failed,
           .rank = error.peer().value,
           .text = error.what()});
    actions_.clear();  // it was thrown while they were carried out, and the run ends
}

void RankLoop::cannot_continue(const std::string& why) {
    judge({.kind = ending::Evidence::Kind::cannot_continue,
           .rank = parts_.rank,
           .text = fmt::format("{}: {}", rank_text(parts_.settings, parts_.rank), why)});
}

void RankLoop::judge(const ending::Evidence& evidence) {
    apply(parts_.detector.judge(evidence, clock_now()));
}

void RankLoop::apply(const ending::Decision& decision) {
    if (end_) {
        return;
    }
    end_ = decision.end;
    if (decision.lost) {
        give_up(*decision.lost);
    }
    if (decision.missed && parts_.on_missed) {
        parts_.on_missed(*decision.missed);
    }
    if (decision.signal_ends_run && parts_.on_signal) {
        parts_.on_signal(parts_.detector.signal());
    }
    if (decision.report) {
        try {
            send_notice(parts_.settings.leader_rank(), *decision.report);
        } catch (const transport::TransportError& error) {
            judge({.kind = ending::Evidence::Kind::network_failed,
                   .rank = error.peer().value,
                   .text = error.what()});
        }
    }
}

void RankLoop::send_notice(int rank, const job::Notice& notice) {
    job::encode_packet(job::PacketKind::notice, std::span(&notice, 1), packet_);
    parts_.transport.send_packet({rank}, packet_);
}

void RankLoop::send_to_others(const job::Notice& notice) {
    for (int rank = 0; rank < parts_.settings.roles.ranks(); ++rank) {
        if (rank != parts_.rank) {
            send_notice(rank, notice);
        }
    }
}

void RankLoop::order_all_to_leave(int status) {
    const core::Instant deadline = clock_now() + core::Duration::milliseconds(200);
    try {
        send_to_others(job::make_notice(job::Notice::Kind::leave, parts_.rank, status, {}));
        while (parts_.transport.packets_under_way() > 0 && clock_now() < deadline) {
            found_.clear();
            parts_.transport.poll(found_);
        }
    } catch (const transport::TransportError&) {
        // The network is what broke: the others will notice by themselves.
    }
}

// The loop's part of --on-failure continue: consumers that are given up, and that come back as other
// processes.

void RankLoop::follow_news() {
    for (const job::JobEvent& event : parts_.news->look()) {
        follow(event);
    }
}

void RankLoop::follow(const job::JobEvent& event) {
    switch (event.kind) {
        case job::JobEvent::Kind::gone:
            judge({.kind = ending::Evidence::Kind::process_gone,
                   .rank = event.rank,
                   .text = event.why,
                   .hint = why_gone(parts_.news, parts_.processes, event.rank)});
            return;
        case job::JobEvent::Kind::taken_out:
            if (!end_) {
                end_ = ending::RunEnd{.kind = ending::RunEnd::Kind::taken_out, .status = 1};
            }
            return;
        case job::JobEvent::Kind::back:
            parts_.transport.reconnect({event.rank}, event.address);
            parts_.detector.returned(event.rank, event.address.life);
            if (const host::RankLocation& here =
                    parts_.settings.locations[static_cast<std::size_t>(parts_.rank)];
                event.host == here.host && event.pids == here.pids()) {
                parts_.processes.watch(event.rank, event.pid);
            }
            parts_.news->know(event.rank);
            if (parts_.on_loss) {
                parts_.on_loss(fmt::format("{} is back", rank_text(parts_.settings, event.rank)));
            }
            return;
    }
}

void RankLoop::give_up(const show::Failure& cause) {
    const int rank = cause.rank.value();
    const core::NodeId node = parts_.settings.roles.node(rank);
    WEIR_ASSERT(is_leader() && node.role == core::Role::consumer);
    silences_.emplace_back(node, std::min(parts_.detector.last_heard(rank), last_turn_));
    parts_.detector.given_up(rank);
    parts_.collector->end_life(node);
    parts_.processes.forget(rank);
    parts_.transport.disconnect({rank});
    if (parts_.news != nullptr) {
        static_cast<void>(parts_.news->take_out(rank));
    }
    if (parts_.on_loss) {
        parts_.on_loss(cause.what + "; the run goes on without it");
    }
    parts_.node.scheduler()->on_consumer_lost(last_turn_, {node.index}, actions_);
    parts_.node->record(last_turn_, actions_);
    carry_out();
}

void RankLoop::note_revoked(const core::ControlMessage& message) {
    if (const auto* const revoke = std::get_if<core::Revoke>(&message);
        revoke != nullptr && revoke->consumer.value < parts_.settings.plan.consumers) {
        revoked_.push_back(parts_.settings.roles.rank(core::node_of(revoke->consumer)));
    }
}

}  // namespace weir::loop
