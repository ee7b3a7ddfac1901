// What a producer keeps account of, each in a class of its own: grants, offers by consumer, fragments that it
// may have to send again, and events that are not confirmed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/actions.hpp"
#include "core/assertion.hpp"
#include "core/bits.hpp"
#include "core/ledger.hpp"
#include "core/messages.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"
#include "core/traffic_plan.hpp"
#include "core/units.hpp"
#include "core/waiting_events.hpp"

namespace weir::core {

struct WaitingGrant {
    Grant grant;
    Instant received_at;
};

/// Grants that a producer has received and not yet used. `assigned`: first come, first served. `barrel`:
/// consumers in turn, and every producer begins with another one, so that producers that were granted the
/// same consumers at the same time do not all send to the same one (barrel shifting). With policy `none` and
/// addressed events a grant may wait long for an event, so consumers are served in turn there too.
class GrantQueue {
  public:
    GrantQueue(const Plan& plan, ProducerId producer)
        : consumers_(plan.consumers), turn_(producer.value % plan.consumers) {
        if (plan.order == SendOrder::barrel || (plan.addressed() && plan.consumers_grant())) {
            waiting_.assign(words_for(plan.consumers), 0);
        }
        bound_ = std::size_t{waiting_.empty() ? plan.consumers : 1} * plan.slots;
    }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    /// Whether as many grants for the consumer wait as it has slots: no more can be right.
    [[nodiscard]] bool full(ConsumerId consumer) const {
        const auto found = queues_.find(key_of(consumer));
        return found != queues_.end() && found->second.full();
    }

    void push(const WaitingGrant& waiting) {
        const ConsumerId consumer = waiting.grant.consumer;
        WEIR_ASSERT(consumer.value < consumers_);
        ++size_;
        queues_.try_emplace(key_of(consumer), bound_).first->second.push(waiting);
        if (!waiting_.empty()) {
            set_bit(waiting_, consumer.value);
        }
    }
    /// Not when empty. In turn: O(consumers / 64).
    WaitingGrant pop() {
        WEIR_ASSERT(size_ > 0);
        if (waiting_.empty()) {
            --size_;
            return queues_.at(0).pop();
        }
        const auto consumer = next_in_both(waiting_, waiting_, turn_);
        WEIR_ASSERT(consumer.has_value());
        return pop_from(*consumer);
    }
    /// The next grant, in turn, for one of these consumers (bit c: consumer c); nothing if there is none.
    /// Only with policy `none` and addressed events.
    std::optional<WaitingGrant> pop_for(std::span<const std::uint64_t> consumers) {
        WEIR_ASSERT(consumers.size() == waiting_.size());
        const auto consumer = next_in_both(waiting_, consumers, turn_);
        return consumer ? std::optional(pop_from(*consumer)) : std::nullopt;
    }
    /// Drops the consumer's grants. O(waiting).
    void erase(ConsumerId consumer) {
        const auto found = queues_.find(key_of(consumer));
        if (found == queues_.end()) {
            return;
        }
        RingQueue<WaitingGrant>& queue = found->second;
        for (std::size_t left = queue.size(); left > 0; --left) {
            const WaitingGrant waiting = queue.pop();
            if (waiting.grant.consumer == consumer) {
                --size_;
            } else {
                queue.push(waiting);
            }
        }
        if (!waiting_.empty()) {
            clear_bit(waiting_, consumer.value);
        }
    }

  private:
    [[nodiscard]] std::uint32_t key_of(ConsumerId consumer) const {
        return waiting_.empty() ? 0 : consumer.value;
    }
    WaitingGrant pop_from(std::uint32_t consumer) {
        RingQueue<WaitingGrant>& queue = queues_.at(consumer);
        const WaitingGrant oldest = queue.pop();
        --size_;
        if (queue.empty()) {
            clear_bit(waiting_, consumer);
        }
        turn_ = (consumer + 1) % consumers_;
        return oldest;
    }

    std::uint32_t consumers_;
    std::size_t size_ = 0;
    std::size_t bound_ = 0;  ///< of a queue
    /// In turn: by consumer that ever granted, of which there may be few among thousands; else one, of all.
    std::unordered_map<std::uint32_t, RingQueue<WaitingGrant>> queues_;
    std::vector<std::uint64_t> waiting_;  ///< in turn, bit c: there is a grant for consumer c
    std::uint32_t turn_;                  ///< in turn: the consumer to look at first
};

/// What a producer has offered, by consumer, and which of it was not sent to the scheduler yet.
class AddressedOffers {
  public:
    /// Only `producer`'s pairs of the traffic plan are used; it is kept.
    AddressedOffers(std::shared_ptr<const TrafficPlan> traffic, ProducerId producer)
        : traffic_(std::move(traffic)),
          producer_(producer),
          offered_(traffic_->receivers_of(producer).size()),
          changed_(offered_.size(), false) {}

