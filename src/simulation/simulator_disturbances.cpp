// What disturbances do to the simulator's nodes and links. Those of one kind may overlap: the worst of those
// that last counts.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "files/formatting.hpp"
#include "simulation/simulator.hpp"

namespace weir::simulation {

using core::Duration;

namespace {

template <typename T>
void add_or_remove(std::vector<T>& lasting, T value, bool add) {
    if (add) {
        lasting.push_back(value);
    } else {
        lasting.erase(std::find(lasting.begin(), lasting.end(), value));
    }
}

}  // namespace

void Simulator::disturb(std::uint32_t number, bool begins) {
    const Disturbance& disturbance = setup_.disturbances[number];
    if (is_of_network(disturbance.kind)) {
        network_->set_failed(now_, number, disturbance, begins);
        return;
    }
    const FlatNode node = row_.flat(disturbance.node);
    NodeCondition& condition = conditions_[node];
    // What has passed the node so far has passed it in the condition that it was in.
    network_->catch_up(node);
    using What = Disturbance::Kind;
    if (is_outlived(node) &&
        (disturbance.kind == What::pause || disturbance.kind == What::die || disturbance.kind == What::cut)) {
        set_absence(node, disturbance.kind, begins);
        return;
    }
    switch (disturbance.kind) {
        case What::pause:
            return set_pause(node, begins);
        case What::die:
            condition.dead = true;
            set_link(node);
            set_deadline(node);
            push(now_ + setup_.silence_timeout, Kind::noticed, node);
            return;
        case What::slow:
            add_or_remove(condition.slow_factors, disturbance.factor, begins);
            set_slowness(node);
            return;
        case What::degrade:
            add_or_remove(condition.link_factors, disturbance.factor, begins);
            set_link(node);
            return;
        case What::delay:
            add_or_remove(extra_delays_, disturbance.extra, begins);
            network_->set_extra_delay(extra_delays_.empty()
                                          ? Duration{}
                                          : *std::max_element(extra_delays_.begin(), extra_delays_.end()));
            return;
        case What::drift:
            add_or_remove(condition.drifts_ppm, disturbance.ppm, begins);
            set_clock(node);
            return;
        case What::cut:
            return;  // consumers only, with --on-failure continue
        case What::cut_link:
        case What::cut_switch:
        case What::degrade_link:
        case What::errors:
        case What::storm:
            return;  // of the network
        case What::flood:
            condition.floods = begins ? condition.floods + 1 : condition.floods - 1;
            network_->set_flooded(node, condition.floods > 0);
            return;
    }
}

void Simulator::set_pause(FlatNode node, bool begins) {
    NodeCondition& condition = conditions_[node];
    if (begins && condition.pauses == 0) {
        condition.paused_since = now_;
    }
    condition.pauses = begins ? condition.pauses + 1 : condition.pauses - 1;
    set_link(node);
    if (condition.away()) {
        set_deadline(node);
    } else {
        nodes_[node]->record_poll_gap(now_, now_ - condition.paused_since);
        resume(node);
    }
}

void Simulator::set_slowness(FlatNode node) {
    double factor = 1;
    for (const double slow : conditions_[node].slow_factors) {
        factor = std::max(factor, slow);
    }
    if (node != 0) {
        consumer(node).slow_down(factor);
        return;
    }
    const Duration usual = setup_.network.scheduler_time;
    const auto time = static_cast<double>(std::max<std::int64_t>(usual.ns, 1));
    scheduler_time_ = factor == 1 ? usual : Duration{std::llround(time * factor)};
}

/// The furthest from a true clock counts.
void Simulator::set_clock(FlatNode node) {
    double worst = 0;
    for (const double ppm : conditions_[node].drifts_ppm) {
        worst = std::abs(ppm) > std::abs(worst) ? ppm : worst;
    }
    producer(node).set_clock_error(std::llround(worst * 1000));
    set_deadline(node);
}

void Simulator::set_link(FlatNode node) {
    const NodeCondition& condition = conditions_[node];
    double factor = condition.silent() && network_->links_stop_with(node) ? 0 : 1;
    for (const double lasting : condition.link_factors) {
        factor = std::min(factor, lasting);
    }
    network_->set_link(now_, node, factor);
}

void Simulator::resume(FlatNode node) {
    std::vector<QueueEvent> held;
    held.swap(conditions_[node].held);
    turn(node, [&](core::Actions& out) { nodes_[node]->on_time(now_, out); });
    // Here and not by way of the queue: something that comes at this very instant comes behind them.
    for (const QueueEvent& event : held) {
        handle(event);
    }
}

// --on-failure continue: consumers of a simulation that stand still, are cut off, or die and are started
// again. Whoever is silent for the silence timeout is lost, as the heartbeats of a real run would find out.

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
                             fmt::format("has not responded for {}", files::exact(setup_.silence_timeout)),
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

}  // namespace weir::simulation
