// With --on-failure continue: what a producer has sent and the scheduler did not confirm, and what it
// took back from a consumer that was lost. The scheduler lets a producer have no more than `streams` events
// granted and not done, so both lists are short and are searched from end to end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/ids.hpp"
#include "core/waiting_events.hpp"

namespace weir::core {

/// A delivery that was broken off: the event is granted again, or is lost if the time to drain is over.
struct BrokenDelivery {
    EventId event;
    ConsumerId consumer;    ///< that was lost
    bool doubtful = false;  ///< all of the event was sent: the consumer may have received and processed it
};

class UnconfirmedEvents {
  public:
    struct SentEvent {
        WaitingEvent event;
        ConsumerId consumer;
    };

    [[nodiscard]] bool any_sent() const { return !sent_.empty(); }
    [[nodiscard]] bool any_returned() const { return !returned_.empty(); }
    [[nodiscard]] std::size_t returned() const { return returned_.size(); }

    /// All of the event has left for this consumer.
    void add_sent(const WaitingEvent& event, ConsumerId consumer) { sent_.push_back({event, consumer}); }
    /// The event is done. Nothing: it was not sent, or was taken back since.
    std::optional<WaitingEvent> confirm(std::uint64_t sequence) {
        const auto found = std::find_if(sent_.begin(), sent_.end(), [&](const SentEvent& sent) {
            return sent.event.sequence == sequence;
        });
        if (found == sent_.end()) {
            return std::nullopt;
        }
        const WaitingEvent event = found->event;
        sent_.erase(found);
        return event;
    }
    /// An event that was sent to this consumer; nothing if there is none. It is sent no more.
    std::optional<WaitingEvent> take_from(ConsumerId consumer) {
        const auto found = std::find_if(sent_.begin(), sent_.end(),
                                        [&](const SentEvent& sent) { return sent.consumer == consumer; });
        if (found == sent_.end()) {
            return std::nullopt;
        }
        const WaitingEvent event = found->event;
        sent_.erase(found);
        return event;
    }
    /// Any event that was sent, with its consumer.
    std::optional<SentEvent> take_any() {
        if (sent_.empty()) {
            return std::nullopt;
        }
        const SentEvent sent = sent_.back();
        sent_.pop_back();
        return sent;
    }

    /// The event is to be sent again, before all that wait for the first time.
    void put_back(const WaitingEvent& event) {
        const auto later = [](const WaitingEvent& a, const WaitingEvent& b) {
            return a.sequence > b.sequence;
        };
        returned_.insert(std::upper_bound(returned_.begin(), returned_.end(), event, later), event);
    }
    /// The oldest that is to be sent again. Not without any.
    WaitingEvent pop_returned() {
        const WaitingEvent event = returned_.back();
        returned_.pop_back();
        return event;
    }

  private:
    std::vector<SentEvent> sent_;
    std::vector<WaitingEvent> returned_;  ///< the oldest last
};

}  // namespace weir::core
