// The events of a simulation in the order of their time; of equal times in the order in which they were
// put in, so that a run does not depend on how a heap breaks ties.
//
// Most events are messages and packets that are on their way for one of few times, so they come nearly
// sorted: those of the near future are appended to one of a few lines in which they are the last, and only
// what fits into none goes into the heap. Measured in bench/micro.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/assertion.hpp"
#include "core/ring_queue.hpp"
#include "core/units.hpp"

namespace weir::simulation {

/// Event: small, cheap to copy. Memory grows to the largest number of events at a time and stays.
template <typename Event>
class EventQueue {
  public:
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }

    /// Time of the next event; never() if there is none.
    [[nodiscard]] core::Instant next_time() const { return next_.at; }

    void push(core::Instant at, const Event& event) {
        const Entry entry{at, ++pushed_, event};
        ++size_;
        const std::size_t source = put(entry);
        if (size_ == 1 || at < next_.at) {
            next_ = {at, entry.number, source};
        }
    }

    /// The next event. Not on an empty queue.
    Event pop() {
        WEIR_ASSERT(size_ > 0);
        --size_;
        near_until_ = std::min(next_.at, core::Instant::never() - near) + near;
        const Event event = next_.source == heap ? pop_heap() : pop_line(next_.source);
        find_next();
        return event;
    }

  private:
    static constexpr std::size_t lines = 4;
    static constexpr std::size_t heap = lines;  ///< as a source of events
    /// An event further ahead would keep its line shut for others.
    static constexpr core::Duration near = core::Duration::milliseconds(1);

    struct Entry {
        core::Instant at;
        std::uint64_t number = 0;
        Event event;

        [[nodiscard]] bool before(const Entry& other) const {
            return at != other.at ? at < other.at : number < other.number;
        }
    };

    struct Next {
        core::Instant at = core::Instant::never();
        std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
        std::size_t source = heap;
    };
    static constexpr core::Instant before_all{std::numeric_limits<std::int64_t>::min()};

    /// Puts the entry where it is the last, after as little before it as can be. Returns where.
    std::size_t put(const Entry& entry) {
        std::size_t best = heap;
        if (entry.at < near_until_) {
            core::Instant latest = before_all;
            for (std::size_t line = 0; line < lines; ++line) {
                if (last_[line] <= entry.at && last_[line] >= latest) {
                    latest = last_[line];
                    best = line;
                }
            }
        }
        if (best == heap) {
            heap_.push_back(entry);
            std::push_heap(heap_.begin(), heap_.end(), later);
        } else {
            last_[best] = entry.at;
            lines_[best].push(entry);
        }
        return best;
    }

    void find_next() {
        next_ = {};
        if (!heap_.empty()) {
            next_ = {heap_.front().at, heap_.front().number, heap};
        }
        for (std::size_t line = 0; line < lines; ++line) {
            if (lines_[line].empty()) {
                continue;
            }
            const Entry& first = lines_[line].front();
            if (first.at < next_.at || (first.at == next_.at && first.number < next_.number)) {
                next_ = {first.at, first.number, line};
            }
        }
    }

    Event pop_line(std::size_t line) {
        const Event event = lines_[line].pop().event;
        if (lines_[line].empty()) {
            last_[line] = before_all;
        }
        return event;
    }

    static bool later(const Entry& a, const Entry& b) { return b.before(a); }

    Event pop_heap() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const Event event = heap_.back().event;
        heap_.pop_back();
        return event;
    }

    std::vector<Entry> heap_;
    static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();
    std::array<core::RingQueue<Entry>, lines> lines_{
        {core::RingQueue<Entry>(unbounded), core::RingQueue<Entry>(unbounded),
         core::RingQueue<Entry>(unbounded), core::RingQueue<Entry>(unbounded)}};
    std::array<core::Instant, lines> last_{before_all, before_all, before_all, before_all};  ///< of each line
    Next next_;
    core::Instant near_until_;  ///< an event from here on goes into the heap
    std::size_t size_ = 0;
    std::uint64_t pushed_ = 0;
};

}  // namespace weir::simulation
