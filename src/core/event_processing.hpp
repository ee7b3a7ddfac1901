// A consumer's work on whole events: one after the other in the order in which they arrived, each for a time
// that is drawn when it begins. Times are back to back: a rank that finds late that one is over does not
// make the next one longer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/distribution.hpp"
#include "core/ids.hpp"
#include "core/ring_queue.hpp"
#include "core/units.hpp"

namespace weir::core {

class EventProcessing {
  public:
    EventProcessing(Sampler time, std::uint32_t slots) : time_(std::move(time)), queue_(slots) {}

    /// From now on each event takes `factor` times as long.
    void slow_down(double factor) { factor_ = factor; }
    /// The event in this slot is the next after those that wait; begins at once if there are none.
    void add(Instant now, SlotId slot) {
        queue_.push(slot);
        if (queue_.size() == 1) {
            begin(now);
        }
    }

    /// Drops what is in work and what waits.
    void clear() {
        while (!queue_.empty()) {
            queue_.pop();
        }
        until_ = Instant::never();
    }

    [[nodiscard]] bool busy() const { return !queue_.empty(); }
    /// When the event in work is processed; never() if there is none.
    [[nodiscard]] Instant until() const { return until_; }
    struct Processed {
        SlotId slot;
        Duration time;
    };
    /// The event that is processed by now; begins the next one.
    std::optional<Processed> next_processed(Instant now) {
        if (until_ > now) {
            return std::nullopt;
        }
        const Processed processed{queue_.pop(), current_};
        if (queue_.empty()) {
            until_ = Instant::never();
        } else {
            begin(until_);
        }
        return processed;
    }

  private:
    void begin(Instant from) {
        current_ = {time_.next()};
        if (factor_ != 1) {
            const double longest = 4e18;  // ns; far beyond any run, and still an integer
            current_ = {
                static_cast<std::int64_t>(std::min(static_cast<double>(current_.ns) * factor_, longest))};
        }
        until_ = from + current_;
    }

    Sampler time_;
    double factor_ = 1;
    RingQueue<SlotId> queue_;  ///< the one in work first
    Instant until_ = Instant::never();
    Duration current_;
};

}  // namespace weir::core
