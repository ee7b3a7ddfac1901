// The scheduler's part of --on-failure continue: consumers that are taken out and taken in again.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/actions.hpp"
#include "core/plan.hpp"
#include "core/scheduler.hpp"

namespace weir::core {

namespace {

/// The life of its consumer, if the message carries it.
std::optional<Epoch> epoch_of(const ControlMessage& message) {
    if (const auto* const ready = std::get_if<Ready>(&message)) {
        return ready->epoch;
    }
    if (const auto* const done = std::get_if<Done>(&message)) {
        return done->epoch;
    }
    return std::nullopt;
}

}  // namespace

void Scheduler::on_consumer_lost(Instant now, ConsumerId consumer, Actions& out) {
    WEIR_ASSERT(plan_.outlives_consumers && consumer.value < consumers_.size());
    if (consumers_[consumer.value].lost) {
        return;
    }
    account_time(now);
    take_out(now, consumer, out);
    grant_all(out);
    finish_if_complete(out);
    short_of_credits_ = producer_available() && !consumer_available();
}

bool Scheduler::is_from_this_life(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    const ConsumerId consumer{from.index};
    const ConsumerAccount& account = consumers_[from.index];
    if (std::holds_alternative<Join>(message)) {
        if (!account.lost) {
            take_out(now, consumer, out);  // its last life ended before it was counted as lost
        }
        admit(now, consumer, out);
        return false;
    }
    const bool heartbeat = std::holds_alternative<Heartbeat>(message);
    const auto epoch = epoch_of(message);
    const bool stale = account.lost || (epoch && *epoch != account.epoch);
    refused_messages_ += stale && !heartbeat ? 1U : 0U;
    if (account.lost) {
        admit(now, consumer, out);
    }
    return !stale && !heartbeat;
}

/// What it had is over: its credits are gone, and events that were granted to it and are not done wait again.
void Scheduler::take_out(Instant now, ConsumerId consumer, Actions& out) {
    ConsumerAccount& account = consumers_[consumer.value];
    WEIR_ASSERT(!account.lost);
    account.lost = true;
    if (account.ledger_messages < ledger_report_messages) {
        done_by_lost_ += std::exchange(account.done, {});
        account.done_too_late = {};
        missing_reports_ += state_ == State::closing ? 1U : 0U;
    }
    Loss loss{.consumer = consumer, .lost_at = now, .back_at = {}};
    free_slots_ -= account.free.size();
    while (!account.free.empty()) {
        account.free.pop();
    }
    revoke_grants(consumer, loss, out);
    losses_.push_back(loss);
    update_policy(consumer);
    put_off_end(now);
    out.observe(Observation::Kind::consumer_lost, node_of(consumer));
    close_if_all_reported();
}

void Scheduler::revoke_grants(ConsumerId consumer, Loss& loss, Actions& out) {
    ConsumerAccount& account = consumers_[consumer.value];
    std::vector<std::uint32_t> producers;
    for (Slot& slot : account.slots) {
        if (slot.state == SlotState::granted) {
            ProducerAccount& producer = producers_[slot.producer];
            WEIR_ASSERT(producer.under_way > 0 && outstanding_ > 0);
            --producer.under_way;
            --outstanding_;
            producer.granted = producer.granted - Traffic{1, slot.estimate};
            if (producer.drained) {  // the grant crossed with its Drained: there is no event for it
                producer.offered = producer.granted;
            } else {
                ++waiting_events_;
            }
            account.granted_bytes -= slot.estimate;
            ++loss.revoked;
            producers.push_back(slot.producer);
        } else if (slot.occupied) {
            ++loss.unprocessed;
        }
        slot = {};
    }
    std::sort(producers.begin(), producers.end());
    producers.erase(std::unique(producers.begin(), producers.end()), producers.end());
    for (const std::uint32_t producer : producers) {
        out.messages.emplace_back(node_of(ProducerId{producer}), Revoke{consumer});
        update_policy(ProducerId{producer});
    }
}

/// It gets no credits back: it gives those of its new life. After the last epoch that there is, and when the
/// run is being closed, it stays out.
void Scheduler::admit(Instant now, ConsumerId consumer, Actions& out) {
    ConsumerAccount& account = consumers_[consumer.value];
    const bool open = state_ == State::running || state_ == State::completing;
    if (!open || account.epoch == std::numeric_limits<Epoch>::max()) {
        return;
    }
    account.lost = false;
    ++account.epoch;
    const auto latest = std::find_if(losses_.rbegin(), losses_.rend(),
                                     [&](const Loss& loss) { return loss.consumer == consumer; });
    WEIR_ASSERT(latest != losses_.rend());
    latest->back_at = now;
    update_policy(consumer);
    out.observe(Observation::Kind::consumer_admitted, node_of(consumer));
    out.messages.emplace_back(node_of(consumer), Admit{account.epoch});
}

Tally Scheduler::done_in_this_life(ConsumerId consumer) const {
    const ConsumerAccount& account = consumers_.at(consumer.value);
    return account.done + account.done_too_late;
}

Tally Scheduler::done_too_late() const {
    Tally sum;
    for (const ConsumerAccount& account : consumers_) {
        sum += account.done_too_late;
    }
    return sum;
}

void Scheduler::count_done(ConsumerId consumer, const Done& done, Actions& out) {
    const Tally tally{done.fragments, done.bytes, done.hash};
    if (!plan_.outlives_consumers) {
        done_ += tally;
        return;
    }
    // Producers have closed their accounts: they have lost the event.
    if (state_ == State::closing || state_ == State::closed) {
        consumers_[consumer.value].done_too_late += tally;
        return;
    }
    done_ += tally;
    consumers_[consumer.value].done += tally;
    out.messages.emplace_back(node_of(done.event.producer()),
                              Taken{done.event, plan_.place_of(done.slot, 0)});
}

}  // namespace weir::core