    /// One more event for a consumer to which the producer sends.
    void add(ConsumerId to, Bytes bytes) {
        const auto pair = traffic_->pair(producer_, to);
        WEIR_ASSERT(pair.has_value());
        const std::uint32_t index = *pair - traffic_->first_pair(producer_);
        offered_[index] += {1, bytes};
        if (!changed_[index]) {
            changed_[index] = true;
            to_announce_.push_back(to);
        }
    }
    /// Appends an offer for every consumer whose sum has changed since the last call.
    void send(Actions& out) {
        for (const ConsumerId to : to_announce_) {
            const std::uint32_t index = *traffic_->pair(producer_, to) - traffic_->first_pair(producer_);
            changed_[index] = false;
            out.messages.emplace_back(scheduler_node(), Offer{offered_[index], Offer::More::expected, to});
        }
        to_announce_.clear();
    }

  private:
    std::shared_ptr<const TrafficPlan> traffic_;
    ProducerId producer_;
    std::vector<Traffic> offered_;         ///< by pair, from the producer's first on
    std::vector<bool> changed_;            ///< by pair
    std::vector<ConsumerId> to_announce_;  ///< those that changed, in the order of their first change
};

/// Where a fragment was sent to.
struct Destination {
    ConsumerId consumer;
    PlaceId place;
    bool operator==(const Destination&) const = default;
};

/// What a producer has sent over a transport that loses chunks and must be able to send again: one
/// fragment per slot of each consumer at most, because a slot is granted again only when its event was
/// taken or given up.
class RetainedFragments {
  public:
    /// Holds nothing, and takes no memory, unless consumers request again.
    explicit RetainedFragments(const Plan& plan)
        : slots_(plan.slots),
          fragments_(plan.fragments_per_event()),
          kept_(plan.asks_again() ? std::size_t{plan.consumers} * plan.slots : 0),
          asked_(2 * kept_.size()) {}

    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// The fragment was sent there. What was sent there before must have been released.
    void keep(Destination to, const WaitingEvent& event) {
        Kept& kept = kept_[index(to)];
        WEIR_ASSERT(!kept.active);
        kept.active = true;
        kept.asked = false;
        kept.event = event;
        ++count_;
    }
    /// Whether this fragment is still kept.
    [[nodiscard]] bool keeps(Destination to, std::uint64_t sequence) const {
        const Kept& kept = kept_[index(to)];
        return kept.active && kept.event.sequence == sequence;
    }
    /// It will not be asked for any more. Nothing if it is not kept (any more).
    std::optional<WaitingEvent> release(Destination to, std::uint64_t sequence) {
        return keeps(to, sequence) ? release(to) : std::nullopt;
    }
    /// The same for whatever was sent there: the place was granted again, which may be known before it is
    /// said that the last fragment in it was taken.
    std::optional<WaitingEvent> release(Destination to) {
        Kept& kept = kept_[index(to)];
        if (!kept.active) {
            return std::nullopt;
        }
        kept.active = false;
        --count_;
        return kept.event;
    }
    /// The consumer requests it again. False if it is not kept, or is already to be sent again.
    bool ask_again(Destination to, std::uint64_t sequence) {
        if (!keeps(to, sequence) || kept_[index(to)].asked) {
            return false;
        }
        kept_[index(to)].asked = true;
        asked_.push({to, kept_[index(to)].event});
        return true;
    }
    struct Asked {
        Destination to;
        WaitingEvent event;
    };
    /// The next that is to be sent again; nothing if all that were asked for were released since.
    std::optional<Asked> pop_asked() {
        while (!asked_.empty()) {
            const Asked asked = asked_.pop();
            if (keeps(asked.to, asked.event.sequence)) {
                kept_[index(asked.to)].asked = false;
                return asked;
            }
        }
        return std::nullopt;
    }

