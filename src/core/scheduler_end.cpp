// The end of a run as the scheduler sees it: who has drained, how long transfers may still take, the ledgers.
#include <algorithm>

#include "core/ledger_report.hpp"
#include "core/plan_limits.hpp"
#include "core/scheduler.hpp"

namespace weir::core {

namespace {

/// How long fragments may still be waited for when the last was sent.
Duration losses_time(const Plan& plan) {
    return plan.lossy() ? plan.fragment_timeout * (std::int64_t{plan.reasks} + 1) : Duration{};
}

}  // namespace

Duration Scheduler::drain_grace(const Plan& plan) {
    constexpr double least_s = 2;
    constexpr double most_s = 60;
    constexpr double times = 4;
    const double per_consumer = static_cast<double>(plan.producers) / static_cast<double>(plan.consumers);
    double bytes_per_s = static_cast<double>(plan.rate.bits_per_second) / 8 * std::min(1.0, per_consumer);
    if (plan.shaping.kind == ShapingKind::bucket) {
        bytes_per_s = std::min(bytes_per_s, static_cast<double>(plan.shaping.rate.bits_per_second) / 8);
    }
    const double fragments = std::max(plan.streams, plan.places());
    const double needed_s =
        times * fragments * static_cast<double>(plan.slot_size.count) / std::max(bytes_per_s, 1.0);
    return Duration{static_cast<std::int64_t>(std::clamp(needed_s, least_s, most_s) * 1e9)} +
           losses_time(plan);
}

void Scheduler::on_drained(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    ProducerAccount& producer = producers_[from.index];
    // It sends what was granted to it; policy `none`: by consumers, which say nothing of that.
    const std::uint64_t most_sent = direct() ? most_events_ : source(from.index).granted_events;
    if (producer.drained || message.events > most_sent ||
        !is_amount(plan_, message.events, {message.bytes})) {
        violation(from, "drained, said twice, or with more sent than was granted", out);
        return;
    }
    producer.drained = true;
    producer.sent_events = message.events;
    // What it offered and did not send is lost; no grant for it may follow.
    if (builds()) {
        least_offered_.update(from.index, std::min(producer.offered_events, together_.granted_events));
        update_common_offers();
    } else {
        waiting_events_ -= producer.offered_events - producer.granted_events;
        producer.offered_events = producer.granted_events;
        producer.offered_bytes = producer.granted_bytes;
    }
    if (!direct() && !builds()) {
        update_policy(ProducerId{from.index});
    }
    if (++drained_producers_ < producers_.size() || phase_ != Phase::running) {
        return;
    }
    phase_ = Phase::settling;
    settle_until_ = now + settle_grace + losses_time(plan_);
    if (direct()) {
        for (std::uint32_t consumer = 0; consumer < consumers_.size(); ++consumer) {
            out.messages.push_back({node_of(ConsumerId{consumer}), {.kind = MessageKind::settle}});
        }
    }
}

void Scheduler::on_progress(NodeId from, const ControlMessage& message, Actions& out) {
    ConsumerAccount& consumer = consumers_[from.index];
    const std::uint64_t most_received = most_events_ * producers_.size();
    if (!direct() || phase_ == Phase::running || message.events < consumer.received_events ||
        message.events > most_received || !is_amount(plan_, message.events, {message.bytes})) {
        violation(from, "progress that nobody asked for, that goes back, or of more than there can be", out);
        return;
    }
    consumer.received_events = message.events;
}

void Scheduler::on_ledger(NodeId from, const ControlMessage& message, Actions& out) {
    std::uint32_t& messages = from.role == Role::producer ? producers_[from.index].ledger_messages
                                                          : consumers_[from.index].ledger_messages;
    if (phase_ != Phase::closing || messages >= ledger_report_messages || message.slot != messages ||
        !add_ledger_entry(message, reported_)) {
        violation(from, "a ledger entry out of turn, or one that no sum can hold", out);
        return;
    }
    if (++messages == ledger_report_messages &&
        ++complete_reports_ == producers_.size() + consumers_.size()) {
        phase_ = Phase::closed;
    }
}

void Scheduler::finish_if_settled(Actions& out) {
    if (phase_ != Phase::settling) {
        return;
    }
    if (!direct()) {
        if (outstanding_ == 0) {
            finish(out);
        }
        return;
    }
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (const ProducerAccount& producer : producers_) {
        sent += producer.sent_events;
    }
    for (const ConsumerAccount& consumer : consumers_) {
        received += consumer.received_events;
    }
    if (sent == received) {
        finish(out);
    }
}

void Scheduler::finish(Actions& out) {
    if (phase_ == Phase::closing || phase_ == Phase::closed) {
        return;
    }
    phase_ = Phase::closing;
    for (std::uint32_t producer = 0; producer < producers_.size(); ++producer) {
        out.messages.push_back({node_of(ProducerId{producer}), {.kind = MessageKind::finish}});
    }
    for (std::uint32_t consumer = 0; consumer < consumers_.size(); ++consumer) {
        out.messages.push_back({node_of(ConsumerId{consumer}), {.kind = MessageKind::finish}});
    }
}

}  // namespace weir::core
