// A producer's events that wait for a grant, in the order of generation. Taken from the front (pattern
// `distribute`: a grant is for the oldest) or by number (pattern `build`: a grant names the event, and
// with `pull` or another order than that of assignment grants do not come in order). Rejected: a map by
// number; taking out of order is rare and near the front, so a ring with marks does the same without
// allocating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/ring_queue.hpp"
#include "core/units.hpp"

namespace weir::core {

struct WaitingEvent {
    std::uint64_t sequence = 0;
    Bytes bytes;
    Instant generated_at;
    Instant offered_at;
};

class WaitingEvents {
  public:
    /// Holds at most `bound` events, those counted that were taken behind one that still waits.
    explicit WaitingEvents(std::size_t bound) : events_(bound) {}

    [[nodiscard]] bool empty() const { return waiting_ == 0; }
    [[nodiscard]] bool full() const { return events_.full(); }
    [[nodiscard]] std::size_t size() const { return waiting_; }

    /// Appends; sequence numbers grow, with gaps for events that were lost. Not when full.
    void push(const WaitingEvent& event);
    /// Not when empty.
    WaitingEvent pop_oldest();
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

}  // namespace weir::core