  private:
    struct Kept {
        bool active = false;
        bool asked = false;  ///< and not taken from the queue yet
        WaitingEvent event;
    };
    [[nodiscard]] std::size_t index(Destination to) const {
        const std::size_t slot = std::size_t{to.consumer.value} * slots_ + to.place.value / fragments_;
        WEIR_ASSERT(slot < kept_.size());
        return slot;
    }

    std::uint32_t slots_;
    std::uint32_t fragments_;
    std::vector<Kept> kept_;  ///< by consumer and slot
    /// In the order in which they were asked for; among them some that were released since.
    RingQueue<Asked> asked_;
    std::size_t count_ = 0;
};

/// A delivery that was broken off: the event is granted again, or is lost if the time to drain is over.
struct BrokenDelivery {
    EventId event;
    ConsumerId consumer;    ///< that was lost
    bool doubtful = false;  ///< all of the event was sent: the consumer may have received and processed it
};

/// With --on-failure continue: what a producer has sent and the scheduler did not confirm, and what it
/// took back from a consumer that was lost. The scheduler lets a producer have no more than `streams` events
/// granted and not done, so both lists are short and are searched from end to end.
class UnconfirmedEvents {
  public:
    struct SentEvent {
        WaitingEvent event;
        ConsumerId consumer;
    };

    [[nodiscard]] bool any_sent() const { return !sent_.empty(); }
    [[nodiscard]] bool any_returned() const { return !returned_.empty(); }
    [[nodiscard]] std::size_t returned() const { return returned_.size(); }

    /// All of the event has left for this consumer.
    void add_sent(const WaitingEvent& event, ConsumerId consumer) { sent_.push_back({event, consumer}); }
    /// The event is done. Nothing: it was not sent, or was taken back since.
    std::optional<WaitingEvent> confirm(std::uint64_t sequence) {
        return take_first([&](const SentEvent& sent) { return sent.event.sequence == sequence; });
    }
    /// An event that was sent to this consumer; nothing if there is none. It is sent no more.
    std::optional<WaitingEvent> take_from(ConsumerId consumer) {
        return take_first([&](const SentEvent& sent) { return sent.consumer == consumer; });
    }
    /// Any event that was sent, with its consumer.
    std::optional<SentEvent> take_any() {
        if (sent_.empty()) {
            return std::nullopt;
        }
        const SentEvent sent = sent_.back();
        sent_.pop_back();
        return sent;
    }
    /// The event is to be sent again, before all that wait for the first time.
    void put_back(const WaitingEvent& event) {
        const auto later = [](const WaitingEvent& a, const WaitingEvent& b) {
            return a.sequence > b.sequence;
        };
        returned_.insert(std::upper_bound(returned_.begin(), returned_.end(), event, later), event);
    }
    /// The oldest that is to be sent again. Not without any.
    WaitingEvent pop_returned() {
        const WaitingEvent event = returned_.back();
        returned_.pop_back();
        return event;
    }

  private:
    template <typename Predicate>
    std::optional<WaitingEvent> take_first(const Predicate& wanted) {
        const auto found = std::find_if(sent_.begin(), sent_.end(), wanted);
        if (found == sent_.end()) {
            return std::nullopt;
        }
        const WaitingEvent event = found->event;
        sent_.erase(found);
        return event;
    }

    std::vector<SentEvent> sent_;
    std::vector<WaitingEvent> returned_;  ///< the oldest last
};

// When a producer may hand over its next chunk. `none`: at once. `bucket`: as a token bucket lets it,
// whose tokens are bytes. `in_step`: on a grid of instants that begins with each tick of the scheduler,
// so that producers stay in step without a common clock; a producer that was held up catches up, one that
// had nothing to send does not.
//
// Instants are computed from an anchor, never from the previous chunk, so pacing does not drift. For
// simulations, the clock of a producer may: then its grid points come early or late against the true ones,
// until the next tick. Rejected: shaping by the kernel (a qdisc needs privileges, and shapes what comes too
// late as well).

class Pacer {
  public:
    explicit Pacer(const Shaping& shaping) : shaping_(shaping) {}

