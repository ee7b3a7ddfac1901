#include "core/waiting_events.hpp"

#include "core/events_by_consumer.hpp"
#include "core/events_in_order.hpp"

namespace weir::core {

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
