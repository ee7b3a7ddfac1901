#include "core/events_by_consumer.hpp"

#include <algorithm>

#include "core/assertion.hpp"
#include "core/bits.hpp"

namespace weir::core {

EventsByConsumer::EventsByConsumer(std::uint32_t consumers, std::size_t bound)
    : bound_(std::min<std::size_t>(bound, none)), queues_(consumers), addressees_(words_for(consumers)) {}

void EventsByConsumer::push(const WaitingEvent& event, ConsumerId to) {
    WEIR_ASSERT(!full() && to.value < queues_.size());
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

WaitingEvent EventsByConsumer::pop(std::uint32_t consumer) {
    Queue& queue = queues_[consumer];
    const std::uint32_t index = queue.first;
    WEIR_ASSERT(index != none);
    queue.first = entries_[index].next;
    if (queue.first == none) {
        clear_bit(addressees_, consumer);
    }
    entries_[index].next = unused_;
    unused_ = index;
    --waiting_;
    return entries_[index].event;
}

std::optional<WaitingEvent> EventsByConsumer::take(const Grant& grant) {
    return has_bit(addressees_, grant.consumer.value) ? std::optional(pop(grant.consumer.value))
                                                      : std::nullopt;
}

WaitingEvent EventsByConsumer::pop_oldest() {
    WEIR_ASSERT(waiting_ > 0);
    std::optional<std::uint32_t> oldest;
    const auto sequence_of = [&](std::uint32_t consumer) {
        return entries_[queues_[consumer].first].event.sequence;
    };
    for_each_in_both(addressees_, addressees_, [&](std::uint32_t consumer) {
        if (!oldest || sequence_of(consumer) < sequence_of(*oldest)) {
            oldest = consumer;
        }
    });
    return pop(*oldest);
}

}  // namespace weir::core
