// Addressed events that wait for what their worker receives (Dependency in traffic_plan.hpp): a producer
// keeps them apart, and offers them when all inputs of their transfer are there and the time of computing
// after the last of them is over.
//
// Chosen: the worker's consumer sends its producer a message (`InputArrived`), so this works with every
// policy, without a scheduler as well, and an event is offered when it can be granted. Rejected: a scheduler
// that holds grants back, for two messages more on the way of every step, and nothing without grants.
//
// An input that never comes (its producer has dropped it) leaves what waits for it here until
// the time to drain is over; then it is lost, by name, as all that waits then. Other intervals go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "core/event_generator.hpp"
#include "core/plan.hpp"
#include "core/waiting_events.hpp"

namespace weir::core {

class HeldEvents {
  public:
    struct Released {
        WaitingEvent event;
        ConsumerId to;
    };

    /// The plan's traffic has dependencies.
    HeldEvents(const Plan& plan, ProducerId id);

    /// Each event that was generated, in order; `lost`: it will not be sent. True: it is held here, and
    /// release() gives it back. False: it can be offered at once.
    bool hold(Instant now, const GeneratedEvent& event, bool lost);
    /// The worker's consumer has received this transfer of traffic.to(consumer), in this interval. False:
    /// that cannot be, and nothing was changed.
    bool input_arrived(Instant now, std::uint32_t incoming, std::int64_t interval);
    /// The next event that may be offered now; call until there is none.
    std::optional<Released> release(Instant now);
    /// When release() has the next one, unless an input arrives before: never() if none is being computed.
    [[nodiscard]] Instant next_release() const;
    /// Any event that is held, at the end of the run.
    std::optional<WaitingEvent> give_up();

    [[nodiscard]] std::size_t size() const { return held_; }

  private:
    /// A transfer of this producer in one interval.
    struct HeldTransfer {
        std::uint32_t missing = 0;                                   ///< inputs
        Instant ready_at{std::numeric_limits<std::int64_t>::min()};  ///< as far as inputs are there
        std::vector<WaitingEvent> events{};
        std::size_t released = 0;  ///< of these events
        [[nodiscard]] bool holds() const { return released < events.size(); }
    };
    struct HeldInterval {
        std::vector<HeldTransfer> steps;  ///< by transfer
        std::vector<bool> arrived;
        std::uint32_t missing = 0;  ///< inputs
        Bytes to_come;              ///< not generated yet
        std::size_t held = 0;
    };
    struct Release {
        Instant at;
        std::int64_t interval = 0;
        std::uint32_t transfer = 0;
        auto operator<=>(const Release&) const = default;
    };

    HeldInterval& state_of(std::int64_t number);
    /// Whether events of an interval can still be, or come to be, here.
    [[nodiscard]] bool is_open(std::int64_t number) const;
    void close_if_over(std::int64_t number);

    std::shared_ptr<const TrafficPlan> traffic_;
    ProducerId id_;
    Duration interval_;
    std::int64_t first_;                                             ///< of the run
    std::int64_t end_;                                               ///< behind the last one
    std::int64_t open_from_;                                         ///< all before are over
    std::vector<std::uint32_t> inputs_;                              ///< by transfer: how many
    std::vector<bool> is_input_;                                     ///< by incoming transfer of the worker
    std::uint32_t different_inputs_ = 0;                             ///< incoming transfers that are one
    std::map<std::int64_t, std::optional<HeldInterval>> intervals_;  ///< nothing: over
    std::priority_queue<Release, std::vector<Release>, std::greater<>> ready_;
    std::size_t held_ = 0;
};

}  // namespace weir::core
