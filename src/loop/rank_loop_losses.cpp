// The loop's part of --on-failure continue: consumers that are given up, and that come back as other
// processes.
#include <fmt/format.h>

#include "loop/rank_loop.hpp"

namespace weir::loop {

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
