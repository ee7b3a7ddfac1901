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
    [[nodiscard]] core::Instant next_time() const { return heads_[next_].at; }

    void push(core::Instant at, Event event) {
        const Place place{at, ++pushed_};
        ++size_;
        const std::size_t source = source_for(at);
        if (source == heap) {
            heap_.push_back({place, event});
            std::push_heap(heap_.begin(), heap_.end(), later);
            heads_[heap] = heap_.front().place;
        } else {
            if (lines_[source].empty()) {
                heads_[source] = place;
            }
            Entry& entry = lines_[source].append();
            entry.place = place;
            entry.event = event;
            last_[source] = at;
        }
        if (heads_[source].before(heads_[next_])) {
            next_ = source;
        }
    }

    /// The next event. Not on an empty queue.
    Event pop() {
        WEIR_ASSERT(size_ > 0);
        --size_;
        near_until_ = std::min(heads_[next_].at, core::Instant::never() - near) + near;
        const Event event = next_ == heap ? pop_heap() : pop_line(next_);
        find_next();
        return event;
    }

  private:
    static constexpr std::size_t lines = 4;
    static constexpr std::size_t heap = lines;  ///< as a source of events
    /// An event further ahead would keep its line shut for others.
    static constexpr core::Duration near = core::Duration::milliseconds(1);

    /// In the order of all events.
    struct Place {
        core::Instant at;
        std::uint64_t number = 0;

        [[nodiscard]] bool before(const Place& other) const {
            return at < other.at || (at == other.at && number < other.number);
        }
    };
    struct Entry {
        Place place;
        Event event;
    };
    static constexpr core::Instant before_all{std::numeric_limits<std::int64_t>::min()};
    static constexpr Place nothing{core::Instant::never(), std::numeric_limits<std::uint64_t>::max()};

    /// Where an event is the last, after as little before it as can be.
    std::size_t source_for(core::Instant at) const {
        if (at >= near_until_) {
            return heap;
        }
        if (last_[newest_] <= at) {
            return newest_;
        }
        std::size_t best = heap;
        core::Instant latest = before_all;
        for (std::size_t line = 0; line < lines; ++line) {
            if (last_[line] <= at && last_[line] >= latest) {
                latest = last_[line];
                best = line;
            }
        }
        return best;
    }

    void find_next() {
        std::size_t next = heap;
        for (std::size_t line = 0; line < lines; ++line) {
            if (heads_[line].before(heads_[next])) {
                next = line;
            }
        }
        next_ = next;
    }

    Event pop_line(std::size_t line) {
        const Event event = lines_[line].pop().event;
        if (lines_[line].empty()) {
            heads_[line] = nothing;
            last_[line] = before_all;
            newest_ = static_cast<std::size_t>(std::max_element(last_.begin(), last_.end()) - last_.begin());
        } else {
            heads_[line] = lines_[line].front().place;
        }
        return event;
    }

    static bool later(const Entry& a, const Entry& b) { return b.place.before(a.place); }

    Event pop_heap() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const Event event = heap_.back().event;
        heap_.pop_back();
        heads_[heap] = heap_.empty() ? nothing : heap_.front().place;
        return event;
    }

    std::vector<Entry> heap_;
    static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();
    std::array<core::RingQueue<Entry>, lines> lines_{
        {core::RingQueue<Entry>(unbounded), core::RingQueue<Entry>(unbounded),
         core::RingQueue<Entry>(unbounded), core::RingQueue<Entry>(unbounded)}};
    std::array<core::Instant, lines> last_{before_all, before_all, before_all, before_all};  ///< of each line
    std::size_t newest_ = 0;  ///< the line with the latest of them
    std::array<Place, lines + 1> heads_{nothing, nothing, nothing, nothing, nothing};  ///< of each source
    std::size_t next_ = heap;   ///< the source with the first of them
    core::Instant near_until_;  ///< an event from here on goes into the heap
    std::size_t size_ = 0;
    std::uint64_t pushed_ = 0;
};

}  // namespace weir::simulation
