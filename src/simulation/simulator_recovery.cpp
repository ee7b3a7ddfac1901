// --on-failure continue: consumers of a simulation that stand still, are cut off, or die and are started
// again. Whoever is silent for the silence timeout is lost, as the heartbeats of a real run would find out.
#include <fmt/format.h>

#include <utility>

#include "files/formatting.hpp"
#include "simulation/simulator.hpp"

namespace weir::simulation {

void Simulator::set_absence(FlatNode node, Disturbance::Kind kind, bool begins) {
    NodeCondition& condition = conditions_[node];
    const bool was_silent = condition.silent();
    std::uint32_t& lasting = kind == Disturbance::Kind::die     ? condition.deaths
                             : kind == Disturbance::Kind::pause ? condition.pauses
                                                                : condition.cuts;
    lasting = begins ? lasting + 1 : lasting - 1;
    if (condition.deaths > 0 && !condition.dead && !nodes_[node]->finished()) {
        condition.restarts = true;
        consumer(node).die(now_);
        checker_.consumer_died({row_.id(node).index});
    }
    condition.dead = condition.deaths > 0;
    set_link(node);
    set_deadline(node);
    if (!was_silent && condition.silent()) {
        condition.silent_since = now_;
        push(now_ + setup_.silence_timeout, Kind::noticed, node);
    }
    if (!begins) {
        go_on(node);
    }
}

/// Something that kept it from going on has ended.
void Simulator::go_on(FlatNode node) {
    NodeCondition& condition = conditions_[node];
    if (condition.away()) {
        return;
    }
    const bool restarts = std::exchange(condition.restarts, false);
    if (restarts) {
        drop_messages(node);
        turn(node, [&](core::Actions& out) { consumer(node).begin_again(out); });
    } else {
        turn(node, [&](core::Actions& out) { nodes_[node]->on_time(now_, out); });
    }
    if (condition.cuts > 0) {
        return;
    }
    for (const std::uint32_t index : std::exchange(condition.unsent, {})) {
        network_->send_message(now_, node, messages_[index].to, message_bytes, index);
    }
    for (const QueueEvent& event : std::exchange(condition.held, {})) {
        handle(event);
    }
    if (!restarts) {
        send_message(node, {core::scheduler_node(), core::Heartbeat{}});
    }
}

/// Those to and from a process that is gone are gone with it. Chunks on the wire find another process.
void Simulator::drop_messages(FlatNode node) {
    NodeCondition& condition = conditions_[node];
    for (const std::uint32_t index : std::exchange(condition.unsent, {})) {
        messages_.remove(index);
    }
    std::erase_if(condition.held, [&](const QueueEvent& event) {
        if (!event.of_network()) {
            messages_.remove(event.a());
        }
        return !event.of_network();
    });
}

void Simulator::notice_silence(FlatNode node) {
    if (!is_outlived(node)) {
        end_ = SimulationEnd{SimulationEnd::Kind::node_died,
                             fmt::format("has not responded for {}", files::readable(setup_.silence_timeout)),
                             row_.id(node)};
        return;
    }
    const NodeCondition& condition = conditions_[node];
    if (!condition.silent() || now_ < condition.silent_since + setup_.silence_timeout) {
        return;
    }
    if (conditions_[0].away()) {
        hold(0, {false, static_cast<std::uint8_t>(Kind::noticed), node, 0});
        return;
    }
    turn(0, [&](core::Actions& out) { scheduler_->on_consumer_lost(now_, {row_.id(node).index}, out); });
}

/// After a turn of the scheduler.
void Simulator::note_losses() {
    for (const core::Observation& observation : actions_.observations) {
        if (observation.kind == core::Observation::Kind::consumer_lost) {
            silent_since_.push_back(conditions_[row_.flat(observation.peer)].silent_since);
        }
    }
}

}  // namespace weir::simulation
