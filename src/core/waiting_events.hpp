// A producer's events that wait for a grant. Which of them a grant is for depends on the plan: the oldest; in
// event building the one that the grant names; with addressed events the oldest for the grant's consumer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/ids.hpp"
#include "core/messages.hpp"
#include "core/plan.hpp"
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
    WaitingEvents() = default;
    WaitingEvents(const WaitingEvents&) = delete;
    WaitingEvents& operator=(const WaitingEvents&) = delete;
    virtual ~WaitingEvents() = default;

    [[nodiscard]] virtual bool empty() const = 0;
    [[nodiscard]] virtual bool full() const = 0;
    [[nodiscard]] virtual std::size_t size() const = 0;

    /// Appends; sequence numbers grow, with gaps for events that were lost. Not when full. `to` has a
    /// meaning for addressed events only.
    virtual void push(const WaitingEvent& event, ConsumerId to) = 0;
    /// The event that the grant is for; nothing if it does not wait.
    virtual std::optional<WaitingEvent> take(const Grant& grant) = 0;
    /// The event that was generated first. Not when empty. With addressed events
    /// O(consumers).
    virtual WaitingEvent pop_oldest() = 0;
    /// Addressed events: bit c is set if one waits for consumer c. Else empty.
    [[nodiscard]] virtual std::span<const std::uint64_t> addressees() const { return {}; }
};

/// For the events of a producer; holds at most `bound`, those counted that were taken behind one that still
/// waits.
std::unique_ptr<WaitingEvents> make_waiting_events(const Plan& plan, std::size_t bound);

}  // namespace weir::core
