// A producer's events that wait for a grant. Which of them a grant is for depends on the plan: the oldest; in
// event building the one that the grant names; with addressed events the oldest for the grant's consumer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "core/assertion.hpp"
#include "core/event_generator.hpp"
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

class HeldEvents {
  public:
    struct Released {
        WaitingEvent event;
        ConsumerId to;
    };

    /// The plan's traffic has dependencies.
    HeldEvents(const Plan& plan, ProducerId id)
        : traffic_(plan.traffic),
          id_(id),
          interval_(plan.interval),
          first_(-(plan.warmup.ns / plan.interval.ns)),
          end_(periods_until(plan.next_set_at(), plan.interval)),
          open_from_(first_),
          inputs_(traffic_->of(id).size()) {
        WEIR_ASSERT(traffic_->has_dependencies());
        for (const TrafficPlan::Input& input : traffic_->inputs_of(id)) {
            ++inputs_[input.transfer];
            is_input_.resize(std::max<std::size_t>(is_input_.size(), input.incoming + std::size_t{1}));
            different_inputs_ += is_input_[input.incoming] ? 0U : 1U;
            is_input_[input.incoming] = true;
        }
    }

    /// Each event that was generated, in order; `lost`: it will not be sent. True: it is held here, and
    /// release() gives it back. False: it can be offered at once.
    bool hold(Instant now, const GeneratedEvent& event, bool lost) {
        const std::int64_t number = periods_until(event.generated_at, interval_);
        HeldInterval& interval = state_of(number);
        interval.to_come -= event.bytes;
        HeldTransfer& step = interval.steps.at(event.transfer);
        const bool holds = !lost && (step.missing > 0 || step.ready_at > now || step.holds());
        if (holds) {
            step.events.push_back({event.sequence, event.bytes, event.generated_at, now});
            ++interval.held;
            ++held_;
        } else {
            close_if_over(number);
        }
        return holds;
    }
    /// The worker's consumer has received this transfer of traffic.to(consumer), in this interval. False:
    /// that cannot be, and nothing was changed.
    bool input_arrived(Instant now, std::uint32_t incoming, std::int64_t interval_number) {
        // No interval but the next one can have begun by another rank's clock.
        if (incoming >= is_input_.size() || !is_input_[incoming] || !is_open(interval_number) ||
            interval_number > periods_until(now, interval_) + 1) {
            return false;
        }
        HeldInterval& interval = state_of(interval_number);
        if (interval.arrived[incoming]) {
            return false;
        }
        interval.arrived[incoming] = true;
        --interval.missing;
        for (const TrafficPlan::Input& input : traffic_->waiting_for(id_, incoming)) {
            HeldTransfer& step = interval.steps[input.transfer];
            WEIR_ASSERT(step.missing > 0);
            step.ready_at = std::max(step.ready_at, now + input.compute);
            if (--step.missing == 0) {
                ready_.push({step.ready_at, interval_number, input.transfer});
            }
        }
        close_if_over(interval_number);
        return true;
    }
    /// The next event that may be offered now; call until there is none.
    std::optional<Released> release(Instant now) {
        while (!ready_.empty() && ready_.top().at <= now) {
            const Release next = ready_.top();
            const auto found = intervals_.find(next.interval);
            if (found == intervals_.end() || !found->second || !found->second->steps[next.transfer].holds()) {
                ready_.pop();
                continue;
            }
            HeldInterval& interval = *found->second;
            HeldTransfer& step = interval.steps[next.transfer];
            const Released released{step.events[step.released++], traffic_->of(id_)[next.transfer].to};
            --interval.held;
            --held_;
            close_if_over(next.interval);
            return released;
        }
        return std::nullopt;
    }
    /// When release() has the next one, unless an input arrives before: never() if none is being computed.
    [[nodiscard]] Instant next_release() const {
        return held_ == 0 || ready_.empty() ? Instant::never() : ready_.top().at;
    }
    /// Any event that is held, at the end of the run.
    std::optional<WaitingEvent> give_up() {
        for (auto& [number, interval] : intervals_) {
            if (!interval || interval->held == 0) {
                continue;
            }
            for (HeldTransfer& step : interval->steps) {
                if (step.holds()) {
                    --interval->held;
                    --held_;
                    return step.events[step.released++];
                }
            }
        }
        return std::nullopt;
    }

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

    HeldInterval& state_of(std::int64_t number) {
        const auto [found, is_new] = intervals_.try_emplace(number);
        if (is_new) {
            HeldInterval& interval = found->second.emplace();
            interval.steps.resize(inputs_.size());
            for (std::size_t transfer = 0; transfer < inputs_.size(); ++transfer) {
                interval.steps[transfer].missing = inputs_[transfer];
            }
            interval.arrived.resize(is_input_.size());
            interval.missing = different_inputs_;
            interval.to_come = traffic_->set_bytes(id_);
        }
        return *found->second;
    }
    /// Whether events of an interval can still be, or come to be, here.
    [[nodiscard]] bool is_open(std::int64_t number) const {
        const auto found = intervals_.find(number);
        return number >= open_from_ && number < end_ && (found == intervals_.end() || found->second);
    }
    /// Intervals end in about the order in which they began.
    void close_if_over(std::int64_t number) {
        std::optional<HeldInterval>& interval = intervals_.at(number);
        if (interval->missing > 0 || interval->to_come > Bytes{} || interval->held > 0) {
            return;
        }
        interval.reset();
        while (!intervals_.empty() && intervals_.begin()->first == open_from_ &&
               !intervals_.begin()->second) {
            intervals_.erase(intervals_.begin());
            ++open_from_;
        }
    }

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
