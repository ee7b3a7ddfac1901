#include "simulation/simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/scheduler.hpp"
#include "telemetry/text.hpp"

namespace weir::simulation {

using core::Duration;
using core::Instant;
using core::NodeId;
using core::Role;

namespace {

constexpr Duration heartbeat_period = Duration::milliseconds(100);
constexpr Duration second = Duration::seconds(1);
/// How long after the end of the drain a run may go on before it counts as stuck; faults may add to it.
constexpr Duration end_patience = Duration::seconds(60);
/// Events at one instant, per node, beyond which time is said to stand still.
constexpr std::uint64_t most_steps_at_once = 100000;

/// The first multiple of `period` after `now`.
constexpr Instant next_multiple(Instant now, Duration period) {
    const std::int64_t quotient = now.ns / period.ns - (now.ns % period.ns < 0 ? 1 : 0);
    return {(quotient + 1) * period.ns};
}

std::vector<core::BitRate> link_rates(const core::Plan& plan, const core::NetworkPlan& network) {
    const core::BitRate producer = payload_rate(network, network.producer_link);
    const core::BitRate consumer = payload_rate(network, network.consumer_link);
    // Up and down; the scheduler's carry no data.
    std::vector<core::BitRate> rates(2, std::max(producer, consumer));
    rates.insert(rates.end(), std::size_t{2} * plan.producers, producer);
    rates.insert(rates.end(), std::size_t{2} * plan.consumers, consumer);
    return rates;
}

}  // namespace

Simulator::Simulator(const Setup& setup)
    : setup_(setup),
      plan_(setup.plan),
      producers_end_(1 + plan_.producers),
      nodes_end_(producers_end_ + plan_.consumers),
      now_(Instant{} - plan_.warmup),
      random_(plan_.seed, core::random_stream(core::RandomPurpose::delay, 0)),
      checker_(plan_),
      conditions_(nodes_end_),
      network_(link_rates(plan_, setup.network),
               plan_.producers * plan_.streams * (by_chunk() ? plan_.window : 1)),
      datagram_network_(plan_, setup.network),
      deadlines_(nodes_end_),
      transfer_of_flow_(std::size_t{plan_.producers} * plan_.streams * (by_chunk() ? plan_.window : 1)),
      progress_(nodes_end_),
      scheduler_time_(setup.network.scheduler_time) {
    payload_rates_.reserve(nodes_end_);
    nodes_.reserve(nodes_end_);
    for (FlatNode node = 0; node < nodes_end_; ++node) {
        payload_rates_.push_back(network_.capacity(up(node)));
        const NodeId name = id(node);
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

FlatNode Simulator::flat(NodeId node) const {
    switch (node.role) {
        case Role::scheduler:
            return 0;
        case Role::producer:
            return 1 + node.index;
        case Role::consumer:
            break;
    }
    return producers_end_ + node.index;
}

NodeId Simulator::id(FlatNode node) const {
    if (node == 0) {
        return core::scheduler_node();
    }
    return node < producers_end_ ? NodeId{Role::producer, node - 1}
                                 : NodeId{Role::consumer, node - producers_end_};
}

// The course of time

void Simulator::start() {
    for (std::size_t index = 0; index < setup_.faults.size(); ++index) {
        const InjectedFault& fault = setup_.faults[index];
        const Instant at = std::max(fault.at, now_);
        queue_.push(at, {Kind::fault_begins, static_cast<std::uint32_t>(index), 0});
        if (fault.length != Duration::max()) {
            queue_.push(at + fault.length, {Kind::fault_ends, static_cast<std::uint32_t>(index), 0});
        }
    }
    // A nanosecond before the multiple: what has moved until then belongs to the bin and second that end
    // there.
    first_tick_ = next_multiple(now_, tick_period) - Duration{1};
    network_.watch_rates([this](FlowId flow) { count_ticks(transfer_of_flow_[flow.value]); });
    queue_.push(first_tick_, {Kind::tick});
    queue_.push(next_multiple(now_, heartbeat_period), {Kind::heartbeat});
    queue_.push(next_multiple(now_, second), {Kind::second});
    for (FlatNode node = 0; node < nodes_end_; ++node) {
        turn(node, [&](core::Actions& out) { nodes_[node]->on_start(now_, out); });
    }
    // Its first tick of shaping is due now, and not when handle_tick comes round.
    turn(0, [&](core::Actions& out) { scheduler_->on_time(now_, out); });
    queue_.push(now_ + credits_known_after(), {Kind::producers_begin});
}

/// How long it takes until the scheduler has the credit of every slot. What is due at the very beginning is
/// generated then: offers that overtook the credits of some consumers would load the others, and a run that
/// begins so is uneven for many intervals. Bounded, because links may be as slow as one likes.
Duration Simulator::credits_known_after() const {
    core::BitRate slowest = payload_rates_[0];
    for (FlatNode node = producers_end_; node < nodes_end_; ++node) {
        slowest = std::min(slowest, payload_rates_[node]);
    }
    const Duration on_the_way = setup_.network.latency + core::time_for(slowest, message_bytes);
    const std::int64_t credits = std::int64_t{plan_.consumers} * plan_.slots;
    return std::min(tick_period, on_the_way + setup_.network.scheduler_time * credits);
}

SimulationEnd Simulator::run(const std::function<bool(Instant)>& go_on) {
    start();
    // Each of the transfers under way may put off the end.
    const std::int64_t most_under_way = std::int64_t{plan_.producers} * plan_.streams;
    Instant limit =
        plan_.give_up_at() + end_patience +
        std::min(core::Scheduler::drain_grace(plan_) * most_under_way, Duration::seconds(1'000'000));
    for (const InjectedFault& fault : setup_.faults) {
        limit = fault.kind == InjectedFault::Kind::pause ? limit + fault.length : limit + fault.extra * 10;
    }
    Instant asked = now_;
    while (!end_ && !finished()) {
        network_.settle(now_);
        for (const std::uint32_t transfer : new_transfers_) {
            const Transfer& it = transfers_[transfer];
            const std::int64_t rate = network_.rate(it.flow).bits_per_second;
            if (it.active && it.moving && rate > 0) {
                const auto takes = static_cast<std::int64_t>((boundary(it, 1) + rate - 1) / rate);
                queue_.push(now_ + Duration{takes} + setup_.network.latency,
                            {Kind::first_chunk, transfer, it.serial});
            }
        }
        new_transfers_.clear();

        const Instant event = queue_.next_time();
        const Instant flow = network_.next_end();
        const Instant deadline =
            deadlines_.empty() ? Instant::never() : Instant{deadlines_.key(deadlines_.top())};
        const Instant datagram = datagram_network_.next_end();
        const Instant next = std::max(now_, std::min({event, flow, datagram, deadline}));
        if (next > limit) {
            end_ = SimulationEnd{SimulationEnd::Kind::stuck,
                                 fmt::format("the run does not end: it is {} after the end of generation",
                                             telemetry::readable(next - Instant{plan_.duration.ns})),
                                 {}};
            break;
        }
        advance_to(next);
        if (event <= next) {
            handle(queue_.pop());
        } else if (flow <= next) {
            end_flow(network_.next_to_end());
        } else if (datagram <= next) {
            datagram_passed();
        } else {
            handle_deadline(deadlines_.top());
        }
        if (checker_.objection() && !end_) {
            end_ = SimulationEnd{
                SimulationEnd::Kind::rule_broken,
                fmt::format("at {:.9f} s: {}", static_cast<double>(now_.ns) * 1e-9, *checker_.objection()),
                {}};
        }
        if (now_ - asked >= tick_period) {
            asked = now_;
            if (!go_on(now_) && !end_) {
                end_ = SimulationEnd{SimulationEnd::Kind::stopped, "stopped", {}};
            }
        }
    }
    if (!end_) {
        for (FlatNode node = 0; node < nodes_end_; ++node) {
            catch_up(node);
            record_moving(node, {});
            nodes_[node]->finish_recording(now_);
        }
        std::uint64_t sets = 0;
        std::uint64_t late_sets = 0;
        for (const participant::ProducerNode& producer : producers_) {
            const telemetry::SetsInTime in_time = producer.summary().sets_in_time;
            sets += in_time.sets;
            late_sets += in_time.late;
        }
        checker_.all_finished(sets, late_sets);
        end_ = checker_.objection()
                   ? SimulationEnd{SimulationEnd::Kind::rule_broken, *checker_.objection(), {}}
                   : SimulationEnd{};
    }
    return *end_;
}

void Simulator::advance_to(Instant next) {
    if (next > now_) {
        now_ = next;
        steps_at_now_ = 0;
    } else if (++steps_at_now_ > most_steps_at_once * nodes_end_) {
        end_ = SimulationEnd{
            SimulationEnd::Kind::stuck, "time stands still: events without end at one instant", {}};
    }
}

bool Simulator::finished() const {
    if (!scheduler_->finished()) {
        return false;
    }
    return std::all_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->finished(); });
}

void Simulator::handle(const Event& event) {
    switch (event.kind) {
        case Kind::message:
            handle_message(event);
            return;
        case Kind::first_chunk:
            if (transfers_[event.a].active && transfers_[event.a].serial == event.b &&
                transfers_[event.a].moving) {
                report_progress(event.a);
            }
            return;
        case Kind::all_left:
            if (conditions_[transfers_[event.a].producer + 1].away()) {
                conditions_[transfers_[event.a].producer + 1].held.push_back(event);
            } else {
                all_left(event.a);
            }
            return;
        case Kind::datagram_left:
            datagram_left(event);
            return;
        case Kind::datagram_arrived:
            datagram_arrived(event);
            return;
        case Kind::rest_arrived: {
            const Transfer& transfer = transfers_[event.a];
            const FlatNode consumer = producers_end_ + transfer.first.to.value;
            if (conditions_[consumer].away()) {
                conditions_[consumer].held.push_back(event);
                return;
            }
            report_arrived(event.a, bit_nanoseconds(transfer.bytes));
            if (by_transfer()) {
                std::erase(progress_[consumer].transfers, event.a);
            }
            transfers_[event.a].active = false;
            unused_transfers_.push_back(event.a);
            return;
        }
        case Kind::tick:
            handle_tick();
            return;
        case Kind::heartbeat: {
            const core::ControlMessage heartbeat{.kind = core::MessageKind::heartbeat,
                                                 .bytes = scheduler_->no_credit_time(now_).ns};
            for (FlatNode node = 1; node < producers_end_; ++node) {
                if (!conditions_[node].away()) {
                    record_ticks(node);
                    nodes_[node]->on_message(now_, core::scheduler_node(), heartbeat, actions_);
                }
            }
            queue_.push(now_ + heartbeat_period, {Kind::heartbeat});
            return;
        }
        case Kind::producers_begin:
            for (FlatNode node = 1; node < producers_end_; ++node) {
                turn(node, [&](core::Actions& out) { nodes_[node]->on_time(now_, out); });
            }
            return;
        case Kind::second:
            for (FlatNode node = 0; node < nodes_end_; ++node) {
                record_ticks(node);
                nodes_[node]->record_poll_gap(now_, Duration{});
            }
            queue_.push(now_ + second, {Kind::second});
            return;
        case Kind::fault_begins:
            handle_fault(setup_.faults[event.a], true);
            return;
        case Kind::fault_ends:
            handle_fault(setup_.faults[event.a], false);
            return;
        case Kind::noticed:
            end_ =
                SimulationEnd{SimulationEnd::Kind::node_died,
                              fmt::format("{} has not been heard for {}", telemetry::node_text(id(event.a)),
                                          telemetry::readable(setup_.silence_timeout)),
                              id(event.a)};
            return;
    }
}

void Simulator::handle_deadline(FlatNode node) {
    if (node != 0 && node < producers_end_) {
        // What is generated now meets the backlog of now.
        report_sent_by(node);
    }
    turn(node, [&](core::Actions& out) { nodes_[node]->on_time(now_, out); });
}

void Simulator::set_deadline(FlatNode node) {
    const Condition& condition = conditions_[node];
    Instant deadline = condition.away() ? Instant::never() : nodes_[node]->next_deadline();
    if (deadline == Instant::never()) {
        if (deadlines_.contains(node)) {
            deadlines_.erase(node);
        }
        return;
    }
    // What a producer has sent is reported to it late, where the network moves whole transfers. With
    // generation saturate it looks at every tick whether that has made room.
    const bool told_late = by_transfer() && node != 0 && node < producers_end_;
    const bool looks_for_room =
        plan_.generation == core::Generation::saturate && now_ < Instant{plan_.duration.ns};
    if (told_late && (deadline <= now_ || looks_for_room)) {
        deadline = next_multiple(now_, tick_period);
    }
    deadline = std::max(deadline, now_);
    if (!deadlines_.contains(node) || deadlines_.key(node) != deadline.ns) {
        deadlines_.update(node, deadline.ns);
    }
}

// Faults

void Simulator::set_links(FlatNode node) {
    const Condition& condition = conditions_[node];
    const core::BitRate rate = payload_rates_[node];
    double factor = condition.away() ? 0 : 1;
    for (const double lasting : condition.link_factors) {
        factor = std::min(factor, lasting);
    }
    const core::BitRate capacity{std::llround(static_cast<double>(rate.bits_per_second) * factor)};
    datagram_network_.set_factor(now_, node, factor);
    network_.set_capacity(now_, up(node), capacity);
    network_.set_capacity(now_, down(node), capacity);
}

void Simulator::handle_fault(const InjectedFault& fault, bool begins) {
    const FlatNode node = flat(fault.node);
    Condition& condition = conditions_[node];
    // What has passed the node so far has passed it in the condition that it was in.
    catch_up(node);
    // Faults of one kind may overlap: the worst of those that last counts.
    const auto lasting = [&](auto& values, auto value) {
        if (begins) {
            values.push_back(value);
        } else {
            values.erase(std::find(values.begin(), values.end(), value));
        }
    };
    switch (fault.kind) {
        case InjectedFault::Kind::pause:
            if (begins) {
                ++condition.pauses;
            } else {
                --condition.pauses;
            }
            set_links(node);
            if (!condition.away()) {
                resume(node);
            } else {
                set_deadline(node);
            }
            return;
        case InjectedFault::Kind::die:
            condition.dead = true;
            set_links(node);
            set_deadline(node);
            queue_.push(now_ + setup_.silence_timeout, {Kind::noticed, node, 0});
            return;
        case InjectedFault::Kind::slow: {
            lasting(condition.slow_factors, fault.factor);
            double factor = 1;
            for (const double slow : condition.slow_factors) {
                factor = std::max(factor, slow);
            }
            if (fault.node.role == Role::scheduler) {
                const auto time =
                    static_cast<double>(std::max<std::int64_t>(setup_.network.scheduler_time.ns, 1));
                scheduler_time_ =
                    factor == 1 ? setup_.network.scheduler_time : Duration{std::llround(time * factor)};
            } else {
                consumer(node).slow_down(factor);
            }
            return;
        }
        case InjectedFault::Kind::degrade:
            lasting(condition.link_factors, fault.factor);
            set_links(node);
            return;
        case InjectedFault::Kind::delay:
            lasting(extra_delays_, fault.extra);
            if (begins) {
                // From here on the order between any two nodes has to be kept explicitly.
                last_arrival_.try_emplace(~std::uint64_t{0}, 0);
            }
            return;
    }
}

void Simulator::resume(FlatNode node) {
    std::vector<Event> held;
    held.swap(conditions_[node].held);
    turn(node, [&](core::Actions& out) { nodes_[node]->on_time(now_, out); });
    // Here and not by way of the queue: something that comes at this very instant comes behind them.
    for (const Event& event : held) {
        handle(event);
    }
}

}  // namespace weir::simulation
