#include "core/events_in_order.hpp"

#include <algorithm>

namespace weir::core {

void EventsInOrder::push(const WaitingEvent& event, ConsumerId /*to*/) {
    WEIR_ASSERT(events_.empty() || events_.at(events_.size() - 1).event.sequence < event.sequence);
    events_.push({event, false});
    ++waiting_;
}

std::optional<WaitingEvent> EventsInOrder::take(const Grant& /*grant*/) {
    return empty() ? std::nullopt : std::optional(pop_oldest());
}

WaitingEvent EventsInOrder::pop_oldest() {
    const WaitingEvent event = events_.pop().event;
    --waiting_;
    drop_taken();
    return event;
}

std::optional<WaitingEvent> EventsInOrder::pop(std::uint64_t sequence) {
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

void EventsInOrder::drop_taken() {
    while (!events_.empty() && events_.front().taken) {
        events_.drop();
    }
    // They have waited for long, and are wanted in this order.
    constexpr std::size_t soon = 8;
    if (events_.size() > soon) {
        __builtin_prefetch(&events_.at(soon));
    }
}

}  // namespace weir::core
