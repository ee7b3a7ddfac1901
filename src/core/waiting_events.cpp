#include "core/waiting_events.hpp"

#include <unordered_map>

#include "core/bits.hpp"

namespace weir::core {

namespace {

/// In the order of generation, taken from the front or by number; a grant is for the oldest event. Rejected:
/// a map by number; taking out of order is rare and near the front, so a ring with marks does the same
/// without allocating.
class EventsInOrder : public WaitingEvents {
  public:
    explicit EventsInOrder(std::size_t bound) : events_(bound) {}

    [[nodiscard]] bool empty() const override { return waiting_ == 0; }
    [[nodiscard]] bool full() const override { return events_.full(); }
    [[nodiscard]] std::size_t size() const override { return waiting_; }
    void push(const WaitingEvent& event, ConsumerId /*to*/) override {
        WEIR_ASSERT(events_.empty() || events_.at(events_.size() - 1).event.sequence < event.sequence);
        events_.push({event, false});
        ++waiting_;
    }
    std::optional<WaitingEvent> take(const Grant& /*grant*/) override {
        return empty() ? std::nullopt : std::optional(pop_oldest());
    }
    WaitingEvent pop_oldest() override {
        const WaitingEvent event = events_.pop().event;
        --waiting_;
        drop_taken();
        return event;
    }

  protected:
    /// The event of this number, if it waits. O(log n).
    std::optional<WaitingEvent> pop(std::uint64_t sequence) {
        if (events_.empty() || sequence < events_.front().event.sequence) {
            return std::nullopt;
        }
        // Nothing lost in between, which is the rule: it is as far behind the front as its number is.
        const auto furthest = static_cast<std::size_t>(
            std::min<std::uint64_t>(sequence - events_.front().event.sequence, events_.size() - 1));
        std::size_t low = events_.at(furthest).event.sequence == sequence ? furthest : 0;
        std::size_t high = furthest + 1;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (events_.at(middle).event.sequence < sequence) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low == events_.size() || events_.at(low).event.sequence != sequence || events_.at(low).taken) {
            return std::nullopt;
        }
        Entry& entry = events_.at(low);
        entry.taken = true;
        const WaitingEvent event = entry.event;
        --waiting_;
        drop_taken();
        return event;
    }

  private:
    struct Entry {
        WaitingEvent event;
        bool taken = false;
    };
    void drop_taken() {
        while (!events_.empty() && events_.front().taken) {
            events_.drop();
        }
        // They have waited for long, and are wanted in this order.
        constexpr std::size_t soon = 8;
        if (events_.size() > soon) {
            __builtin_prefetch(&events_.at(soon));
        }
    }

    RingQueue<Entry> events_;  ///< the front is not taken
    std::size_t waiting_ = 0;
};

/// Pattern `build`: a grant names the event.
class EventsByNumber final : public EventsInOrder {
  public:
    using EventsInOrder::EventsInOrder;
    std::optional<WaitingEvent> take(const Grant& grant) override { return pop(grant.number); }
};

/// Addressed events: a queue for each consumer, in one pool. Chosen: lists linked by indices, so
/// that memory follows the number of events that wait and not the number of consumers times the longest
/// queue.
class EventsByConsumer final : public WaitingEvents {
  public:
    EventsByConsumer(std::uint32_t consumers, std::size_t bound)
        : bound_(std::min<std::size_t>(bound, none)),
          consumers_(consumers),
          addressees_(words_for(consumers)) {}

    [[nodiscard]] bool empty() const override { return waiting_ == 0; }
    [[nodiscard]] bool full() const override { return waiting_ == bound_; }
    [[nodiscard]] std::size_t size() const override { return waiting_; }
    void push(const WaitingEvent& event, ConsumerId to) override {
        WEIR_ASSERT(!full() && to.value < consumers_);
        std::uint32_t index = unused_;
        if (index == none) {
            index = static_cast<std::uint32_t>(entries_.size());
            entries_.emplace_back();
        } else {
            unused_ = entries_[index].next;
        }
        entries_[index] = {event, none};
        Queue& queue = queues_[to.value];
        if (queue.first == none) {
            queue.first = index;
            set_bit(addressees_, to.value);
        } else {
            entries_[queue.last].next = index;
        }
        queue.last = index;
        ++waiting_;
    }
    /// The oldest for the grant's consumer.
    std::optional<WaitingEvent> take(const Grant& grant) override {
        return has_bit(addressees_, grant.consumer.value) ? std::optional(pop(grant.consumer.value))
                                                          : std::nullopt;
    }
    WaitingEvent pop_oldest() override {
        WEIR_ASSERT(waiting_ > 0);
        std::optional<std::uint32_t> oldest;
        const auto sequence_of = [&](std::uint32_t consumer) {
            return entries_[queues_.at(consumer).first].event.sequence;
        };
        for_each_in_both(addressees_, addressees_, [&](std::uint32_t consumer) {
            if (!oldest || sequence_of(consumer) < sequence_of(*oldest)) {
                oldest = consumer;
            }
        });
        return pop(*oldest);
    }
    [[nodiscard]] std::span<const std::uint64_t> addressees() const override { return addressees_; }

  private:
    static constexpr std::uint32_t none = 0xffffffffU;
    struct Entry {
        WaitingEvent event;
        std::uint32_t next = none;  ///< of its queue; of an unused entry: the next unused one
    };
    struct Queue {
        std::uint32_t first = none;
        std::uint32_t last = none;
    };
    WaitingEvent pop(std::uint32_t consumer) {
        Queue& queue = queues_.at(consumer);
        const std::uint32_t index = queue.first;
        queue.first = entries_[index].next;
        if (queue.first == none) {
            queues_.erase(consumer);
            clear_bit(addressees_, consumer);
        }
        entries_[index].next = unused_;
        unused_ = index;
        --waiting_;
        return entries_[index].event;
    }

    std::size_t bound_;
    std::vector<Entry> entries_;
    std::uint32_t unused_ = none;
    std::uint32_t consumers_;
    std::unordered_map<std::uint32_t, Queue> queues_;  ///< by consumer, of those for which events wait
    std::vector<std::uint64_t> addressees_;
    std::size_t waiting_ = 0;
};

}  // namespace

std::unique_ptr<WaitingEvents> make_waiting_events(const Plan& plan, std::size_t bound) {
    if (plan.addressed()) {
        return std::make_unique<EventsByConsumer>(plan.consumers, bound);
    }
    if (plan.builds()) {
        return std::make_unique<EventsByNumber>(bound);
    }
    return std::make_unique<EventsInOrder>(bound);
}

}  // namespace weir::core
