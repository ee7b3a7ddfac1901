// The events of the packet model in the order of their time; of equal times in the order in which they were
// put in: without that, a PAUSE and the RESUME behind it may swap, and a lossless switch drops.
//
// Nearly all events are "a constant time from now" with one of a few constants (a full packet on one of two
// link speeds, the delay of a cable), so each is put behind the latest event that is not later than it: a few
// sorted lines, whose heads are compared. What fits nowhere goes into a heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/assertion.hpp"
#include "core/ring_queue.hpp"
#include "packet/picoseconds.hpp"

namespace weir::packet {

/// Event: trivially copyable. Memory grows to the largest number of events at a time and stays.
template <typename Event>
class EventLines {
  public:
    [[nodiscard]] bool empty() const { return next_.source == none; }
    /// Of the next event; never() if there is none.
    [[nodiscard]] Picoseconds next_time() const { return next_.at; }

    void push(Picoseconds at, Event event) {
        const Entry entry{at, ++pushed_, event};
        const std::size_t source = line_for(at);
        if (source == heap) {
            heap_.push_back(entry);
            std::push_heap(heap_.begin(), heap_.end(), later);
        } else {
            last_[source] = at;
            if (lines_[source].empty()) {
                heads_[source] = {at, entry.number};
            }
            lines_[source].push(entry);
        }
        if (at < next_.at || next_.source == none) {
            next_ = {at, source};
        }
    }

    /// Removes the next event. Not on an empty queue.
    Event pop() {
        WEIR_ASSERT(next_.source != none);
        const std::size_t source = next_.source;
        Event event;
        if (source == heap) {
            event = heap_.front().event;
            std::pop_heap(heap_.begin(), heap_.end(), later);
            heap_.pop_back();
        } else {
            event = lines_[source].pop().event;
            if (lines_[source].empty()) {
                heads_[source] = {};
                last_[source] = before_all;
            } else {
                heads_[source] = {lines_[source].front().at, lines_[source].front().number};
            }
        }
        find_next();
        return event;
    }

  private:
    static constexpr std::size_t line_count = 8;
    static constexpr std::size_t heap = line_count;
    static constexpr std::size_t none = line_count + 1;
    static constexpr Picoseconds before_all{std::numeric_limits<std::int64_t>::min()};
    /// An event further ahead than this would keep its line closed to others.
    static constexpr Picoseconds near = Picoseconds::nanoseconds(5000);

    struct Entry {
        Picoseconds at;
        std::uint64_t number = 0;
        Event event{};
    };
    struct Head {
        Picoseconds at = Picoseconds::never();
        std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
    };
    struct Next {
        Picoseconds at = Picoseconds::never();
        std::size_t source = none;
    };

    static bool later(const Entry& a, const Entry& b) {
        return a.at != b.at ? a.at > b.at : a.number > b.number;
    }

    /// The line whose last event is the latest one not after `at`.
    [[nodiscard]] std::size_t line_for(Picoseconds at) const {
        if (next_.source != none && at > next_.at + near) {
            return heap;
        }
        std::size_t best = heap;
        Picoseconds latest = before_all;
        for (std::size_t line = 0; line < line_count; ++line) {
            if (last_[line] <= at && last_[line] >= latest) {
                latest = last_[line];
                best = line;
            }
        }
        return best;
    }

    void find_next() {
        Head best = heap_.empty() ? Head{} : Head{heap_.front().at, heap_.front().number};
        std::size_t source = heap_.empty() ? none : heap;
        for (std::size_t line = 0; line < line_count; ++line) {
            const Head& head = heads_[line];
            if (head.at < best.at || (head.at == best.at && head.number < best.number)) {
                best = head;
                source = line;
            }
        }
        next_ = {best.at, source};
    }

    std::array<core::RingQueue<Entry>, line_count> lines_{};
    std::array<Head, line_count> heads_{};
    std::array<Picoseconds, line_count> last_ = [] {
        std::array<Picoseconds, line_count> all{};
        all.fill(before_all);
        return all;
    }();
    std::vector<Entry> heap_;
    Next next_;
    std::uint64_t pushed_ = 0;
};

}  // namespace weir::packet
