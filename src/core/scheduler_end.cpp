// The end of a run at the scheduler: who has drained, how long transfers may still take, the ledgers.
#include <algorithm>

#include "core/actions.hpp"
#include "core/plan.hpp"
#include "core/scheduler.hpp"

namespace weir::core {

namespace {

/// How long fragments may still be waited for when the last was sent.
Duration losses_time(const Plan& plan) {
    return plan.lossy() ? plan.fragment_timeout * (std::int64_t{plan.reasks} + 1) : Duration{};
}

}  // namespace

Duration Scheduler::drain_grace(const Plan& plan, BitRate of_producer) {
    // What was sent may wait in TCP, too.
    constexpr double least_s = last_done_grace.in_seconds();
    constexpr double most_s = 60;
    constexpr double times = 4;
    const double per_consumer = static_cast<double>(plan.producers) / static_cast<double>(plan.consumers);
    double bytes_per_s = static_cast<double>(of_producer.bits_per_second) / 8 * std::min(1.0, per_consumer);
    if (plan.shaping.kind == ShapingKind::bucket) {
        bytes_per_s = std::min(bytes_per_s, static_cast<double>(plan.shaping.rate.bits_per_second) / 8);
    }
    const double fragments = std::max(plan.streams, plan.places());
    const double needed_s =
        times * fragments * static_cast<double>(plan.slot_size.count) / std::max(bytes_per_s, 1.0);
    const double grace_s = plan.consumers_grant() ? most_s : std::clamp(needed_s, least_s, most_s);
    return Duration{static_cast<std::int64_t>(grace_s * 1e9)} + losses_time(plan) + plan.recovery_time +
           plan.detection_time;
}

bool Scheduler::drain_is_over(Instant now) {
    if (now < drain_until_) {
        return false;
    }
    const double seen_s = (progress_at_ - (Instant{} - plan_.warmup)).in_seconds();
    const double bits_of_producer = static_cast<double>(done_.bytes.count) * 8 / plan_.producers;
    const BitRate seen{static_cast<std::int64_t>(bits_of_producer / std::max(seen_s, 1e-9))};
    drain_until_ = progress_at_ + std::max(drain_grace_, drain_grace(plan_, seen));
    return now >= drain_until_;
}

const char* Scheduler::on(Instant /*now*/, NodeId from, const Drained& drained, Actions& out) {
    if (!is_producer(from)) {
        return "drained from no producer";
    }
    ProducerAccount& producer = producers_[from.index];
    // It sends what was granted to it; policy `none`: by consumers, without the scheduler.
    const std::uint64_t most_sent =
        plan_.consumers_grant() ? most_events_ : source(from.index).granted.events;
    if (producer.drained || drained.sent.events > most_sent || !is_amount(plan_, drained.sent)) {
        return "drained, said twice, or with more sent than was granted";
    }
    producer.drained = true;
    producer.sent_events = drained.sent.events;
    // What it offered and did not send is lost; no grant for it may follow.
    if (plan_.builds()) {
        common_offers_->limit({from.index}, std::min(producer.offered.events, together_.granted.events));
        update_common_offers();
    } else {
        waiting_events_ -= producer.offered.events - producer.granted.events;
        producer.offered = producer.granted;
        forget_waiting({from.index});
    }
    if (!plan_.consumers_grant() && !plan_.builds()) {
        update_policy(ProducerId{from.index});
    }
    if (++drained_producers_ < producers_.size() || state_ != State::running) {
        return nullptr;
    }
    state_ = State::completing;
    if (plan_.consumers_grant()) {
        for (std::uint32_t consumer = 0; consumer < consumers_.size(); ++consumer) {
            out.messages.emplace_back(node_of(ConsumerId{consumer}), ReportProgress{});
        }
    }
    return nullptr;
}

const char* Scheduler::on(Instant now, NodeId from, const Progress& progress, Actions& /*out*/) {
    if (!is_consumer(from)) {
        return "progress from no consumer";
    }
    ConsumerAccount& consumer = consumers_[from.index];
    const std::uint64_t most_received = most_events_ * producers_.size();
    if (!plan_.consumers_grant() || state_ == State::running ||
        progress.received.events < consumer.received_events || progress.received.events > most_received ||
        !is_amount(plan_, progress.received)) {
        return "progress that was not asked for, that goes back, or of more than there can be";
    }
    if (progress.received.events > consumer.received_events) {
        put_off_end(now);
    }
    consumer.received_events = progress.received.events;
    return nullptr;
}

const char* Scheduler::on(Instant /*now*/, NodeId from, const LedgerPart& part, Actions& /*out*/) {
    if (!is_producer(from) && !is_consumer(from)) {
        return "ledger from the scheduler";
    }
    std::uint32_t& messages =
        is_producer(from) ? producers_[from.index].ledger_messages : consumers_[from.index].ledger_messages;
    if (state_ != State::closing || messages >= ledger_report_messages ||
        static_cast<std::uint32_t>(part.entry) != messages || !add_ledger_entry(part, reported_)) {
        return "a ledger entry out of turn, or one that no sum can hold";
    }
    if (++messages == ledger_report_messages) {
        ++complete_reports_;
        close_if_all_reported();
    }
    return nullptr;
}

void Scheduler::put_off_end(Instant now) {
    progress_at_ = std::max(progress_at_, now);
    drain_until_ = std::max(drain_until_, progress_at_ + drain_grace_);
    if (state_ == State::completing) {
        complete_until_ = now + last_done_grace + losses_time(plan_);
    }
}

void Scheduler::close_if_all_reported() {
    if (complete_reports_ + missing_reports_ == producers_.size() + consumers_.size()) {
        state_ = State::closed;
    }
}

void Scheduler::finish_if_complete(Actions& out) {
    if (state_ != State::completing) {
        return;
    }
    if (!plan_.consumers_grant()) {
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
    if (state_ == State::closing || state_ == State::closed) {
        return;
    }
    state_ = State::closing;
    send_producers(Finish{}, out);
    for (std::uint32_t consumer = 0; consumer < consumers_.size(); ++consumer) {
        if (consumers_[consumer].lost) {
            ++missing_reports_;
        } else {
            out.messages.emplace_back(node_of(ConsumerId{consumer}), Finish{consumers_[consumer].epoch});
        }
    }
}

}  // namespace weir::core
