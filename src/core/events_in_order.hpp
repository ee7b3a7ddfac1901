// Waiting events in the order of generation, taken from the front or by number. Rejected: a map by number;
// taking out of order is rare and near the front, so a ring with marks does the same without allocating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/ring_queue.hpp"
#include "core/waiting_events.hpp"

namespace weir::core {

/// A grant is for the oldest event.
class EventsInOrder : public WaitingEvents {
  public:
    explicit EventsInOrder(std::size_t bound) : events_(bound) {}

    [[nodiscard]] bool empty() const override { return waiting_ == 0; }
    [[nodiscard]] bool full() const override { return events_.full(); }
    [[nodiscard]] std::size_t size() const override { return waiting_; }
    void push(const WaitingEvent& event, ConsumerId to) override;
    std::optional<WaitingEvent> take(const Grant& grant) override;
    WaitingEvent pop_oldest() override;

  protected:
    /// The event of this number, if it waits. O(log n).
    std::optional<WaitingEvent> pop(std::uint64_t sequence);

  private:
    struct Entry {
        WaitingEvent event;
        bool taken = false;
    };
    void drop_taken();

    RingQueue<Entry> events_;  ///< the front is not taken
    std::size_t waiting_ = 0;
};

/// Pattern `build`: a grant names the event.
class EventsByNumber final : public EventsInOrder {
  public:
    using EventsInOrder::EventsInOrder;
    std::optional<WaitingEvent> take(const Grant& grant) override { return pop(grant.number); }
};

}  // namespace weir::core