    /// When a chunk of this size may go, as far as is known: now or before, later, or never() until a
    /// tick comes.
    [[nodiscard]] Instant ready_at(Bytes chunk) const {
        switch (shaping_.kind) {
            case ShapingKind::none:
                break;
            case ShapingKind::bucket: {
                const Instant full = anchor_ + time_for(shaping_.rate, bytes_);
                // A chunk that is larger than the bucket goes when it is full, and leaves a debt.
                return chunk < shaping_.burst ? full - time_for(shaping_.rate, shaping_.burst - chunk) : full;
            }
            case ShapingKind::in_step:
                // Beyond the points of the latest tick only the next tick leads.
                return !ticking_ || next_ >= (tick_ + 1) * grid_points() ? Instant::never() : due_by_clock();
        }
        return {INT64_MIN / 2};
    }
    /// A chunk goes. Only if ready_at is not after `now`. Returns the instant at which it was due
    /// (`in_step`: on the grid; `bucket`: when it could have gone, at the earliest when the one before
    /// did). With a clock that drifts: the true grid.
    Instant spend(Instant now, Bytes chunk) { return shapes() ? spend_shaped(now, chunk) : now; }
    /// There is nothing to send: what the grid offered until `now` is not made up for.
    void skip_until(Instant now) {
        if (shaping_.kind != ShapingKind::in_step || !ticking_) {
            return;
        }
        const auto since_tick = static_cast<WideInteger>((now - tick_at_).ns);
        const Duration by_clock =
            now - tick_at_ +
            Duration{static_cast<std::int64_t>(since_tick * clock_error_ppb_ / 1'000'000'000)};
        const std::int64_t passed = by_clock.ns / shaping_.grid.ns + 1;
        next_ = std::max(next_, tick_ * grid_points() + std::min(passed, grid_points()));
    }
    /// `in_step`: tick `number` of the scheduler came. False, and nothing is done: no tick has this number,
    /// or none is waited for.
    bool on_tick(Instant now, std::int64_t number) {
        // 36 years on either side of the beginning.
        constexpr std::int64_t furthest = std::int64_t{1} << 60U;
        if (shaping_.kind != ShapingKind::in_step || number > furthest / shaping_.tick.ns ||
            number < -furthest / shaping_.tick.ns) {
            return false;
        }
        if (!ticking_) {
            next_ = number * grid_points();
        }
        ticking_ = true;
        tick_ = number;
        tick_at_ = now;
        return true;
    }

    [[nodiscard]] bool shapes() const { return shaping_.kind != ShapingKind::none; }
    /// Simulation, `in_step`: from now on the producer's clock is fast by this (negative: slow); it finds its
    /// grid points by it.
    void set_clock_error(std::int64_t ppb) { clock_error_ppb_ = ppb; }

  private:
    Instant spend_shaped(Instant now, Bytes chunk) {
        const Instant ready = ready_at(chunk);
        WEIR_ASSERT(ready <= now);
        switch (shaping_.kind) {
            case ShapingKind::none:
                break;
            case ShapingKind::bucket: {
                if (anchor_ + time_for(shaping_.rate, bytes_) <= now) {
                    anchor_ = now;
                    bytes_ = {};
                }
                bytes_ += chunk;
                const Instant could = std::max(ready, last_);
                last_ = now;
                return could;
            }
            case ShapingKind::in_step: {
                const Instant on_grid = due();
                ++next_;
                return on_grid;
            }
        }
        return now;
    }
    [[nodiscard]] std::int64_t grid_points() const { return shaping_.tick.ns / shaping_.grid.ns; }
    /// `in_step`: the instant of the next chunk on the grid of the latest tick, or of one before it.
    [[nodiscard]] Instant due() const { return tick_at_ + shaping_.grid * (next_ - tick_ * grid_points()); }
    /// That instant by the producer's clock.
    [[nodiscard]] Instant due_by_clock() const {
        const Instant due_at = due();
        if (clock_error_ppb_ == 0) {
            return due_at;
        }
        constexpr std::int64_t ppb = 1'000'000'000;
        const auto since_tick = static_cast<WideInteger>((due_at - tick_at_).ns);
        return tick_at_ + Duration{static_cast<std::int64_t>(since_tick * ppb / (ppb + clock_error_ppb_))};
    }

    Shaping shaping_;

    // bucket: it would be full again at anchor_ + the time for bytes_.
    Instant anchor_ = {INT64_MIN / 2};
    Bytes bytes_;
    Instant last_ = {INT64_MIN / 2};

    // in_step: chunk `next_` is due at point next_ - tick_ x grid_points() of the tick that came at
    // tick_at_.
    bool ticking_ = false;
    std::int64_t tick_ = 0;
    Instant tick_at_;
    std::int64_t next_ = 0;
    std::int64_t clock_error_ppb_ = 0;
};

}  // namespace weir::core
