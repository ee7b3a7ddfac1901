#include "simulation/simulator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/scheduler.hpp"
#include "files/formatting.hpp"

namespace weir::simulation {

using core::Duration;
using core::Instant;
using core::NodeId;
using core::Role;

namespace {

constexpr Duration heartbeat_period = Duration::milliseconds(100);
constexpr Duration second = Duration::seconds(1);
constexpr Duration go_on_period = Duration::milliseconds(10);
/// The longest that producers wait for the first credits.
constexpr Duration credits_patience = Duration::milliseconds(10);
/// How long after the end of the drain a run may go on before it counts as stuck; disturbances may add to it.
constexpr Duration end_patience = Duration::seconds(60);
/// Events at one instant, per node, beyond which the run is stuck.
constexpr std::uint64_t most_steps_at_once = 100000;

}  // namespace

Simulator::Simulator(const Setup& setup)
    : setup_(setup),
      plan_(setup.plan),
      row_{plan_.producers, plan_.consumers},
      now_(Instant{} - plan_.warmup),
      checker_(plan_, core::keeps_events_in_order(setup_.network)),
      conditions_(row_.size()),
      network_(make_network(plan_, setup_.network, events_, *this)),
      report_period_(network_->report_period()),
      deadlines_(row_.size()),
      scheduler_time_(setup.network.scheduler_time) {
    make_nodes();
}

void Simulator::make_nodes() {
    nodes_.reserve(row_.size());
    for (FlatNode node = 0; node < row_.size(); ++node) {
        const NodeId name = row_.id(node);
        participant::RowOutput& output = setup_.output(name);
        switch (name.role) {
            case Role::scheduler:
                scheduler_ = setup_.scheduler
                                 ? setup_.scheduler(now_, output)
                                 : std::make_unique<participant::SchedulerNode>(plan_, now_, output);
                nodes_.push_back(scheduler_.get());
                break;
            case Role::producer:
                nodes_.push_back(
                    &producers_.emplace_back(plan_, core::ProducerId{name.index}, now_, latencies_, output));
                break;
            case Role::consumer:
                nodes_.push_back(
                    &consumers_.emplace_back(plan_, core::ConsumerId{name.index}, now_, latencies_, output));
                break;
        }
    }
}

SimulationEnd Simulator::run(const std::function<bool(Instant)>& go_on) {
    start();
    const Instant limit = latest_end();
    Instant asked = now_;
    while (!end_ && !finished()) {
        step(limit);
        if (checker_.objection() && !end_) {
            end_ = SimulationEnd{
                SimulationEnd::Kind::rule_broken,
                fmt::format("at {:.9f} s: {}", static_cast<double>(now_.ns) * 1e-9, *checker_.objection()),
                {}};
        }
        if (now_ - asked >= go_on_period) {
            asked = now_;
            if (!go_on(now_) && !end_) {
                end_ = SimulationEnd{SimulationEnd::Kind::stopped, "stopped", {}};
            }
        }
    }
    if (!end_) {
        finish();
    }
    if (setup_.recorder != nullptr) {
        setup_.recorder->finish(now_);
    }
    return *end_;
}

void Simulator::start() {
    for (std::uint32_t index = 0; index < setup_.disturbances.size(); ++index) {
        const Disturbance& disturbance = setup_.disturbances[index];
        const Instant at = std::max(disturbance.at, now_);
        push(at, Kind::disturbance_begins, index);
        if (disturbance.length != Duration::max()) {
            push(at + disturbance.length, Kind::disturbance_ends, index);
        }
    }
    network_->start(now_);
    push(next_multiple(now_, heartbeat_period), Kind::heartbeat);
    push(next_multiple(now_, second), Kind::second);
    if (setup_.recorder != nullptr && setup_.recorder->start(network_->counters(), now_)) {
        push(next_multiple(now_, setup_.recorder->row_length()), Kind::switch_row);
    }
    for (FlatNode node = 0; node < row_.size(); ++node) {
        turn(node, [&](core::Actions& out) { nodes_[node]->on_start(now_, out); });
    }
    // Its first tick of shaping is due now.
    turn(0, [&](core::Actions& out) { scheduler_->on_time(now_, out); });
    push(now_ + credits_known_after(), Kind::producers_begin);
}

/// How long it takes until the scheduler has the credit of every slot. What is due at the very beginning is
/// generated then: offers that overtook the credits of some consumers would load the others, and a run that
/// begins so is uneven for many intervals. Bounded, because links may be of any speed.
Duration Simulator::credits_known_after() const {
    const core::NetworkPlan& network = setup_.network;
    const std::vector<core::BitRate> links = core::consumer_links(network, plan_.consumers);
    const core::BitRate slowest = *std::min_element(links.begin(), links.end());
    const Duration on_the_way =
        network.latency + core::time_for(payload_rate(network, slowest), message_bytes);
    const std::int64_t credits = std::int64_t{plan_.consumers} * plan_.slots;
    return std::min(credits_patience, on_the_way + network.scheduler_time * credits);
}

/// A run that goes on for longer is stuck.
Instant Simulator::latest_end() const {
    // Each of the transfers under way may put off the end.
    const std::int64_t most_under_way = std::int64_t{plan_.producers} * plan_.streams;
    Instant limit =
        plan_.give_up_at() + end_patience + plan_.recovery_time +
        std::min(core::Scheduler::longest_drain_grace(plan_) * most_under_way, Duration::seconds(1'000'000));
    for (const Disturbance& disturbance : setup_.disturbances) {
        if (plan_.outlives_consumers) {
            limit = limit + setup_.silence_timeout * 2 + core::Scheduler::longest_drain_grace(plan_);
            limit = disturbance.kind == Disturbance::Kind::cut || disturbance.kind == Disturbance::Kind::die
                        ? limit + (disturbance.length == Duration::max() ? Duration{} : disturbance.length)
                        : limit;
        }
        limit = disturbance.kind == Disturbance::Kind::pause ? limit + disturbance.length
                                                             : limit + disturbance.extra * 10;
        if (is_of_network(disturbance.kind) && disturbance.length != Duration::max()) {
            // Time-outs double while nothing gets through.
            limit = limit + disturbance.length * 3;
        }
    }
    return limit;
}

/// The next thing that happens.
void Simulator::step(Instant limit) {
    const Instant deadline =
        deadlines_.empty() ? Instant::never() : Instant{deadlines_.key(deadlines_.top())};
    // First, because it may put events into the queue.
    const Instant in_network = network_->next(now_, std::min(events_.next_time(), deadline));
    const Instant event = events_.next_time();
    const Instant next = std::max(now_, std::min({event, in_network, deadline}));
    if (next > limit) {
        end_ = SimulationEnd{SimulationEnd::Kind::stuck,
                             fmt::format("the run does not end: it is {} after the end of generation",
                                         files::readable(next - Instant{plan_.duration.ns})),
                             {}};
        return;
    }
    advance_to(next);
    if (event <= next) {
        handle(events_.pop());
    } else if (in_network <= next) {
        network_->advance(now_);
    } else {
        const FlatNode node = deadlines_.top();
        if (row_.is_producer(node)) {
            network_->report_left(now_, node);  // what is generated now meets the backlog of now
        }
        turn(node, [&](core::Actions& out) { nodes_[node]->on_time(now_, out); });
    }
}

void Simulator::advance_to(Instant next) {
    if (next > now_) {
        now_ = next;
        steps_at_now_ = 0;
    } else if (++steps_at_now_ > most_steps_at_once * row_.size()) {
        end_ =
            SimulationEnd{SimulationEnd::Kind::stuck, "time stands still: endless events at one instant", {}};
    }
}

void Simulator::handle(const QueueEvent& event) {
    if (event.of_network()) {
        network_->handle(now_, event);
        return;
    }
    switch (static_cast<Kind>(event.kind())) {
        case Kind::message:
            return message_arrived(event.a());
        case Kind::handled:
            return message_handled(event.a());
        case Kind::heartbeat:
            return send_heartbeats();
        case Kind::second:
            return close_rows();
        case Kind::switch_row:
            return close_switch_rows();
        case Kind::producers_begin:
            for (FlatNode node = row_.producer(0); row_.is_producer(node); ++node) {
                turn(node, [&](core::Actions& out) { nodes_[node]->on_time(now_, out); });
            }
            return;
        case Kind::disturbance_begins:
            return disturb(event.a(), true);
        case Kind::disturbance_ends:
            return disturb(event.a(), false);
        case Kind::noticed:
            return notice_silence(event.a());
    }
}

/// They take no time, and only producers do something with them.
void Simulator::send_heartbeats() {
    const core::Heartbeat heartbeat{.no_credit = scheduler_->no_credit_time(now_)};
    for (FlatNode node = row_.producer(0); row_.is_producer(node); ++node) {
        if (!conditions_[node].away()) {
            network_->record(node);
            nodes_[node]->on_message(now_, core::scheduler_node(), heartbeat, actions_);
        }
    }
    push(now_ + heartbeat_period, Kind::heartbeat);
}

void Simulator::close_rows() {
    for (FlatNode node = 0; node < row_.size(); ++node) {
        network_->record(node);
        record_socket(node);
        nodes_[node]->record_poll_gap(now_, Duration{});
    }
    if (setup_.recorder != nullptr) {
        setup_.recorder->close_second(now_);
    }
    push(now_ + second, Kind::second);
}

void Simulator::close_switch_rows() {
    setup_.recorder->close_switch_rows(now_);
    push(now_ + setup_.recorder->row_length(), Kind::switch_row);
}

void Simulator::record_socket(FlatNode node) {
    const std::optional<core::SocketState> state = network_->read_socket(node);
    if (state) {
        consumer(node).record_socket(now_, *state);
    }
}

void Simulator::set_deadline(FlatNode node) {
    Instant deadline = conditions_[node].away() ? Instant::never() : nodes_[node]->next_deadline();
    if (deadline == Instant::never()) {
        deadlines_.erase(node);
        return;
    }
    // With generation saturate, a producer looks every so often whether what has left has made room, where
    // that is reported late.
    const bool looks_for_room =
        plan_.generation == core::Generation::saturate && now_ < Instant{plan_.duration.ns};
    if (report_period_ > Duration{} && (deadline <= now_ || looks_for_room) && row_.is_producer(node)) {
        if (next_report_ <= now_) {
            next_report_ = next_multiple(now_, report_period_);
        }
        deadline = next_report_;
    }
    deadline = std::max(deadline, now_);
    if (!deadlines_.contains(node) || deadlines_.key(node) != deadline.ns) {
        deadlines_.update(node, deadline.ns);
    }
}

bool Simulator::finished() const {
    if (!scheduler_->finished()) {
        return false;
    }
    for (FlatNode node = 0; node < row_.size(); ++node) {
        // The run was closed without a consumer that was lost and had not reported.
        const bool left_out = is_outlived(node) && !scheduler_->state_machine().has_reported(row_.id(node));
        if (!nodes_[node]->finished() && !left_out) {
            return false;
        }
    }
    return true;
}

/// A regular end, unless the checker objects to what it leaves.
void Simulator::finish() {
    for (FlatNode node = 0; node < row_.size(); ++node) {
        network_->catch_up(node);
        record_socket(node);
        record_moving(node, {}, Instant::never());
        nodes_[node]->finish_recording(now_);
    }
    std::uint64_t sets = 0;
    std::uint64_t late_sets = 0;
    for (const participant::ProducerNode& producer : producers_) {
        const record::SetsInTime in_time = producer.summary().sets_in_time;
        sets += in_time.sets;
        late_sets += in_time.late;
    }
    checker_.all_finished(sets, late_sets);
    end_ = checker_.objection() ? SimulationEnd{SimulationEnd::Kind::rule_broken, *checker_.objection(), {}}
                                : SimulationEnd{};
}

}  // namespace weir::simulation
