// The events of a simulation in the order of their time; of equal times in the order in which they were
// put in, so that a run does not depend on how a heap breaks ties. A heap with four children per node: half
// as deep as a binary one, and the children share a cache line or two. Measured in bench/micro.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/assertion.hpp"
#include "core/units.hpp"

namespace weir::simulation {

/// Event: small, cheap to copy. Memory grows to the largest number of events at a time and stays.
template <typename Event>
class EventQueue {
  public:
    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const { return heap_.size(); }

    /// Time of the next event; never() if there is none.
    [[nodiscard]] core::Instant next_time() const {
        return heap_.empty() ? core::Instant::never() : heap_.front().at;
    }

    void push(core::Instant at, const Event& event) {
        heap_.push_back({at, ++pushed_, event});
        sift_up(heap_.size() - 1);
    }

    /// The next event. Not on an empty queue.
    Event pop() {
        WEIR_ASSERT(!heap_.empty());
        const Event event = heap_.front().event;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) {
            sift_down(last);
        }
        return event;
    }

  private:
    static constexpr std::size_t children = 4;

    struct Entry {
        core::Instant at;
        std::uint64_t number = 0;
        Event event;

        [[nodiscard]] bool before(const Entry& other) const {
            return at != other.at ? at < other.at : number < other.number;
        }
    };

    void sift_up(std::size_t place) {
        const Entry entry = heap_[place];
        while (place > 0) {
            const std::size_t parent = (place - 1) / children;
            if (!entry.before(heap_[parent])) {
                break;
            }
            heap_[place] = heap_[parent];
            place = parent;
        }
        heap_[place] = entry;
    }

    /// Puts `entry` where the top was.
    void sift_down(const Entry& entry) {
        std::size_t place = 0;
        for (;;) {
            const std::size_t first = place * children + 1;
            if (first >= heap_.size()) {
                break;
            }
            std::size_t least = first;
            for (std::size_t child = first + 1; child < first + children && child < heap_.size(); ++child) {
                if (heap_[child].before(heap_[least])) {
                    least = child;
                }
            }
            if (!heap_[least].before(entry)) {
                break;
            }
            heap_[place] = heap_[least];
            place = least;
        }
        heap_[place] = entry;
    }

    std::vector<Entry> heap_;
    std::uint64_t pushed_ = 0;
};

}  // namespace weir::simulation
