// Finds late sets from what the network and the producers do, event by event, to be compared with what the
// producers' recorders report (record/set_deadlines.hpp). Written from the definition: an event is late if
// something of it is still with its producer one interval after it was generated; a set is late if one of its
// events is.
//
// Chosen: all events that are not gone yet in the order of their generation, by producer, and a set of late
// sets, which take memory but lose nothing. For simulations only.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "core/ring_queue.hpp"
#include "core/units.hpp"

namespace weir::simulation {

class SetOracle {
  public:
    explicit SetOracle(const core::Plan& plan)
        : has_deadlines_(plan.generation != core::Generation::saturate),
          interval_(plan.interval),
          end_{plan.duration.ns},
          producers_(plan.producers) {}

    /// For each producer in the order of its events' numbers.
    void generated(core::EventId event, core::Bytes bytes, core::Instant generated_at) {
        if (!has_deadlines_) {
            return;
        }
        ProducerEvents& producer = producers_[event.producer().value];
        if (producer.events.empty()) {
            producer.first = event.sequence();
        }
        WEIR_ASSERT(event.sequence() == producer.first + producer.events.size());
        if (generated_at >= core::Instant{} && generated_at < end_) {
            producer.events.push({bytes, generated_at + interval_});
            const std::int64_t set = generated_at.ns / interval_.ns;
            sets_ += set != producer.newest_set ? 1 : 0;
            producer.newest_set = set;
        } else if (!producer.events.empty()) {
            producer.events.push({});
        }
    }
    /// core::Bytes of an event have left its producer, which does not keep them.
    void left(core::Instant now, core::EventId event, core::Bytes bytes) {
        Event* const found = find(event);
        if (found != nullptr && (found->left -= bytes) == core::Bytes{}) {
            released(now, event);
        }
    }
    /// The producer keeps nothing of it any more.
    void released(core::Instant now, core::EventId event) {
        const Event* const found = find(event);
        if (found == nullptr) {
            return;
        }
        if (now > found->deadline) {
            late_.emplace(event.producer().value, (found->deadline - interval_).ns / interval_.ns);
        }
        forget(event);
    }
    void dropped(core::EventId event) { forget(event); }
    void left_over(core::EventId event) { released(core::Instant::never(), event); }

    /// Sets of all producers, generated in [0, duration). Right when all events are gone or lost.
    [[nodiscard]] std::uint64_t sets() const { return sets_; }
    [[nodiscard]] std::uint64_t late_sets() const { return late_.size(); }

  private:
    using SetName = std::pair<std::uint32_t, std::int64_t>;  ///< producer, number
    struct Event {
        core::Bytes left;
        core::Instant deadline = core::Instant::never();  ///< never: it is gone, or has none
    };
    struct ProducerEvents {
        core::RingQueue<Event> events{};  ///< from `first` on; the oldest is not gone
        std::uint64_t first = 0;          ///< sequence number
        std::int64_t newest_set = std::numeric_limits<std::int64_t>::min();
    };

    /// nullptr: it is gone, or has no deadline.
    Event* find(core::EventId event) {
        ProducerEvents& producer = producers_[event.producer().value];
        const std::uint64_t position = event.sequence() - producer.first;  // of those before: beyond all
        if (position >= producer.events.size()) {
            return nullptr;
        }
        Event& found = producer.events.at(position);
        return found.deadline == core::Instant::never() ? nullptr : &found;
    }
    void forget(core::EventId event) {
        Event* const found = find(event);
        if (found == nullptr) {
            return;
        }
        found->deadline = core::Instant::never();
        ProducerEvents& producer = producers_[event.producer().value];
        while (!producer.events.empty() && producer.events.front().deadline == core::Instant::never()) {
            producer.events.pop();
            ++producer.first;
        }
    }

    bool has_deadlines_;
    core::Duration interval_;
    core::Instant end_;
    std::vector<ProducerEvents> producers_;
    std::uint64_t sets_ = 0;
    std::set<SetName> late_;
};

}  // namespace weir::simulation
